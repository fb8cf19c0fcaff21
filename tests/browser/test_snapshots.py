"""An updated index: its earlier state is named, compared, opened and restored, all through the pages."""

from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import expect

from leanrag_core import IndexConfig, Workbench
from leanrag_core.evaluation.gold import Evidence, GoldQuestion
from tests.browser.conftest import Server, Watched
from tests.browser.runs import settled
from tests.browser.test_story import TEXT, snap
from tests.browser.test_update import OWLS

pytestmark = pytest.mark.browser


def test_an_earlier_state_is_compared_opened_and_restored(
    server_in: Callable[[Path], Server], watch: Callable[..., Watched], tmp_path: Path
) -> None:
    bench = Workbench.default(tmp_path / "home")
    corpus_id = bench.add_documents("Grey Coast", [("coast.md", TEXT.encode())]).corpus_id
    index = bench.build(corpus_id, IndexConfig(cluster_size=4), name="Grey Coast")
    assert index.path is not None
    bench.add_documents(corpus_id, [("owls.txt", OWLS)])
    bench.updates.update(index.path, bench.updates.corpus_changes(index))
    evidence = (Evidence("owls.txt", "The Ural Owl hunts voles"),)
    questions = [GoldQuestion("1", "What does the Ural Owl hunt?", ("voles",), evidence)]
    bench.question_sets.add("Owls", questions, corpus_id=corpus_id)
    server, watched = server_in(tmp_path / "home"), watch()
    page = watched.page
    page.goto(f"{server.url}/build")
    settled(page)
    page.get_by_text("Earlier states", exact=True).click()
    row = page.locator(".st-key-snapshot_1")
    expect(row.get_by_text("Before an update: documents added 1")).to_be_visible()
    settled(page)
    for shown in (1, 0, 1):
        row.get_by_role("button", name="Compare with the present state").click()
        expect(page.get_by_text("Changed since:")).to_have_count(shown)
        settled(page)
    page.get_by_role("button", name="Compare recall").click()
    expect(page.get_by_text("Questions won: 1.")).to_be_visible()
    settled(page)
    page.get_by_text("Questions won: 1.").scroll_into_view_if_needed()
    snap(page, "snapshots_1_compared")

    row.get_by_role("button", name="Keep under a name").click()
    field = page.get_by_label("Name of the state").last
    field.fill("coast alone")
    field.press("Enter")
    settled(page)
    page.get_by_role("button", name="Keep", exact=True).click()
    expect(row.get_by_text("coast alone")).to_be_visible()
    page.keyboard.press("Escape")
    settled(page)
    snap(page, "snapshots_2_named")

    row.get_by_role("button", name="Open", exact=True).click()
    expect(page.get_by_text("This is an earlier state of")).to_be_visible()
    settled(page)
    snap(page, "snapshots_3_explore")
    page.get_by_role("button", name="Open the present state").click()
    expect(page.get_by_text("This is an earlier state of")).to_have_count(0)
    settled(page)

    page.get_by_role("link", name="Build").click()
    settled(page)
    page.get_by_text("Earlier states", exact=True).click()
    row.get_by_role("button", name="Restore").click()
    before = page.locator(".st-key-snapshot_2")
    expect(before).to_be_visible()
    settled(page)
    assert bench.indexes.open(index.path.name).documents["name"].to_pylist() == ["coast.md"]
    before.get_by_role("button", name="Delete").click()
    page.get_by_role("dialog").get_by_role("button", name="Delete").click()
    expect(before).to_have_count(0)
    settled(page)
    assert [state.name for state in bench.snapshots.list(index.path)] == ["coast alone"]
    watched.assert_clean()
