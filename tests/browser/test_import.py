"""A graph of another system through the Library page, in a real browser: files, preview, job, question."""

import io
import re
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import Server, Watched
from tests.browser.runs import settled
from tests.importing import folders

pytestmark = pytest.mark.browser


def test_a_folder_of_lightrag_is_imported_through_the_page(
    server_in: Callable[[Path], Server], watch: Callable[..., Watched], tmp_path: Path
) -> None:
    server, watched = server_in(tmp_path / "home"), watch()
    page = watched.page
    page.goto(f"{server.url}/library")
    settled(page)
    page.get_by_role("button", name="Import a graph of another system").click()
    settled(page)

    # Files of no known format are refused with what to do, and none of them stays.
    upload = page.locator(".st-key-import_graph input[type='file']")
    upload.set_input_files([{"name": "notes.txt", "mimeType": "text/plain", "buffer": b"no graph"}])
    page.get_by_role("button", name="Preview").click()
    expect(page.get_by_text("is of no known format")).to_be_visible()
    assert not list((server.home / "imports").iterdir())

    # The working folder as a ZIP file: recognised, counted, previewed.
    folders.lightrag(tmp_path / "bees")
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for path in sorted((tmp_path / "bees").iterdir()):
            archive.write(path, f"bees/{path.name}")
    page.reload()
    settled(page)
    page.get_by_role("button", name="Import a graph of another system").click()
    settled(page)
    upload.set_input_files([{"name": "bees.zip", "mimeType": "application/zip", "buffer": packed.getvalue()}])
    page.get_by_role("button", name="Preview").click()
    expect(page.get_by_text("Rows that name a chunk that is not there")).to_be_visible()
    expect(page.locator(".lr-tile", has_text="Entities")).to_contain_text("3")
    expect(page.locator(".lr-tile", has_text="Entities")).to_contain_text("LightRAG")
    expect(page.get_by_text("2 of them that are extractions")).to_be_visible()
    settled(page)

    # The job: its progress on Build, its index in the list; what was uploaded is gone.
    page.get_by_label("Name of the index").fill("My bees")
    page.get_by_role("button", name="Import", exact=True).click()
    expect(page).to_have_url(re.compile("/build.*job="))
    expect(page.get_by_text("My bees is built")).to_be_visible(timeout=240_000)
    assert not list((server.home / "imports").iterdir())
    settled(page)
    expect(page.get_by_test_id("stSidebar").get_by_role("combobox", name="Index")).to_have_value("My bees")
    page.get_by_role("button", name="Ask", exact=True).first.click()
    settled(page)
    expect(page.get_by_text("My bees").first).to_be_visible()
    page.get_by_label("Question").fill("What weakens honey bees?")
    page.get_by_role("button", name="Ask", exact=True).last.click()
    settled(page)
    expect(page.get_by_text("The Varroa mite weakens honey bees.").first).to_be_visible()
    watched.assert_clean()
