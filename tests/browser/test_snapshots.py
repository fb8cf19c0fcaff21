"""An index is updated; its earlier state is named, opened, asked, compared and restored: all through the pages."""

import re
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


def test_an_earlier_state_is_opened_compared_and_restored(
    server_in: Callable[[Path], Server], watch: Callable[..., Watched], tmp_path: Path
) -> None:
    bench = Workbench.default(tmp_path / "home")
    corpus_id = bench.add_documents("Grey Coast", [("coast.md", TEXT.encode())]).corpus_id
    index = bench.build(corpus_id, IndexConfig(cluster_size=4), name="Grey Coast")
    assert index.path is not None
    bench.add_documents(corpus_id, [("owls.txt", OWLS)])
    evidence = (Evidence("owls.txt", "The Ural Owl hunts voles"),)
    questions = [GoldQuestion("1", "What does the Ural Owl hunt?", ("voles",), evidence)]
    bench.question_sets.add("Owls", questions, corpus_id=corpus_id)
    server, watched = server_in(tmp_path / "home"), watch()
    page = watched.page
    page.goto(f"{server.url}/build")
    settled(page)
    page.get_by_text("Update and edits").click()
    page.get_by_role("button", name="Update index").click()
    expect(page.get_by_text("Grey Coast is updated")).to_be_visible(timeout=120_000)
    settled(page)

    page.get_by_text("Earlier states", exact=True).click()
    expect(page.get_by_text("Before an update: documents added 1")).to_be_visible()
    for name in ("with owls", "with owls again"):  # a control is used twice
        page.get_by_label("Name of the state").first.fill(name)
        page.get_by_label("Name of the state").first.press("Enter")
        settled(page)
        page.get_by_role("button", name="Keep the present state").click()
        expect(
            page.locator(".st-key-index_snapshots b, .lr-small b").filter(has_text=re.compile(f"{name}.?$"))
        ).to_be_visible()
    settled(page)
    row = page.locator(".st-key-snapshot_1")
    row.scroll_into_view_if_needed()
    snap(page, "snapshots_1_listed")
    for name in ("before the owls", "coast alone"):
        row.get_by_role("button", name=re.compile("Keep under a name|Rename")).click()
        field = page.get_by_label("Name of the state").last
        field.fill(name)
        field.press("Enter")
        settled(page)
        page.get_by_role("button", name="Keep", exact=True).click()
        expect(row.get_by_text(name)).to_be_visible()
        page.keyboard.press("Escape")
        settled(page)

    for _ in range(2):
        row.get_by_role("button", name="Compare with the present state").click()
        expect(page.get_by_text("Since then:")).to_be_visible()
        settled(page)
        row.get_by_role("button", name="Compare with the present state").click()
        expect(page.get_by_text("Since then:")).to_have_count(0)
        settled(page)
    row.get_by_role("button", name="Compare with the present state").click()
    page.get_by_role("button", name="Compare recall").click()
    expect(page.get_by_text("Questions won: 1.")).to_be_visible()
    settled(page)
    page.get_by_text("Questions won: 1.").scroll_into_view_if_needed()
    snap(page, "snapshots_2_compared")
    page.set_viewport_size({"width": 390, "height": 900})
    settled(page)
    row.scroll_into_view_if_needed()
    snap(page, "snapshots_3_narrow")
    page.set_viewport_size({"width": 1440, "height": 900})

    row.get_by_role("button", name="Open", exact=True).click()
    expect(page.get_by_text("This is an earlier state of")).to_be_visible()
    settled(page)
    snap(page, "snapshots_4_explore")
    assert "earlier." in page.url
    page.goto(page.url.replace("/explore", "/ask"))
    expect(page.get_by_text("This is an earlier state of")).to_be_visible()
    settled(page)
    snap(page, "snapshots_5_ask")
    page.get_by_role("button", name="Open the present state").click()
    expect(page.get_by_text("This is an earlier state of")).to_have_count(0)
    settled(page)

    page.goto(f"{server.url}/build")
    settled(page)
    page.get_by_text("Earlier states", exact=True).click()
    page.locator(".st-key-snapshot_1").get_by_role("button", name="Restore").click()
    expect(page.get_by_text("The state is restored.")).to_be_visible()
    settled(page)
    assert bench.indexes.open(index.path.name).documents["name"].to_pylist() == ["coast.md"]
    expect(page.get_by_text("Before another state was restored.")).to_be_visible()
    page.locator(".st-key-snapshot_4").get_by_role("button", name="Restore").click()
    expect(page.locator(".st-key-snapshot_5")).to_be_visible()
    settled(page)
    assert bench.indexes.open(index.path.name).documents["name"].to_pylist() == ["coast.md", "owls.txt"]
    for number in (2, 3):
        page.locator(f".st-key-snapshot_{number}").get_by_role("button", name="Delete").click()
        expect(page.get_by_text("Delete this earlier state?")).to_be_visible()
        if number == 2:
            snap(page, "snapshots_6_delete")
        page.get_by_role("dialog").get_by_role("button", name="Delete").click()
        expect(page.locator(f".st-key-snapshot_{number}")).to_have_count(0)
        settled(page)
    watched.assert_clean()
