"""The hierarchy as a person uses it: by mouse and keyboard, with a search, as a file, and on a phone."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from leanrag_core.storage.layout import write_index
from tests.browser.conftest import Server, Watched
from tests.browser.runs import becomes, excess_width
from tests.browser.test_story import settled, snap
from tests.large_index import large_index, name_of

pytestmark = pytest.mark.browser

SIZE = 2_400
COUNTED = """(layer) => [...document.querySelectorAll(`.lr-blocks .block[data-layer="${layer}"]`)]
  .reduce((sum, block) => sum + Number(block.dataset.nodes), 0)"""


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a home with one index: 2,400 entities in 120 clusters in 6, and a root."""
    folder = tmp_path_factory.mktemp("hierarchy")
    out = folder / "indexes" / "large"
    out.mkdir(parents=True)
    write_index(out, large_index(SIZE))
    return folder


def block(page: Page, id_: str) -> Locator:
    return page.locator(f'.lr-blocks .block[data-id="{id_}"]')


def inspected(page: Page) -> Locator:
    return page.locator(".st-key-inspector").get_by_role("heading", level=2).first


def test_blocks_are_chosen_opened_searched_and_saved(
    server_in: Callable[..., Server], watch: Callable[..., Watched], home: Path, tmp_path: Path
) -> None:
    server, watched = server_in(home), watch()
    page = watched.page
    page.goto(f"{server.url}/explore")
    settled(page)
    # Named and folded blocks add up to each layer.
    becomes(page, lambda: [page.evaluate(COUNTED, layer) for layer in (3, 2, 1, 0)], [1, 6, 120, SIZE])

    # The mouse: a click chooses, a click on what is chosen opens.
    block(page, "ent-2-2").click()
    expect(block(page, "ent-2-2")).to_have_attribute("aria-selected", "true")
    expect(inspected(page)).to_have_text(name_of(2, 2))
    expect(page).to_have_url(re.compile("node=ent-2-2"))
    expect(block(page, "ent-3-0")).to_be_visible()
    settled(page)
    block(page, "ent-2-2").click()
    expect(page).to_have_url(re.compile("focus=ent-2-2"))
    expect(page.locator(".lr-blocks .block").first).to_have_attribute("data-id", "ent-2-2")
    becomes(page, lambda: page.evaluate(COUNTED, 0), SIZE / 6)
    settled(page)

    # The keyboard: arrows move, Enter opens, Backspace goes up.
    block(page, "ent-2-2").focus()
    page.keyboard.press("ArrowRight")
    opened = page.locator(".lr-blocks .block:focus")
    expect(opened).to_have_attribute("data-layer", "1")
    page.keyboard.press("ArrowUp")
    expect(opened).to_have_attribute("data-layer", "1")
    id_ = str(opened.get_attribute("data-id"))
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile(f"focus={id_}"))
    expect(page.locator(".lr-blocks .crumbs")).to_contain_text(name_of(2, 2))
    settled(page)
    page.locator(".lr-blocks .block").first.focus()
    page.keyboard.press("Backspace")
    expect(page).to_have_url(re.compile("focus=ent-2-2"))
    settled(page)
    page.locator(".lr-blocks .crumbs button").first.click()
    expect(page).to_have_url(re.compile("focus=ent-3-0"))
    settled(page)

    # A double click opens as well, and its second click leads nowhere else, also where the first one opens already.
    for _ in range(2):
        block(page, "ent-2-2").dblclick()
        expect(page).to_have_url(re.compile("focus=ent-2-2"))
        settled(page)
        expect(page.locator(".lr-blocks .block").first).to_have_attribute("data-id", "ent-2-2")
        page.locator(".lr-blocks .crumbs button").first.click()
        expect(page).to_have_url(re.compile("focus=ent-3-0"))
        settled(page)

    # A search lights its matches in the same picture; Enter opens the marked one.
    wanted = name_of(0, 1234)
    page.get_by_role("combobox", name="Find").press_sequentially(wanted[:-1])
    expect(page.get_by_role("option").first).to_be_visible()
    page.get_by_role("combobox", name="Find").press_sequentially(wanted[-1])
    expect(block(page, "ent-0-4d2")).to_have_class(re.compile("lit"))
    expect(block(page, "ent-3-0")).to_be_visible()
    snap(page, "hierarchy_search")
    page.keyboard.press("Enter")
    expect(inspected(page)).to_have_text(wanted)
    expect(block(page, "ent-0-4d2")).to_have_attribute("aria-selected", "true")
    settled(page)

    # Files are made in the browser; the page of the picture asks nobody.
    with page.expect_download() as picture:
        page.get_by_role("button", name="Save as a PNG picture").click()
    assert picture.value.path().read_bytes().startswith(b"\x89PNG")
    with page.expect_download() as written:
        page.get_by_role("button", name="Save as one HTML file").click()
    watched.assert_clean()
    saved = tmp_path / "hierarchy.html"
    written.value.save_as(saved)
    alone, asked = watch(), []
    alone.page.on("request", lambda request: asked.append(request.url))
    alone.page.goto(saved.as_uri())
    expect(alone.page.locator("svg")).to_contain_text(wanted)
    assert [url for url in asked if not url.startswith(("file:", "data:"))] == []

    page.get_by_role("button", name="Show as table").click()
    expect(page.get_by_test_id("stDataFrame").first).to_be_visible()
    page.get_by_role("button", name="Show as picture").click()
    expect(block(page, "ent-3-0")).to_be_visible()
    watched.assert_clean()


def test_a_phone_shows_every_shape_and_filters(
    server_in: Callable[..., Server], watch: Callable[..., Watched], home: Path
) -> None:
    server, watched = server_in(home), watch(390, 844)
    page = watched.page
    page.goto(f"{server.url}/explore")
    settled(page)
    picture = page.locator(".lr-blocks svg").first
    for shape in ("Treemap", "Sunburst", "Icicle"):
        page.get_by_role("radio", name=shape).click()
        expect(page.locator(f".lr-blocks svg.{shape.lower()}")).to_be_visible()
        settled(page)
        becomes(page, lambda: excess_width(page) <= 0, True)
        becomes(page, lambda: picture.evaluate("picture => picture.getBoundingClientRect().width <= innerWidth"), True)
    pills = page.locator(".st-key-filters button")
    becomes(page, lambda: len(set(pills.evaluate_all("all => all.slice(0, 3).map(each => each.offsetTop)"))), 1)
    block(page, "ent-2-2").click()
    expect(inspected(page)).to_have_text(name_of(2, 2))
    page.get_by_role("button", name="Layer").click()
    page.get_by_test_id("stPopoverBody").get_by_text("L2", exact=True).click()
    expect(page.locator(".lr-figtools")).to_contain_text("All 7 nodes are named.")
    expect(page).to_have_url(re.compile("layers=2"))
    snap(page, "hierarchy_phone")
    watched.assert_clean()
