"""A site from a disk, without any network: views, search and inspector used twice, in both themes and on a phone."""

import os
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from playwright.sync_api import Browser, BrowserContext, Page, Request, expect

from leanrag_core import Workbench
from leanrag_core.exporting.base import export_index
from leanrag_core.exporting.site import shown
from leanrag_core.figures import embedding_map
from leanrag_core.figures.embedding_map import MapPlaces
from leanrag_core.storage.layout import read_index
from leanrag_core.system.environment import PROGRAM
from leanrag_core.types.trace import RecordedRun
from leanrag_core.workbench.questions import AskRequest

pytestmark = pytest.mark.browser

SAMPLE = PROGRAM / "sample_corpora" / "indexes" / "sample-agriculture-064950b2"
QUESTIONS = ("How does a foraging bee collect pollen?", "Which crops need bees?")
SHOTS = os.environ.get("LEANRAG_SHOTS")
VIEWS = ("hierarchy", "graph", "schema", "map", "islands", "clusters", "questions")
WIDER = "() => document.documentElement.scrollWidth > document.documentElement.clientWidth"


@pytest.fixture(scope="module")
def sites(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Export the sample as a site in English and in Chinese, with two questions of two systems each. Its map, which
    takes longer than all else, is worked out once for both, in the fewest steps that t-SNE can do with."""
    folder = tmp_path_factory.mktemp("sites")
    bench, index = Workbench.default(folder / "home"), read_index(SAMPLE)
    runs = []
    for question in QUESTIONS:
        for strategy in ("leanrag", "vector"):
            trace = bench.questions.retrieve(index, AskRequest(question, strategy))
            runs.append(RecordedRun(trace, bench.questions.answer(index, trace)))
    places: dict[bytes, MapPlaces] = {}

    def placed_once(vectors: np.ndarray) -> MapPlaces:
        key = np.ascontiguousarray(vectors).tobytes()
        if key not in places:
            places[key] = embedding_map.embedding_places(vectors)
        return places[key]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(embedding_map, "_ITERATIONS", 250)
        patch.setattr(shown, "embedding_places", placed_once)
        for language in ("en", "zh"):
            export_index(index, "site", folder / language, language=language, runs=runs)
    return folder


@pytest.fixture
def offline(browser: Browser) -> Iterator[BrowserContext]:
    """Yield a context without a network, which may ask for nothing but files."""
    context = browser.new_context(viewport={"width": 1440, "height": 900}, offline=True)
    asked: list[str] = []

    def note(request: Request) -> None:
        if not request.url.startswith(("file:", "data:", "blob:")):
            asked.append(request.url)

    context.on("request", note)
    yield context
    context.close()
    assert asked == []


def opened(context: BrowserContext, folder: Path, chosen: str = "") -> Page:
    page = context.new_page()
    page.goto(f"{(folder / 'index.html').as_uri()}#{chosen}")
    expect(page.locator(".lr-site[data-ready]")).to_be_visible()
    return page


def view(page: Page, name: str) -> None:
    page.locator(f"[data-view={name}]").click()
    expect(page.locator(f"[data-view={name}]")).to_have_attribute("aria-current", "true")
    expect(page.locator(f".lr-site[data-drawn={name}]")).to_be_visible()


def snap(page: Page, name: str) -> None:
    if SHOTS:
        page.wait_for_timeout(500)
        page.screenshot(path=f"{SHOTS}/site_{name}.png")


def test_a_person_reads_a_site_from_a_disk(offline: BrowserContext, sites: Path) -> None:
    page = opened(offline, sites / "en")
    name, blocks = page.locator(".lr-inspected .lr-name"), page.locator(".lr-blocks .block")

    # Hierarchy: blocks open and close; an entity in a cell is chosen.
    for _ in range(2):
        page.locator('.lr-blocks .block[data-layer="2"]').first.dblclick()
        expect(page.locator(".lr-blocks .crumbs b")).not_to_contain_text("Honey bees, their keepers")
        page.locator(".lr-blocks .crumbs button").first.click()
        expect(page.locator(".lr-blocks .crumbs b")).to_contain_text("Honey bees, their keepers")
    page.evaluate("document.querySelector('.lr-blocks svg').dataset.same = 'yes'")
    for place in (0, 1):
        cell = page.locator('.lr-blocks .block[data-layer="0"]:not(.folded)').nth(place)
        title = str(cell.get_attribute("data-id"))
        cell.click()
        expect(page.locator(f'.lr-blocks .block[data-id="{title}"]')).to_have_attribute("aria-selected", "true")
        expect(page.locator(".lr-inspected .parent")).to_have_count(3)
    expect(page.locator(".lr-blocks svg[data-same]")).to_have_count(1)  # a choice alone draws nothing again
    folded = page.locator(".lr-blocks .block.folded").first
    folded.click()
    expect(blocks.first).to_be_visible()
    snap(page, "hierarchy")

    # Search: matches are lit and listed; the first one is opened by Enter, the second by a click.
    field = page.get_by_role("combobox", name="Find")
    for text, found in (("nectar", "Nectar"), ("varroa destr", "Varroa destructor")):
        field.fill(text)
        expect(page.get_by_role("option").first).to_contain_text(found)
        expect(page.locator(".lr-blocks .block.lit").first).to_be_visible()
        if text == "nectar":
            page.keyboard.press("Enter")
        else:
            page.get_by_role("option").first.click()
        expect(name).to_have_text(found)
    page.get_by_role("button", name="Empty the search field").click()

    # Inspector: relations unfold into what they say, chunks show their text with the names marked, parents lead up.
    for _ in range(2):
        page.get_by_role("tab", name="Relations").click()
        page.locator(".lr-inspected .row").first.click()
        expect(page.locator(".lr-inspected .end")).to_have_count(2)
        page.get_by_role("button", name="Back to the entity").click()
        page.get_by_role("tab", name="Chunks").click()
        expect(page.locator(".lr-inspected mark").first).to_have_text("Varroa destructor")
        page.locator(".lr-inspected .title").first.click()
        expect(page.locator(".lr-inspected mark").first).to_be_visible()
        page.get_by_role("button", name="Chunk after").click()
        page.get_by_role("tab", name="Mentions").click()
        page.get_by_role("button", name="Back to the entity").click()
        expect(name).to_have_text("Varroa destructor")
    page.locator(".lr-inspected .parent").last.click()
    page.get_by_role("tab", name="Children").click()
    page.locator(".lr-inspected .row").filter(has_text="Varroa destructor").first.click()
    expect(name).to_have_text("Varroa destructor")

    # Graph: a neighbour comes into focus, all nodes and back.
    page.get_by_role("button", name="In the graph").click()
    figure = page.locator(".lr-lg-figure")
    for _ in range(2):
        expect(figure.locator(".node.focus")).to_be_visible()
        figure.locator(".node.dot.one").first.click()
        page.locator(".lr-lg-chosen [data-name=focus]").click()
        expect(page.locator(".lr-lg-chosen [data-name=focus]")).to_be_disabled()
        page.get_by_role("button", name="All nodes").click()
        expect(figure.locator("canvas")).to_be_visible()
        figure.locator("canvas").click(position={"x": 300, "y": 400})
        page.get_by_role("button", name="Around the focus").click()
    snap(page, "graph")

    # Schema: a type lists its entities, and not any more.
    view(page, "schema")
    for _ in range(2):
        page.locator(".lr-schema .node").first.click()
        expect(page.locator(".lr-schema .node.chosen")).to_have_count(1)
        expect(page.locator(".lr-inspected .row").nth(3)).to_be_visible()
        page.locator(".lr-schema .node.chosen").click()
        expect(page.locator(".lr-schema .node.chosen")).to_have_count(0)

    # Map: layers of points, colours, and the table, whose lines open.
    view(page, "map")
    for layer in ("L1", "L0"):
        page.locator(".lrs-layers").get_by_role("button", name=layer).click()
        expect(page.locator(".lrs-layers [aria-pressed=true]")).to_have_text(layer)
    for colour in ("2", "1"):
        page.locator(".lr-map select").select_option(colour)
        expect(page.locator(".lr-map .cluster-name").first).to_be_visible()
        page.locator(".lr-map").get_by_role("button", name="Show as table").click()
        page.locator(".lr-map .scroll .link").nth(int(colour)).click()
        expect(page.locator(".lr-map .chosen")).to_be_visible()
    snap(page, "map")

    # Islands and clusters: a dot opens its cluster, heads sort.
    view(page, "islands")
    expect(page.locator(".lrs-finding")).to_contain_text("islands")
    expect(page.locator(".lr-islands svg").first).to_be_visible()
    view(page, "clusters")
    first = page.locator(".lr-board tbody tr .name button").first
    for _ in range(2):
        before = first.inner_text()
        page.locator(".lr-board [data-column=size]").click()
        expect(first).not_to_have_text(before)
        first.click()
        expect(name).to_have_text(first.inner_text())
    snap(page, "clusters")

    # Pictures of figures are made in the page.
    for _ in range(2):
        with page.expect_download() as download:
            page.locator(".lr-figtools button", has_text="PNG").click()
        assert download.value.suggested_filename.endswith(".png")

    # The link alone brings back what is shown.
    page.reload()
    expect(first).to_be_visible()
    expect(name).to_have_text(first.inner_text())


def test_recorded_questions_are_compared_and_played(offline: BrowserContext, sites: Path) -> None:
    page = opened(offline, sites / "en", "view=questions")
    play, select = page.locator(".lr-play"), page.locator(".lrs-question select")
    for place, question in ((1, QUESTIONS[1]), (0, QUESTIONS[0])):
        select.select_option(str(place))
        expect(page.locator(".lrs-questions h2")).to_have_text(question)
        expect(page.locator(".lrs-scroll th").nth(1)).to_have_text("LeanRAG")
        expect(page.locator(".lrs-scroll .lr-mark").first).to_be_visible()
        for side in ("Naive RAG (vector)", "LeanRAG"):
            button = page.locator(".lrs-sides").get_by_role("button", name=side)
            button.click()
            expect(button).to_have_attribute("aria-pressed", "true")
            expect(play.locator(".caption")).not_to_be_empty()
            play.get_by_role("slider").focus()
            page.keyboard.press("End")
            expect(play.locator(".part.now")).to_contain_text("Answer")
        page.locator(".lrs-passages summary").first.click()
        page.locator(".lrs-passages .link").first.click()
        expect(page.locator(".lr-inspected .passage")).to_be_visible()
    snap(page, "questions")


@pytest.mark.parametrize("language", ["en", "zh"])
def test_no_view_is_wider_than_a_phone_or_loses_a_theme(browser: Browser, sites: Path, language: str) -> None:
    for dark in (False, True):
        context = browser.new_context(
            viewport={"width": 390, "height": 844}, color_scheme="dark" if dark else "light", offline=True
        )
        page = opened(context, sites / language, "node=0.3")
        for name in VIEWS:
            view(page, name)
            assert not page.evaluate(WIDER), name
            snap(page, f"{language}_{name}_{'dark' if dark else 'light'}")
        ground = page.evaluate("getComputedStyle(document.body).backgroundColor.match(/\\d+/g).map(Number)")
        assert (sum(ground) < 200) == dark
        context.close()
