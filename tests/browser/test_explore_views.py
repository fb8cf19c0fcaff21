"""The map in a real browser: a click chooses an entity, and nothing asks another machine."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from leanrag_core import IndexConfig, Workbench
from leanrag_core.types.index import Index
from tests.browser.conftest import Server, Watched
from tests.browser.runs import settled
from tests.browser.test_story import TEXT, snap

pytestmark = pytest.mark.browser


@pytest.fixture
def bench(tmp_path: Path) -> Workbench:
    built = Workbench.default(tmp_path / "home")
    corpus = built.add_documents("Grey Coast", [("coast.md", TEXT.encode())]).corpus_id
    built.build(corpus, IndexConfig(cluster_size=4, chunk_tokens=64, overlap_tokens=8))
    return built


@pytest.fixture
def index(bench: Workbench) -> Index:
    return bench.open(bench.indexes()[0].id)


def point_on_screen(page: Page, position: int) -> tuple[float, float, str]:
    """Where a point of the map is drawn, and its name."""
    x, y, name = page.evaluate(
        """(position) => {
          const plot = document.querySelector('.js-plotly-plot'), trace = plot._fullData[0], layout = plot._fullLayout;
          const at = Array.from(trace.customdata).indexOf(position), box = plot.getBoundingClientRect();
          return [box.x + layout.xaxis._offset + layout.xaxis.c2p(trace.x[at]),
                  box.y + layout.yaxis._offset + layout.yaxis.c2p(trace.y[at]), trace.text[at]];
        }""",
        position,
    )
    return x, y, re.sub("<br>.*|</?b>", "", name)


def test_a_point_of_the_map_opens_its_entity(
    server_in: Callable[..., Server], watch: Callable[..., Watched], bench: Workbench, index: Index
) -> None:
    server, watched = server_in(bench.root), watch()
    page = watched.page
    page.goto(f"{server.url}/explore?view=Map")
    settled(page)
    expect(page.locator(".js-plotly-plot .scatterlayer, .js-plotly-plot .gl-canvas").first).to_be_attached()
    for position in (0, 1, 0):  # a point that was clicked before opens again
        x, y, name = point_on_screen(page, position)
        page.mouse.move(x - 3, y)
        page.mouse.click(x, y)
        settled(page)
        expect(page.locator(".lr-name")).to_have_text(name)
        assert index.layers[0].entities["name"][position].as_py() == name
    snap(page, "map")
    page.get_by_role("radio", name="L1").first.click()
    settled(page)
    assert "points=L1" in page.url
    watched.assert_clean()
