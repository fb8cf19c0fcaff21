"""Compare as a person uses it: a question, two columns, a lost passage, the link, files that show it elsewhere."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from leanrag_core import IndexConfig, Workbench
from tests.browser.conftest import LOADED_FONTS, Server, Watched
from tests.browser.runs import settled
from tests.browser.test_story import TEXT, snap

pytestmark = pytest.mark.browser

QUESTION = "Who built the Marram Point lighthouse?"


def built(home: Path) -> Workbench:
    bench = Workbench.default(home)
    corpus = bench.add_documents("Grey Coast", [("coast.md", TEXT.encode())]).corpus_id
    bench.build(corpus, IndexConfig(cluster_size=4, chunk_tokens=64, overlap_tokens=8))
    return bench


def chunk_rows(page: Page) -> list[list[str]]:
    """The words of both columns' rows of chunks; waits until the browser has drawn them."""
    lists = page.locator(".lr-ckrows")
    expect(lists).to_have_count(2)
    for place in range(2):
        expect(lists.nth(place).locator(".ck").first).to_be_visible()
    return [text.split() for text in lists.all_inner_texts()]


def test_two_columns_are_compared_shared_and_opened_elsewhere(
    server_in: Callable[..., Server], watch: Callable[..., Watched], tmp_path: Path
) -> None:
    bench = built(tmp_path / "home")
    server, watched = server_in(bench.root), watch()
    page = watched.page
    page.goto(f"{server.url}/compare")
    settled(page)
    page.get_by_role("textbox", name="Question").fill(QUESTION)
    page.get_by_role("button", name="Compare", exact=True).click()
    settled(page)
    expect(page.locator(".lr-answer")).to_have_count(2)
    expect(page.locator(".lr-ckrows")).to_have_count(2)
    expect(page.locator(".lr-drawing svg:visible").first).to_be_visible()
    snap(page, "compare")

    # The settings of B: fewer passages; A stays as it was.
    a_rows = page.locator(".lr-ckrows").first.locator(".ck").count()
    page.locator(".st-key-compare_settings_b button").first.click()
    settled(page)
    slider = page.get_by_role("slider", name="Top-C chunks")
    slider.press("Home")
    settled(page)
    page.keyboard.press("Escape")
    settled(page)
    expect(page.locator(".lr-ckrows").nth(1).locator(".ck")).to_have_count(1)
    expect(page.locator(".lr-ckrows").first.locator(".ck")).to_have_count(a_rows)
    assert "b_c=1" in page.url

    # A passage opens in its document, a citation in its drawer.
    page.locator(".lr-ckrows").nth(1).locator(".ck").click()
    expect(page.get_by_role("dialog")).to_have_count(1)
    settled(page)
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)
    page.locator(".lr-answer .chip").first.click()
    expect(page.get_by_role("dialog")).to_have_count(1)
    settled(page)
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)

    # A passage that B lacks is marked; what was tried and finds it is taken over.
    page.get_by_role("radio", name="Missed evidence").click()
    settled(page)
    page.get_by_role("button", name="Mark another passage").click()
    page.get_by_role("searchbox", name=re.compile("Words in a passage")).fill("paraffin")
    page.keyboard.press("Enter")
    settled(page)
    page.locator('[class*="st-key-missed_chunk_"] button').first.click()
    settled(page)
    page.keyboard.press("Escape")
    snap(page, "compare_missed")
    expect(page.locator(".lr-lanename")).to_have_count(2)
    before = page.url
    if page.get_by_role("button", name="Try it").count():
        page.get_by_role("button", name="Try it").first.click()
        settled(page)
        assert page.url != before

    # The link opens the same again.
    page.get_by_role("radio", name="Side by side").click()
    settled(page)
    shown = chunk_rows(page)
    page.goto(page.url)
    settled(page)
    assert chunk_rows(page) == shown

    # Both files.
    page.get_by_role("button", name="Share").click()
    settled(page)
    files = {}
    for name in ("Export as one HTML file", "Save comparison"):
        with page.expect_download() as download:
            page.get_by_role("button", name=name).click()
        files[name] = tmp_path / download.value.suggested_filename
        download.value.save_as(files[name])
    watched.assert_clean()

    exported = watch()
    exported.page.goto(files["Export as one HTML file"].as_uri())
    assert "Source Sans" in str(exported.page.evaluate(LOADED_FONTS))
    expect(exported.page.get_by_role("heading", name="What their contexts share")).to_be_visible()
    expect(exported.page.get_by_text(QUESTION).first).to_be_visible()
    snap(exported.page, "compare_exported")
    exported.foreign[:] = [url for url in exported.foreign if not url.startswith("file:")]
    exported.assert_clean()

    elsewhere = watch(width=1024)
    other = elsewhere.page
    other.goto(f"{server_in(tmp_path / 'other').url}/compare")
    settled(other)
    other.get_by_role("button", name="Open a comparison").click()
    other.locator('input[type="file"]').set_input_files(files["Save comparison"])
    expect(other.get_by_text("Saved comparison.")).to_be_visible()
    settled(other)
    assert chunk_rows(other) == shown
    elsewhere.assert_clean()


def test_on_a_phone_columns_are_tabs_and_nothing_scrolls_sideways(
    server_in: Callable[..., Server], watch: Callable[..., Watched], tmp_path: Path
) -> None:
    bench = built(tmp_path / "home")
    watched = watch(width=390, height=844)
    page = watched.page
    page.goto(f"{server_in(bench.root).url}/compare?q={QUESTION.replace(' ', '+')}")
    settled(page)
    expect(page.locator(".st-key-compare_col_a")).to_be_visible()
    expect(page.locator(".st-key-compare_col_b")).to_be_hidden()
    page.locator(".st-key-compare_pick").get_by_role("radio", name="B").click()
    settled(page)
    expect(page.locator(".st-key-compare_col_b")).to_be_visible()
    expect(page.locator(".st-key-compare_col_a")).to_be_hidden()
    wide = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
    assert wide <= 0
    snap(page, "compare_phone")
    watched.assert_clean()
