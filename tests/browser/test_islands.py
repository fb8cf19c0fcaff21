"""Islands and clusters as a person uses them: tau by keyboard and mouse, a rebuild, the board and its comparison."""

import re
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from leanrag_core import IndexConfig, Workbench
from leanrag_core.queries.clusters import cluster_quality
from leanrag_core.queries.islands import AtTau, tau_curve
from tests.browser.conftest import Server, Watched
from tests.browser.runs import settled
from tests.browser.test_story import TEXT, snap

pytestmark = pytest.mark.browser
CONFIG = IndexConfig(cluster_size=4, chunk_tokens=64, overlap_tokens=8, tau="1")


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    built = Workbench.default(tmp_path_factory.mktemp("islands") / "home")
    corpus = built.add_documents("Grey Coast", [("coast.md", TEXT.encode())]).corpus_id
    built.build(corpus, IndexConfig(cluster_size=3, chunk_tokens=64, overlap_tokens=8, tau="1"), name="Smaller")
    built.build(corpus, CONFIG, name="Coast")
    return built.root


@pytest.fixture
def bench(home: Path, tmp_path: Path) -> Workbench:
    return Workbench.default(Path(shutil.copytree(home, tmp_path / "home")))


def table_says(page: Page, expected: AtTau, built: AtTau) -> None:
    """Check that the table has the counts of that tau, beside those of the built one."""
    for title, now, before in (
        ("Summarised", expected.summarised, built.summarised),
        ("Joined", expected.joined, built.joined),
        ("Connected by summarised ones", expected.connected, built.connected),
    ):
        cells = page.locator(".lr-tau tbody tr", has_text=title).first.locator("td")
        expect(cells.nth(0)).to_have_text(f"{before:,}")
        expect(cells.nth(1)).to_have_text(f"{now:,}")
    expect(page.locator(".lr-islands line.summarised")).not_to_have_count(0)


def test_tau_is_moved_in_the_browser_and_the_index_rebuilt(
    server_in: Callable[..., Server], watch: Callable[..., Watched], bench: Workbench
) -> None:
    (before,) = [index for index in bench.indexes.all() if index.name == "Coast"]
    curve = tau_curve(bench.indexes.open(before.id).layers[1])
    server, watched = server_in(bench.root), watch()
    page = watched.page
    page.goto(f"{server.url}/explore?view=islands&index={before.id}")
    settled(page)
    expect(page.locator(".lr-isl-finding")).to_contain_text("Aggregated relations turn")
    table_says(page, curve.at(1), curve.at(1))
    rebuild = page.locator(".lr-tau .primary")
    expect(rebuild).to_be_disabled()

    handle = page.get_by_role("slider", name="Tau")
    handle.focus()
    page.keyboard.press("ArrowRight")
    expect(handle).to_have_attribute("aria-valuenow", "2")
    table_says(page, curve.at(2), curve.at(1))
    page.keyboard.press("Home")
    table_says(page, curve.at(0), curve.at(1))
    box = handle.evaluate("handle => handle.getBoundingClientRect().toJSON()")
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + 12)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] / 2 + 2000, box["y"] + 12, steps=4)
    page.mouse.up()
    expect(handle).to_have_attribute("aria-valuenow", str(curve.strengths[-1]))
    page.get_by_role("button", name="Back to the built one").click()
    expect(rebuild).to_be_disabled()

    page.get_by_role("button", name="Suggest tau").click()
    expect(page.locator(".lr-tau .evidence")).to_contain_text("λ of the relations")
    expect(rebuild).to_be_disabled()  # the suggestion changes nothing by itself
    page.get_by_role("button", name="Suggest tau").click()

    handle.focus()
    page.keyboard.press("ArrowLeft")
    snap(page, "islands")
    expect(rebuild).to_contain_text("Rebuild with tau 0")
    rebuild.click()
    expect(page.locator(".lr-tau thead th").nth(1)).to_have_text("tau 0, built", timeout=90_000)
    settled(page)
    (made,) = [index for index in bench.indexes.all() if index.id not in (before.id,) and index.name == "Coast"]
    expect(page).to_have_url(re.compile(f"index={made.id}"))
    assert made.layers[1].summarised == curve.at(0).summarised
    watched.assert_clean()


def test_the_board_sorts_picks_and_compares(
    server_in: Callable[..., Server], watch: Callable[..., Watched], bench: Workbench
) -> None:
    index, other = sorted(bench.indexes.all(), key=lambda summary: summary.name)
    opened = bench.indexes.open(index.id)
    sizes = sorted(cluster_quality(opened, 1).sizes.tolist())
    server, watched = server_in(bench.root), watch()
    page = watched.page
    page.goto(f"{server.url}/explore?view=clusters&index={index.id}")
    settled(page)
    rows = page.locator(".lr-board tbody tr")
    expect(rows).to_have_count(len(sizes))
    page.get_by_role("button", name="Size").click()
    expect(page.locator(".lr-board th.size")).to_have_attribute("aria-sort", "descending")
    size_cells = rows.locator("td:nth-child(2)")
    expect(size_cells).to_have_text([str(size) for size in reversed(sizes)])
    page.keyboard.press("Enter")  # the head keeps the focus
    expect(page.locator(".lr-board th.size")).to_have_attribute("aria-sort", "ascending")
    expect(size_cells).to_have_text([str(size) for size in sizes])

    name = rows.first.locator("td.name button").inner_text()
    rows.first.locator("td.name button").click()
    expect(page.locator(".st-key-inspector")).to_contain_text(name)
    expect(page.locator(".lr-board tr.picked td.name")).to_have_text(name)
    settled(page)

    page.get_by_role("button", name="Check stability").click()
    expect(page.get_by_text("adjusted Rand index")).to_be_visible()
    expect(rows.locator("td:nth-child(4)").filter(has_text="–")).to_have_count(0)
    settled(page)

    page.goto(f"{server.url}/explore?view=clusters&index={index.id}&versus={other.id}")
    settled(page)
    expect(page.locator(".lr-tile", has_text="Entities in both")).to_contain_text(f"{len(opened.layers[0])}")
    expect(page.locator(".lr-reads tbody tr, .lr-reads tr")).not_to_have_count(0)
    snap(page, "clusters")
    watched.assert_clean()
