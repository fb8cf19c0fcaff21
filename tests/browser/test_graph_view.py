"""The graph in layers in a real browser: opened, focused, hidden and zoomed by mouse and keyboard, and its files."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from leanrag_core.storage.layout import write_index
from tests.browser.conftest import Server, Watched
from tests.browser.runs import becomes, excess_width, settled
from tests.browser.test_story import snap
from tests.large_index import large_index, name_of

pytestmark = pytest.mark.browser
SIZE = 2000


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("graph")
    out = folder / "indexes" / "large"
    out.mkdir(parents=True)
    write_index(out, large_index(SIZE))
    return folder


def node(page: Page, layer: int, row: int) -> str:
    return f'.lr-lg .node[data-id="ent-{layer}-{row:x}"]'


def folded(page: Page) -> int:
    """Return what all bubbles of entities count."""
    counts = page.locator(".lr-lg .bubble.node").evaluate_all("all => all.map(each => Number(each.dataset.count))")
    return sum(counts)


def dots(page: Page) -> int:
    return page.locator(".lr-lg .node.dot").count()


def test_the_graph_is_opened_focused_hidden_and_zoomed(
    server_in: Callable[..., Server], watch: Callable[..., Watched], home: Path, tmp_path: Path
) -> None:
    server, watched = server_in(home), watch()
    page = watched.page
    page.goto(f"{server.url}/explore?view=graph")
    settled(page)
    expect(page.locator(node(page, 3, 0))).to_be_visible()
    snap(page, "graph_root")

    # A closed cluster opens: its bubble turns into a cloud, and the inspector follows.
    closed = page.locator(".lr-lg .node.box[data-layer='1'][aria-expanded='false']").first
    opened_id = str(closed.get_attribute("data-id"))
    closed.click()
    expect(page.locator(f'.lr-lg .node[data-id="{opened_id}"]')).to_have_attribute("aria-expanded", "true")
    expect(page.locator(".lr-name")).to_have_text(name_of(1, int(opened_id.split("-")[-1], 16)))
    expect(page).to_have_url(re.compile(f"open={opened_id}"))
    settled(page)

    # A double click brings an entity into focus; what it leads to is lit.
    far = page.locator(".lr-lg .node.dot").first
    focus_id = str(far.get_attribute("data-id"))
    far.dblclick()
    expect(page.locator(f'.lr-lg .node.focus[data-id="{focus_id}"]')).to_be_visible()
    expect(page.locator(".lr-lg .node.dot.one").first).to_be_visible()
    expect(page).to_have_url(re.compile(f"centre={focus_id}"))
    settled(page)
    snap(page, "graph_entity")

    # H hides: the bubble of its cluster counts it; the undo takes it back. Neither asks for other nodes.
    before = (dots(page), folded(page))
    page.locator(".lr-lg .node.dot.far").first.focus()
    page.keyboard.press("h")
    undo = page.get_by_role("button", name="Undo hiding (1)")
    expect(undo).to_be_visible()
    becomes(page, lambda: (dots(page), folded(page)), (before[0] - 1, before[1] + 1))
    settled(page)
    undo.click()
    becomes(page, lambda: (dots(page), folded(page)), before)
    settled(page)

    # The buttons act on the chosen node: it is hidden and comes back, and stays when the focus goes elsewhere.
    chosen = page.locator(".lr-lg .node.dot.far").first
    chosen_id = str(chosen.get_attribute("data-id"))
    chosen.click()
    actions = page.get_by_role("toolbar", name=re.compile("Chosen node: "))
    expect(actions).to_contain_text(name_of(0, int(chosen_id.split("-")[-1], 16)))
    settled(page)
    actions.get_by_role("button", name="Hide").click()
    expect(actions).to_have_count(0)
    expect(undo).to_be_focused()
    settled(page)
    page.keyboard.press("Enter")
    pin = actions.get_by_role("button", name="Pin")
    expect(pin).to_have_attribute("aria-pressed", "false")
    settled(page)
    pin.focus()
    page.keyboard.press("Enter")
    expect(page.locator(f'.lr-lg .node[data-id="{chosen_id}"] .pin')).to_be_visible()
    expect(pin).to_have_attribute("aria-pressed", "true")
    settled(page)
    page.locator(".lr-lg .node.focus").focus()
    page.keyboard.press("ArrowUp")
    above = page.locator(".lr-lg .node:focus")
    expect(above).not_to_have_class(re.compile("focus"))
    above_id = str(above.get_attribute("data-id"))
    page.keyboard.press("c")
    expect(page.locator(f'.lr-lg .node.focus[data-id="{above_id}"]')).to_be_visible()
    expect(page.locator(f'.lr-lg .node[data-id="{chosen_id}"] .pin')).to_be_visible()
    expect(actions.get_by_role("button", name="Focus")).to_be_disabled()
    settled(page)

    # Zoom in, and fit again.
    shape = page.locator(".lr-lg .node.root .shape").first
    fitted = str(shape.get_attribute("x"))
    page.get_by_role("button", name="Zoom in").click()
    expect(shape).not_to_have_attribute("x", fitted)
    page.get_by_role("button", name="Fit to the window").click()
    expect(shape).to_have_attribute("x", fitted)
    expect(page.locator(".lr-lg-labels text[data-node]").first).to_be_visible()

    # The list beside holds the same nodes, and a row of it chooses.
    page.get_by_role("button", name="Show as table").click()
    rows = page.locator(".lr-lg-list tbody tr")
    becomes(page, lambda: rows.count() - page.locator(".lr-lg .node[data-node]").count(), 0)
    name = rows.nth(3).get_by_role("button").inner_text()
    rows.nth(3).get_by_role("button").click()
    expect(page.locator(".lr-name")).to_have_text(name)
    settled(page)

    with page.expect_download() as download:
        page.get_by_role("button", name="Save as one HTML file").click()
    watched.assert_clean()
    saved = tmp_path / "graph.html"
    download.value.save_as(saved)
    alone = watch()
    requests: list[str] = []
    alone.page.on("request", lambda request: requests.append(request.url))
    alone.page.goto(saved.as_uri())
    picture = alone.page.locator("svg").first
    expect(picture).to_be_visible()
    whole = picture.get_attribute("viewBox")
    picture.hover()
    alone.page.mouse.wheel(0, -300)
    expect(picture).not_to_have_attribute("viewBox", str(whole))
    assert [url for url in requests if not url.startswith(("file:", "data:"))] == []
    alone.assert_clean()


def test_the_free_graph_of_a_neighbourhood_is_a_file_that_asks_nobody(
    server_in: Callable[..., Server], watch: Callable[..., Watched], home: Path, tmp_path: Path
) -> None:
    server, watched = server_in(home), watch(width=390, height=844)
    page = watched.page
    page.goto(f"{server.url}/explore?view=graph&node=ent-0-5")
    settled(page)
    expect(page.locator(".lr-lg .node.dot.focus")).to_be_visible()
    becomes(page, lambda: excess_width(page) <= 0, True)
    snap(page, "graph_phone")

    # All nodes: a canvas, on which a click chooses too.
    page.get_by_role("button", name="All nodes").click()
    canvas = page.locator(".lr-lg-figure canvas")
    expect(canvas).to_be_visible()
    expect(page.get_by_text("2,106 of 2,106 nodes drawn")).to_be_visible()
    expect(canvas).to_have_attribute("aria-label", re.compile("2,106 of 2,106 nodes"))
    settled(page)
    root = page.evaluate(
        "() => { const { nodes, view } = document.querySelector('.lr-lg').lrState; "
        "return { x: nodes.x[0] * view.scaleX + view.left, y: nodes.y[0] * view.scaleY + view.top }; }"
    )
    canvas.click(position=root)
    expect(page.locator(".lr-name")).to_have_text(name_of(3, 0))
    actions = page.get_by_role("toolbar", name="Chosen node: Group 3.0")  # long names are cut here
    settled(page)
    actions.get_by_role("button", name="Focus").click()
    expect(actions.get_by_role("button", name="Focus")).to_be_disabled()
    settled(page)
    page.get_by_role("button", name="Around the focus").click()
    expect(page.locator(".lr-lg .node.root.focus")).to_be_visible()
    settled(page)
    with page.expect_download() as download:
        page.get_by_role("button", name="Neighbourhood as a free graph").click()
    watched.assert_clean()
    saved = tmp_path / "neighbourhood.html"
    download.value.save_as(saved)
    alone = watch()
    requests: list[str] = []
    alone.page.on("request", lambda request: requests.append(request.url))
    alone.page.goto(saved.as_uri())
    free = alone.page.locator("canvas")
    expect(free).to_be_visible()
    free.hover()
    alone.page.mouse.wheel(0, -300)
    free.click()
    alone.page.evaluate("() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")
    assert [url for url in requests if not url.startswith(("file:", "data:", "blob:"))] == []
    alone.assert_clean()


def test_a_type_and_a_kind_of_the_schema_filter_every_view(
    server_in: Callable[..., Server], watch: Callable[..., Watched], home: Path
) -> None:
    server, watched = server_in(home), watch()
    page = watched.page
    page.goto(f"{server.url}/explore?view=schema")
    settled(page)
    box = page.locator(".lr-schema .node[role=button]").first
    expect(box).to_have_attribute("aria-pressed", "false")
    name = str(box.locator(".type-name").text_content())
    box.focus()
    page.keyboard.press("Enter")
    settled(page)
    expect(page.locator(".lr-schema .node.chosen .type-name")).to_have_text(name)
    expect(page).to_have_url(re.compile(f"types={name}"))
    page.get_by_role("radio", name="Graph").click()
    expect(page.locator(".lr-lg .node").first).to_be_visible()
    expect(page).to_have_url(re.compile(f"types={name}"))
    settled(page)
    expect(page.get_by_role("button", name="Clear filters")).to_be_visible()

    # The large index has one type: the row of its relations chooses the same filter, which takes it off.
    page.get_by_role("radio", name="Schema").click()
    row, kind = (page.locator(".lr-schema-table button").nth(place) for place in (0, 1))
    expect(row).to_have_attribute("aria-pressed", "true")
    row.click()
    expect(row).to_have_attribute("aria-pressed", "false")
    expect(page).not_to_have_url(re.compile("types="))
    settled(page)

    # A kind of relation filters likewise: it is in the link and among the filters.
    expect(kind).to_contain_text("in the same sentence")
    kind.click()
    expect(kind).to_have_attribute("aria-pressed", "true")
    expect(page).to_have_url(re.compile("kinds=co-occurrence"))
    expect(page.get_by_role("button", name="Relation: in the same sentence")).to_be_visible()
    settled(page)
    page.get_by_role("button", name="Clear filters").click()
    expect(kind).to_have_attribute("aria-pressed", "false")
    expect(page).not_to_have_url(re.compile("kinds="))
    settled(page)
    watched.assert_clean()
