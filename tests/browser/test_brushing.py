"""An experiment of two variants made by hand, and what is brushed in one chart selected in the others and in tables."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.conftest import Server, Watched
from tests.browser.runs import settled
from tests.browser.test_compare import built
from tests.browser.test_evaluate import question_file, tab, table_rows
from tests.browser.test_looks import assert_within_reach
from tests.browser.test_story import snap

pytestmark = pytest.mark.browser

VARIANTS = ("LeanRAG, C 5", "LeanRAG, C 1", "Naive RAG (vector)")


def brush(page: Page, figure: Locator) -> None:
    """Draw a box around the whole figure."""
    figure.scroll_into_view_if_needed()
    box = figure.bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + 3, box["y"] + 3)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    expect(figure.locator(".brushing")).to_be_visible()
    page.mouse.move(box["x"] + box["width"] - 3, box["y"] + box["height"] - 3)
    page.mouse.up()
    settled(page)


def selection(page: Page) -> str:
    return page.locator(".lr-brush").inner_text()


def test_two_variants_are_run_from_the_form_and_brushed(
    server_in: Callable[..., Server], watch: Callable[..., Watched], tmp_path: Path
) -> None:
    bench = built(tmp_path / "home")
    bench.question_sets.add_file("coast.jsonl", question_file(), corpus_id=bench.indexes.all()[0].corpus_id)
    server, watched = server_in(bench.root), watch()
    page = watched.page
    page.goto(f"{server.url}/evaluate")
    settled(page)

    # The list: BM25 goes, LeanRAG is duplicated, and the second one takes fewer chunks.
    page.get_by_role("button", name="Run experiment").click()
    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_text("Forecast")).to_be_visible()
    settled(page)
    dialog.locator(".st-key-experiment_remove_run3 button:visible").first.click()
    settled(page)
    dialog.locator(".st-key-experiment_duplicate_run1 button:visible").first.click()
    settled(page)
    expect(dialog.get_by_text("LeanRAG (2) has the settings of LeanRAG")).to_be_visible()
    expect(dialog.get_by_role("button", name="Start")).to_be_disabled()
    for value in ("2", "1"):
        field = dialog.locator(".st-key-experiment_run_options").get_by_role("spinbutton", name="Top-C chunks")
        field.fill(value)
        field.press("Enter")
        settled(page)
        expect(dialog.locator(".lr-run b")).to_have_text(["LeanRAG, C 5", f"LeanRAG, C {value}", "Naive RAG (vector)"])
    expect(dialog.locator(".lr-panelrow.differs")).to_have_text(re.compile("Top-C chunks.*LeanRAG, C 5 has 5", re.S))
    snap(page, "evaluate_form_variants")
    dialog.get_by_role("combobox", name=re.compile("Question set")).click()
    page.get_by_role("option", name=re.compile("coast, 3 questions")).click()
    settled(page)
    dialog.get_by_role("button", name="Start").click()
    expect(page.get_by_role("button", name="Show the results")).to_be_visible(timeout=120_000)
    settled(page)
    page.get_by_role("button", name="Show the results").click()
    settled(page)
    rows = "\n".join(table_rows(page))
    assert all(name in rows for name in VARIANTS)
    everything = table_rows(page)

    # A box around the dots selects questions; the table is of these alone, and the list below has them. Twice.
    dots = page.locator(".st-key-figure_question_dots svg:visible")
    n_dots = dots.locator(".pick").count()
    assert n_dots == 2, "the questions with gold"
    for _ in range(2):
        brush(page, dots)
        assert "2 of 3 questions" in selection(page)
        expect(page.locator('[class*="st-key-question_row_"]')).to_have_count(2)
        expect(dots.locator('.pick[aria-pressed="true"]')).to_have_count(2)
        page.locator(".st-key-brush_clear button:visible").first.click()
        settled(page)
        expect(page.locator(".lr-brush")).to_have_count(0)
        assert table_rows(page) == everything

    # Runs: a click on a dot of the front, by keyboard the next one; both are in the table, the third is pale.
    front = page.locator(".st-key-figure_evaluate_front svg:visible")
    front.locator('.pick[data-pick="leanrag"]').focus()
    page.keyboard.press("Enter")
    settled(page)
    expect(front.locator(".pick")).to_have_count(3)
    assert "1 of 3 runs selected" in selection(page)
    front.locator('.pick[data-pick="leanrag-2"]').focus()
    page.keyboard.press("Enter")
    settled(page)
    assert "2 of 3 runs selected" in selection(page)
    expect(page.locator("tr.pale")).to_have_count(1)
    expect(page.locator("tr.pale")).to_contain_text("Naive RAG")
    dots.locator(".pick").first.click()
    settled(page)
    assert "2 of 3 runs, 1 of 3 questions selected" in selection(page)
    assert_within_reach(page)
    snap(page, "evaluate_brushed")

    # The link has it, also for the list of questions.
    page.reload()
    settled(page)
    assert "2 of 3 runs, 1 of 3 questions selected" in selection(page)
    tab(page, "By question")
    expect(page.locator('[class*="st-key-question_row_"]')).to_have_count(1)

    page.locator(".st-key-brush_clear button:visible").first.click()
    settled(page)
    expect(page.locator('[class*="st-key-question_row_"]')).to_have_count(3)

    # Without a mouse: by name.
    page.get_by_role("button", name="Select by name").click()
    page.get_by_role("combobox", name=re.compile("Questions")).click()
    page.get_by_role("option", name=re.compile("lighthouse")).click()
    settled(page)
    expect(page.locator('[class*="st-key-question_row_"]')).to_have_count(1)
    assert "1 of 3 questions selected" in selection(page)
    watched.assert_clean()
