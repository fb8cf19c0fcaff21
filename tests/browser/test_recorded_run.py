"""A run is saved in a real browser, and opened on another machine that has neither its index nor a model."""

from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from leanrag_core import IndexConfig, Workbench
from tests.browser.conftest import Server, Watched
from tests.browser.runs import settled
from tests.browser.test_story import TEXT, snap

pytestmark = pytest.mark.browser

QUESTION = "Who built the Marram Point lighthouse?"


def drawing(page: Page) -> list[str]:
    """Return name, shape and place of everything in the figure, but for the signs of what came by the climb alone:
    those need the index."""
    settled(page)
    page.eval_on_selector_all(".lr-graph .climb-sign", "all => all.forEach((sign) => sign.remove())")
    shapes: list[str] = page.eval_on_selector_all(
        ".lr-graph svg *",
        "all => all.map(one => one.tagName + (one.getAttribute('d') ?? one.textContent.replaceAll('▲ ', '')))",
    )
    return shapes


def test_a_run_is_saved_and_shown_again_elsewhere(
    server_in: Callable[..., Server], watch: Callable[..., Watched], tmp_path: Path
) -> None:
    bench = Workbench.default(tmp_path / "home")
    corpus = bench.add_documents("Grey Coast", [("coast.md", TEXT.encode())]).corpus_id
    bench.build(corpus, IndexConfig(cluster_size=4, chunk_tokens=64, overlap_tokens=8))
    watched = watch()
    page = watched.page
    page.goto(f"{server_in(bench.root).url}/ask?n=6&q={QUESTION.replace(' ', '+')}")
    settled(page)
    with page.expect_download() as download:
        page.get_by_role("button", name="Save this run").click()
    saved = tmp_path / download.value.suggested_filename
    download.value.save_as(saved)
    assert saved.name == "run Who built the Marram Point lighthouse.json"
    before, answer = drawing(page), page.locator(".lr-answer").inner_text()

    elsewhere = watch()
    other = elsewhere.page
    other.goto(f"{server_in(tmp_path / 'other').url}/ask")
    settled(other)
    other.get_by_role("button", name="Open a run").click()
    other.locator('input[type="file"]').set_input_files(saved)
    expect(other.get_by_text("Recorded run of Grey Coast.")).to_be_visible()
    settled(other)
    assert drawing(other) == before
    assert other.locator(".lr-answer").inner_text() == answer
    snap(other, "recorded_run")
    expect(other.get_by_role("slider", name="Top-N seeds")).to_have_count(0)
    other.locator(".lr-answer .chip").first.click()
    expect(other.get_by_role("dialog").get_by_text("built by the engineer Ada Thornbury in 1861").first).to_be_visible()
    settled(other)
    snap(other, "recorded_citation")
    other.keyboard.press("Escape")
    expect(other.get_by_role("dialog")).to_have_count(0)
    other.get_by_role("button", name="Close the run").click()
    settled(other)
    expect(other.get_by_text("Recorded run of")).to_have_count(0)
    watched.assert_clean()
    elsewhere.assert_clean()
