"""The graph in layers in a real browser: opened, focused, hidden and zoomed by mouse and keyboard, and its files."""

from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from leanrag_core.storage.layout import write_index
from tests.browser.conftest import Server, Watched
from tests.browser.runs import settled
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
    """What all bubbles of entities count."""
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
    settled(page)
    expect(page.locator(".lr-name")).to_have_text(name_of(1, int(opened_id.split("-")[-1], 16)))
    assert f"open={opened_id}" in page.url

    # A double click brings an entity into focus; what it leads to is lit.
    far = page.locator(".lr-lg .node.dot").first
    focus_id = str(far.get_attribute("data-id"))
    far.dblclick()
    expect(page.locator(f'.lr-lg .node.focus[data-id="{focus_id}"]')).to_be_visible()
    expect(page.locator(".lr-lg .node.dot.one").first).to_be_visible()
    settled(page)
    assert f"centre={focus_id}" in page.url
    snap(page, "graph_entity")

    # H hides: the bubble of its cluster counts it; U takes it back. Neither asks for other nodes.
    before = (dots(page), folded(page))
    page.locator(".lr-lg .node.dot.far").first.focus()
    page.keyboard.press("h")
    expect(page.get_by_role("button", name="Undo hiding (1)")).to_be_visible()
    assert (dots(page), folded(page)) == (before[0] - 1, before[1] + 1)
    settled(page)
    page.get_by_role("button", name="Undo hiding (1)").click()
    assert (dots(page), folded(page)) == before

    # P pins: the entity stays when the focus goes elsewhere.
    settled(page)
    pinned = page.locator(".lr-lg .node.dot.far").first
    pinned_id = str(pinned.get_attribute("data-id"))
    pinned.focus()
    page.keyboard.press("p")
    expect(page.locator(f'.lr-lg .node[data-id="{pinned_id}"] .pin')).to_be_visible()
    page.locator(".lr-lg .node.focus").focus()
    page.keyboard.press("ArrowUp")
    page.keyboard.press("c")
    settled(page)
    expect(page.locator(f'.lr-lg .node[data-id="{pinned_id}"] .pin')).to_be_visible()

    # Zoom gives labels more room; the picture fits again.
    labels = page.locator(".lr-lg-labels text[data-node]")
    fitted = page.locator(".lr-lg .node.root").first.locator(".shape").bounding_box()
    page.get_by_role("button", name="Zoom in").click()
    page.get_by_role("button", name="Zoom in").click()
    expect(page.locator(".lr-lg .node.root .shape").first).not_to_have_attribute("y", "0")
    page.get_by_role("button", name="Fit to the window").click()
    expect(labels.first).to_be_visible()
    assert page.locator(".lr-lg .node.root").first.locator(".shape").bounding_box() == fitted

    # The list beside holds the same nodes, and a row of it chooses.
    page.get_by_role("button", name="Show as table").click()
    rows = page.locator(".lr-lg-list tbody tr")
    expect(rows).to_have_count(page.locator(".lr-lg .node[data-node]").count())
    chosen = rows.nth(3).get_by_role("button").inner_text()
    rows.nth(3).get_by_role("button").click()
    settled(page)
    expect(page.locator(".lr-name")).to_have_text(chosen)

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
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    snap(page, "graph_phone")

    # All nodes: a canvas, on which a click chooses too.
    page.get_by_role("button", name="All nodes").click()
    canvas = page.locator(".lr-lg-figure canvas")
    expect(canvas).to_be_visible()
    expect(page.get_by_text("2,106 of 2,106 nodes drawn")).to_be_visible()
    settled(page)
    box = canvas.bounding_box()
    assert box is not None
    root = page.evaluate(
        "() => { const { nodes, view } = document.querySelector('.lr-lg').lrState; "
        "return [nodes.x[0] * view.stretch, nodes.y[0]]; }"
    )
    page.mouse.click(box["x"] + root[0], box["y"] + root[1])
    settled(page)
    expect(page.locator(".lr-name")).to_have_text(name_of(3, 0))
    page.get_by_role("button", name="Around the focus").click()
    expect(page.locator(".lr-lg .node.dot.focus")).to_be_visible()
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
    box = free.bounding_box()
    assert box is not None
    alone.page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    alone.page.mouse.wheel(0, -300)
    alone.page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    alone.page.evaluate("() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")
    assert [url for url in requests if not url.startswith(("file:", "data:", "blob:"))] == []
    alone.assert_clean()


def test_a_type_of_the_schema_filters_every_view(
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
    assert f"types={name}" in page.url
    page.get_by_role("radio", name="Graph").click()
    expect(page.locator(".lr-lg .node").first).to_be_visible()
    settled(page)
    assert f"types={name}" in page.url
    expect(page.get_by_role("button", name="Clear filters")).to_be_visible()

    # The large index has one type: the row of its relations chooses the same filter, which takes it off.
    page.get_by_role("radio", name="Schema").click()
    row = page.locator(".lr-schema-table button").first
    expect(row).to_have_attribute("aria-pressed", "true")
    row.click()
    expect(row).to_have_attribute("aria-pressed", "false")
    settled(page)
    assert "types=" not in page.url
    watched.assert_clean()
