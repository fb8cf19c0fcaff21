"""A document is added to a corpus, its index takes it over, and the change is undone: all through the pages."""

from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import expect

from leanrag_core import IndexConfig, Workbench
from tests.browser.conftest import Server, Watched
from tests.browser.runs import settled
from tests.browser.test_story import TEXT, snap

pytestmark = pytest.mark.browser

OWLS = b"The Ural Owl hunts voles in the Carpathian Forest. Milena Dvorak counted the Ural Owl near Poloniny."


def test_an_index_is_updated_through_the_page_and_the_update_is_undone(
    server_in: Callable[[Path], Server], watch: Callable[..., Watched], tmp_path: Path
) -> None:
    bench = Workbench.default(tmp_path / "home")
    corpus_id = bench.add_documents("Grey Coast", [("coast.md", TEXT.encode())]).corpus_id
    bench.build(corpus_id, IndexConfig(cluster_size=4), name="Grey Coast")
    (before,) = bench.indexes.all()
    server, watched, elsewhere = server_in(tmp_path / "home"), watch(), watch()
    page, second = watched.page, elsewhere.page
    second.goto(f"{server.url}/explore?index={before.id}")
    settled(second)
    expect(second.get_by_text(f": {before.layers[0].entities} entities, ")).to_be_visible()
    page.goto(f"{server.url}/library?corpus={corpus_id}")
    settled(page)

    page.get_by_text("Add documents").first.click()
    settled(page)
    page.locator('input[type="file"]').set_input_files([{"name": "owls.txt", "mimeType": "text/plain", "buffer": OWLS}])
    page.get_by_role("button", name="Add 1 file").click()
    expect(page.get_by_text("Indexes of this corpus hold other documents than it does by now: 1.")).to_be_visible()
    settled(page)
    snap(page, "update_1_library")
    page.get_by_role("button", name="Update Grey Coast").click()
    settled(page)

    expect(page.get_by_text("What an update will change")).to_be_visible()
    expect(page.get_by_text("owls.txt").first).to_be_visible()
    snap(page, "update_2_preview")
    page.get_by_role("button", name="Update index").click()
    expect(page.get_by_text("Grey Coast is updated")).to_be_visible(timeout=120_000)
    expect(page.get_by_text("What the last change did").first).to_be_visible()
    settled(page)
    snap(page, "update_3_done")
    (index,) = bench.indexes.all()
    assert bench.indexes.open(index.id).documents["name"].to_pylist() == ["coast.md", "owls.txt"]

    # A choice in another tab draws the index as it is now, its figures in the head of the page included.
    second.get_by_text("Treemap", exact=True).click()
    settled(second)
    updated = bench.indexes.all()[0].layers[0].entities
    assert updated != before.layers[0].entities
    expect(second.get_by_text(f": {updated} entities, ")).to_be_visible()
    elsewhere.assert_clean()

    fold = page.get_by_text("Update and edits")
    if not page.get_by_role("button", name="Undo the last change").is_visible():
        fold.click()
        settled(page)
    expect(page.get_by_text("The index holds the documents of its corpus.")).to_be_visible()
    page.get_by_role("button", name="Undo the last change").click()
    expect(page.get_by_text("The index is as it was before.")).to_be_visible()
    settled(page)
    snap(page, "update_4_undone")
    assert bench.indexes.open(index.id).documents["name"].to_pylist() == ["coast.md"]
    watched.assert_clean()
