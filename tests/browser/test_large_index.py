"""Explore and Ask on an index of 20,000 entities, one of which has 10,000 relations."""

from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from leanrag_core.models.minilm import MiniLM
from leanrag_core.storage.layout import write_index
from leanrag_core.types.manifest import EmbeddingRecord
from tests.browser.conftest import Server, Watched
from tests.browser.test_story import settled, snap
from tests.large_index import large_index, name_of

pytestmark = [pytest.mark.browser, pytest.mark.slow]

SIZE = 20_000
MOST_BYTES = 2_000_000


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    model = MiniLM()
    embedding = EmbeddingRecord(model.name, model.fingerprint, model.dimension)
    index = large_index(SIZE, dimension=model.dimension, embedding=embedding)
    folder = tmp_path_factory.mktemp("large")
    out = folder / "indexes" / "large"
    out.mkdir(parents=True)
    write_index(out, index)
    return folder


def listen(page: Page) -> list[int]:
    """Record the bytes of each message that the server sends the page from now on."""
    received: list[int] = []
    page.on("websocket", lambda socket: socket.on("framereceived", lambda payload: received.append(len(payload))))
    return received


def test_a_large_hierarchy_is_walked_searched_and_asked(
    server_in: Callable[[Path], Server], watch: Callable[..., Watched], home: Path
) -> None:
    server, watched = server_in(home), watch()
    page = watched.page
    received = listen(page)

    # The first picture: the root and its children, and how many are not drawn yet.
    page.goto(f"{server.url}/explore")
    settled(page)
    root, below = name_of(4, 0), name_of(3, 1)
    expect(page.locator(".lr-blocks svg")).to_be_visible()
    expect(page.locator(".lr-name")).to_have_text(root)
    expect(page.get_by_text("20,000 entities, 1,000 + 50 + 2 + 1 aggregated, 5 layers")).to_be_visible()
    expect(page.locator('.lr-blocks .block[data-layer="1"]').first).to_be_visible()
    assert page.locator(".lr-blocks .block").count() < 200
    snap(page, "l1_first")

    # A block opens by two clicks, and the next one by the keyboard alone.
    chosen = page.locator('.lr-blocks .block[data-id="ent-3-1"]')
    chosen.click()
    expect(page.locator(".lr-name")).to_have_text(below)
    settled(page)
    chosen.click()
    expect(page.locator(".lr-blocks .block").first).to_have_attribute("data-id", "ent-3-1")
    settled(page)
    page.locator('.lr-blocks .block[data-id="ent-2-1a"]').focus()
    expect(page.locator(".lr-blocks .block:focus")).to_have_accessible_name(
        f"{name_of(2, 26)}, layer 2, 400 entities inside"
    )
    page.keyboard.press("Enter")
    expect(page.locator(".lr-name")).to_have_text(name_of(2, 26))
    expect(page.locator(".lr-blocks .block").first).to_have_attribute("data-id", "ent-2-1a")
    settled(page)
    snap(page, "l2_opened")

    # A name is found while it is written, without Enter.
    find = page.get_by_role("combobox", name="Find")
    find.press_sequentially("mill 1")
    expected = sum("mill 1" in name_of(0, row) for row in range(SIZE))
    expect(page.locator(".lr-search .foot")).to_contain_text(f"24 lit of {expected:,} matches")
    find.press_sequentially("7660")
    expect(page.locator(".lr-search .foot")).to_contain_text("1 of 21,053 lit")
    snap(page, "l3_found")
    find.fill("Amber mlil 17660")
    expect(page.get_by_text("Nearest: Amber mill 17660")).to_be_visible()

    # The hub lists its strongest relations and says how many more there are.
    page.goto(f"{server.url}/explore?node=ent-0-0")
    page.get_by_role("tab", name="Relations 10,001").click()
    expect(page.get_by_text("The 50 strongest, 9,951 more are not listed.")).to_be_visible()
    settled(page)
    snap(page, "l4_hub")

    # Ask: a slider redraws the subgraph.
    page.goto(f"{server.url}/ask?q=What is told of the mill?")
    graph = page.locator(".lr-graph svg")
    expect(graph).to_be_visible()
    before = graph.get_attribute("aria-label")
    seeds = page.get_by_role("slider").first
    seeds.focus()
    page.keyboard.press("ArrowRight")
    expect(seeds).to_have_value("11")
    expect(graph).not_to_have_attribute("aria-label", str(before))
    settled(page)
    snap(page, "l5_ask")

    assert received
    assert sum(received) < MOST_BYTES  # of all these views together
    watched.assert_clean()
