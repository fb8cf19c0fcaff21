"""What a person does, in a real browser on a real server: from a file to a cited passage."""

import os
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import Server, Watched
from tests.browser.runs import settled

pytestmark = pytest.mark.browser

SHOTS = os.environ.get("LEANRAG_SHOTS")  # a folder to keep screenshots in, for a look
TEXT = """# Lighthouses of the Grey Coast

The Marram Point lighthouse was built by the engineer Ada Thornbury in 1861. It stands on Marram Point and warns ships
of the Teeth, a reef that sank the barque Corisande in 1859. Ada Thornbury also built the Holm Rock lighthouse in 1868.

## Lamps

The Marram Point lighthouse burned colza oil until 1902. In 1902 the Coast Board replaced colza oil by paraffin.
The Fresnel lens of the Marram Point lighthouse was ground in Birmingham by Chance Brothers. Paraffin burned brighter
than colza oil, and the light could be seen from nineteen miles.

## Keepers

Each lighthouse had three keepers. The keepers of Holm Rock were relieved by boat every four weeks, when the weather
allowed. In January 1894 a gale kept the keepers of Holm Rock on the rock for eleven weeks. The Coast Board then built
a larder at Holm Rock and gave each lighthouse a carrier pigeon loft.

## The end

The Coast Board withdrew the last keepers in 1988. An electric lamp now burns in the Marram Point lighthouse. The
Holm Rock lighthouse is dark, and cormorants nest in its lantern.
"""


def snap(page: Page, name: str) -> None:
    if SHOTS:
        page.wait_for_timeout(700)
        page.screenshot(path=f"{SHOTS}/{name}.png")


def test_a_file_becomes_an_index_and_a_question_ends_at_its_passage(
    server_in: Callable[..., Server], watch: Callable[..., Watched], tmp_path: Path
) -> None:
    server, watched = server_in(tmp_path / "home", first_build=True, command=True), watch()
    page = watched.page
    page.goto(server.url)
    settled(page)
    expect(page).to_have_url(re.compile("/library"))
    snap(page, "1_library_first")

    # Upload: a good file, its repeat and one that cannot be read; the good one goes in.
    page.locator('input[type="file"]').set_input_files(
        [
            {"name": "coast.md", "mimeType": "text/markdown", "buffer": TEXT.encode()},
            {"name": "again.md", "mimeType": "text/markdown", "buffer": TEXT.encode()},
            {"name": "broken.pdf", "mimeType": "application/pdf", "buffer": b"not a pdf"},
        ]
    )
    page.get_by_label("Name of the new corpus").fill("Grey Coast")
    page.get_by_role("button", name="Add 3 files").click()
    expect(
        page.get_by_text("1 of 3 documents could not be read. 1 document added. 1 duplicate is left out.")
    ).to_be_visible()
    expect(page.get_by_text("broken.pdf").first).to_be_visible()
    expect(page.get_by_text("again.md").first).to_be_visible()
    expect(page.locator(".lr-text").get_by_text("Each lighthouse had three keepers")).to_be_visible()
    settled(page)
    snap(page, "2_library_uploaded")

    # Build: the job is shown, survives a reload, and ends with a report.
    page.get_by_role("button", name="Build an index").click()
    settled(page)
    expect(page.get_by_role("heading", name="Build")).to_be_visible()
    snap(page, "3_build_form")
    page.get_by_role("button", name="Build index").click()
    # Its own job, not the sample's, which may be under way.
    own = page.get_by_text("from the corpus Grey Coast").or_(page.get_by_text("Also running")).first
    expect(own).to_be_visible(timeout=30_000)
    expect(page.get_by_role("progressbar").first).to_be_visible()
    expect(page).to_have_url(re.compile("job="))
    settled(page)
    snap(page, "4_build_live")
    page.reload()
    settled(page)
    expect(page.get_by_text("Grey Coast is built")).to_be_visible(timeout=240_000)
    settled(page)
    snap(page, "5_build_done")
    fold, read = (
        page.get_by_text("Conflicts between quotes", exact=True),
        page.get_by_text(re.compile("Sentences read: [0-9]+;")),
    )
    for _ in range(2):
        fold.click()
        expect(read).to_be_visible()
        settled(page)
        fold.click()
        expect(read).to_be_hidden()
        settled(page)

    # Explore: a click on a block opens it.
    page.get_by_role("button", name="Explore").first.click()
    settled(page)
    expect(page.locator(".lr-kind").first).to_be_visible()
    block = page.locator(".lr-blocks .block").nth(1)
    expect(block).to_be_visible()
    snap(page, "6_explore")
    block.click()
    expect(page).to_have_url(re.compile("node="))
    settled(page)
    page.get_by_role("combobox", name="Find").fill("Holm Rock")
    expect(page.get_by_role("option").first).to_contain_text("Holm Rock")
    expect(page.locator(".lr-blocks .block.lit").first).to_be_visible()
    settled(page)
    snap(page, "7_explore_found")

    # Ask: the answer's citation opens the passage in its document.
    page.get_by_role("link", name="Ask").click()
    settled(page)
    page.get_by_label("Question").fill("Who built the Marram Point lighthouse in 1861?")
    page.get_by_role("button", name="Ask", exact=True).click()
    expect(page.locator(".lr-answer .from").first).to_have_text("source chunk")
    chip = page.locator(".lr-answer .chip[data-section=chunks]").first
    expect(chip).to_be_visible()
    expect(page.locator(".lr-graph .node[data-role=seed]").first).to_be_visible()
    expect(page.get_by_text("Extractive answer: sentences of the context, no language model;")).to_be_visible()
    settled(page)
    snap(page, "8_ask")
    chip.click()
    drawer = page.get_by_role("dialog")
    expect(drawer.locator(".cited").first).to_be_visible()
    expect(drawer.locator(".lr-text")).to_contain_text("Ada Thornbury in 1861")
    snap(page, "9_passage")
    page.keyboard.press("Escape")
    expect(drawer).to_have_count(0)

    # A slider: retrieval runs again at once and says what changed; the URL holds it.
    slider = page.get_by_role("slider", name="Top-N seeds")
    slider.focus()
    for _ in range(4):
        page.keyboard.press("ArrowLeft")
    expect(page.get_by_text("What changed")).to_be_visible()
    expect(page).to_have_url(re.compile("n=6"))
    settled(page)
    expect(page.locator(".lr-graph .node[data-role=seed]")).to_have_count(6)
    snap(page, "10_what_changed")

    # A node of the graph by keyboard; a step; the same as a table.
    page.locator(".lr-graph .node").first.focus()
    page.keyboard.press("Enter")
    expect(page.get_by_role("button", name="Open in Explore")).to_be_visible()
    page.locator(".lr-play").get_by_text("2 Climb").click()
    expect(page).to_have_url(re.compile("step=climb"))
    settled(page)
    snap(page, "11_step")

    # The link is the state: another visitor sees the same.
    other = watch()
    other.page.goto(page.url)
    settled(other.page)
    expect(other.page.locator(".lr-graph .node[data-role=seed]")).to_have_count(6)
    expect(other.page.locator(".lr-answer .chip[data-section=chunks]").first).to_be_visible()

    watched.assert_clean()
    other.assert_clean()
