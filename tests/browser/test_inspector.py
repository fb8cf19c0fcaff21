"""The inspector, the map and the formation of clusters in a real browser, by mouse, keyboard and on a phone."""

import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from leanrag_core import IndexConfig, Workbench
from leanrag_core.types.index import Index
from leanrag_core.types.settings import Settings
from tests.browser.conftest import Server, Watched, start_server
from tests.browser.runs import becomes, excess_width, settled
from tests.browser.test_story import snap
from tests.endpoint.server import EndpointServer
from tests.indexing.test_recorded_calls import story

pytestmark = pytest.mark.browser

CONFIG = IndexConfig(
    model="openai:scripted-chat", embedding="openai:e", cluster_size=4, tau=1, chunk_tokens=64, overlap_tokens=8
)


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a home with an index that a model wrote, and with the calls that wrote it."""
    bench = Workbench.default(tmp_path_factory.mktemp("inspected"))
    with EndpointServer() as endpoint:
        bench.settings.save(Settings(base_url=endpoint.url))
        hostile = ("x.txt", "Ada Thornbury wrote <img src=x onerror=alert(1)> to عبد الرحمن at Holm Rock.".encode())
        files = [*((f"s{n}.txt", story(n)) for n in range(3)), hostile]
        bench.build(bench.add_documents("Coast", files).corpus_id, CONFIG)
    bench.calls.close()
    return bench.root


@pytest.fixture(scope="module")
def server(built: Path) -> Iterator[Server]:
    """Yield one server for all tests here, which change nothing."""
    running = start_server(built, "app.py")
    yield running
    running.process.terminate()
    running.process.wait(timeout=20)


@pytest.fixture(scope="module")
def index(built: Path) -> Index:
    bench = Workbench.default(built)
    return bench.indexes.open(bench.indexes.all()[0].id)


def tab(page: Page, name: str) -> None:
    page.locator(".lr-inspected").get_by_role("tab", name=name).click()


def test_everything_that_is_inspected_leads_on(server: Server, watch: Callable[..., Watched], index: Index) -> None:
    watched = watch()
    page = watched.page
    layer = index.layers[1]
    relation = layer.relation(0)
    page.goto(f"{server.url}/explore?node={layer.entity(relation.source).id}")
    panel = page.locator(".lr-inspected")
    expect(panel.locator(".lr-name")).to_have_text(layer.entity(relation.source).name)

    # Tabs by keyboard; they ask nothing of the server.
    panel.get_by_role("tab", name="Summary").focus()
    page.keyboard.press("ArrowRight")
    expect(panel.get_by_role("tab", name="Children")).to_have_attribute("aria-selected", "true")
    expect(panel.locator(".row").first).to_be_visible()

    # A relation unfolds where it is, opens, and leads down to a base relation and its chunk.
    tab(page, "Relations")
    row = panel.locator(".row").first
    row.click()
    expect(row).to_have_attribute("aria-expanded", "true")
    panel.locator(".unfolded .link").first.click()
    expect(page).to_have_url(re.compile("rel="))
    settled(page)
    snap(page, "i1_relation")
    tab(page, "Members")
    panel.locator(".row").first.click()
    expect(panel.get_by_role("tab", name="Members")).to_have_count(0)
    settled(page)
    tab(page, "Chunks")
    expect(panel.locator("mark").first).to_be_visible()
    panel.locator(".passage .title").first.click()
    expect(page).to_have_url(re.compile("chunk="))
    settled(page)
    tab(page, "Mentions")
    expect(panel.locator(".row").first).to_be_visible()
    snap(page, "i2_chunk")

    # The model call that read it: prompt and reply, as text.
    panel.locator(".made .link").click()
    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_text("Prompt, as it was sent")).to_be_visible()
    expect(dialog.locator("code").first).to_contain_text("Read one passage of a document")
    page.keyboard.press("Escape")
    expect(dialog).to_have_count(0)
    page.go_back()
    expect(page).not_to_have_url(re.compile("chunk="))
    settled(page)
    watched.assert_clean()


def test_on_a_phone_the_inspector_stands_below_and_nothing_is_wider_than_the_page(
    server: Server, watch: Callable[..., Watched], index: Index
) -> None:
    watched = watch(width=390, height=844)
    page = watched.page
    page.goto(f"{server.url}/explore?node={index.layers[0].entity(0).id}")
    panel = page.locator(".lr-inspected")
    expect(panel.locator(".made")).to_be_visible()
    tab(page, "Chunks")
    expect(panel.locator(".passage").first).to_be_visible()
    becomes(page, lambda: excess_width(page) <= 0, True)
    snap(page, "i3_phone")
    watched.assert_clean()


def test_the_map_colours_and_leads_on_without_the_server(
    server: Server, watch: Callable[..., Watched], index: Index
) -> None:
    watched = watch()
    page = watched.page
    page.goto(f"{server.url}/explore?view=map")
    figure = page.locator(".lr-map .figure")
    expect(figure.locator(".point")).to_have_count(len(index.layers[0]))
    expect(figure.get_by_text("Distance here is not the cosine")).to_be_visible()
    page.locator(".lr-map select").select_option("1")
    expect(page.locator(".lr-map .clusters .line.head")).to_contain_text("Clusters of layer 1")
    expect(page).to_have_url(re.compile("colour=L1"))
    figure.locator("svg").focus()
    page.keyboard.press("+")
    expect(page.locator(".lr-map .zooms")).to_contain_text("125 %")
    page.keyboard.press("0")
    expect(page.locator(".lr-map .zooms")).to_contain_text("100 %")
    page.get_by_role("button", name="Show as table").click()
    expect(page.locator(".lr-map .table tr")).to_have_count(len(index.layers[0]) + 1)
    snap(page, "i4_map")
    with page.expect_download() as download:
        page.locator(".lr-figtools button").last.click()
    saved = download.value.path().read_text(encoding="utf-8")
    assert "Distance here is not the cosine" in saved
    assert "<img" not in saved
    settled(page)

    def point_at_first() -> bool:
        page.mouse.move(0, 0)
        x, y = page.evaluate(
            """() => { const box = document.querySelector('.lr-map .point').getBoundingClientRect();
                 return [box.x + box.width / 2, box.y + box.height / 2]; }"""
        )
        page.mouse.move(x, y)
        return page.locator(".lr-map .card").is_visible()

    becomes(page, point_at_first, True)
    page.mouse.down()
    page.mouse.up()
    expect(page.locator(".lr-inspected .lr-name")).to_be_visible()
    expect(page).to_have_url(re.compile("node="))
    settled(page)
    watched.assert_clean()


def test_the_film_plays_steps_and_scrubs_to_the_root(
    server: Server, watch: Callable[..., Watched], index: Index
) -> None:
    watched = watch()
    page = watched.page
    page.goto(f"{server.url}/explore?view=formation")
    film = page.locator(".lr-formation")
    expect(film.locator(".said")).to_contain_text(f"{len(index.layers[0])} entities, each at its place on the map")
    film.get_by_role("button", name="One step on").click()
    expect(film.locator(".said")).to_contain_text("Layer 1:")
    expect(film.locator(".cloud.named").first).to_be_visible()
    film.locator(".figure").focus()
    page.keyboard.press("End")
    expect(film.locator(".said")).to_contain_text("One cluster is left")
    page.keyboard.press("Home")
    expect(film.locator(".said")).to_contain_text("each at its place on the map")
    film.get_by_role("button", name=f"Layer {len(index.layers) - 2}").click()
    film.get_by_role("button", name="Play", exact=True).click()
    expect(film.locator(".said")).to_contain_text("One cluster is left")
    expect(film.get_by_role("button", name="Play", exact=True)).to_be_visible()
    film.get_by_role("button", name="Layer 2").click()
    film.locator(".cloud.named").first.focus()
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile("node=agg-"))
    snap(page, "i5_formation")
    settled(page)
    watched.assert_clean()
