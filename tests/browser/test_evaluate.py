"""Evaluate as a person uses it: a question set, an experiment, its table, its questions, files of a judge, the link."""

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from pages.evaluate.experiments import TABS
from tests.browser.conftest import Server, Watched
from tests.browser.runs import settled
from tests.browser.test_compare import built
from tests.browser.test_looks import assert_within_reach
from tests.browser.test_story import snap

pytestmark = pytest.mark.browser

GOLD = (
    ("Who built the Marram Point lighthouse?", "fact", "Ada Thornbury", "Ada Thornbury in 1861"),
    ("What fuelled the lamp?", "fact", "paraffin", "paraffin"),
    ("What does the harbour weigh?", "unanswerable", "", ""),
)


def question_file() -> bytes:
    """Return questions with gold; quotes that the text does not have make a question that no strategy answers."""
    lines = []
    for place, (question, kind, answer, quote) in enumerate(GOLD):
        cells = {"id": f"q{place}", "question": question, "type": kind}
        if quote:
            cells |= {"answers": answer, "document": "coast.md", "quote": quote}
        lines.append(json.dumps(cells))
    return "\n".join(lines).encode()


def judge_files(folder: Path) -> list[Path]:
    """Return replies of a judge that always takes the answer shown first, twice: for either order."""
    reply = {name: {"Winner": "Answer 1", "Explanation": "It comes first."} for name in ("Diversity", "Overall Winner")}
    path = folder / "mix_eval_hi_naive_result_openai.jsonl"
    path.write_text("\n".join(json.dumps(reply) for _ in range(20)), encoding="utf-8")
    return [path]


def tab(page: Page, name: str) -> None:
    page.get_by_role("tab", name=name).click()
    settled(page)


def table_rows(page: Page) -> list[str]:
    """Return the lines of the table of scores."""
    table = page.get_by_role("table", name="Scores of the runs")
    expect(table).to_be_visible()
    return table.locator("tr").all_inner_texts()


def test_an_experiment_is_run_read_audited_and_opened_again_by_its_link(
    server_in: Callable[..., Server], watch: Callable[..., Watched], tmp_path: Path
) -> None:
    bench = built(tmp_path / "home")
    server, watched = server_in(bench.root), watch()
    page = watched.page
    page.goto(f"{server.url}/evaluate?tab=sets")
    settled(page)

    # Questions come from a file.
    page.get_by_role("button", name="Upload").click()
    page.locator('input[type="file"]').set_input_files(
        {"name": "coast.jsonl", "mimeType": "application/jsonl", "buffer": question_file()}
    )
    expect(page.get_by_text("3 questions, 2 with gold evidence")).to_be_visible()
    settled(page)
    page.get_by_role("button", name="Add question set").click()
    settled(page)
    expect(page.get_by_role("button", name="Add question set")).to_have_count(0)  # nothing lies over the new set
    expect(page.locator(".lr-h3", has_text="coast")).to_be_visible()
    snap(page, "evaluate_sets")

    # An experiment runs as a job; the page shows it and then its results.
    page.get_by_role("button", name="Run experiment").click()
    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_text("Forecast")).to_be_visible()
    settled(page)
    dialog.get_by_role("combobox", name=re.compile("Question set")).click()
    page.get_by_role("option", name=re.compile("coast, 3 questions")).click()
    settled(page)
    dialog.get_by_role("textbox", name="Title").fill("Coast, three strategies")
    page.keyboard.press("Tab")
    settled(page)
    snap(page, "evaluate_form")
    dialog.get_by_role("button", name="Start").click()
    expect(dialog).to_have_count(0)
    settled(page)
    # The next one is being written when this one ends: the form stays, and the words that are not yet sent.
    page.get_by_role("button", name="Run experiment").click()
    expect(dialog.get_by_text("Forecast")).to_be_visible()
    settled(page)
    dialog.get_by_role("textbox", name="Title").fill("Coast, once more")
    expect(page.locator(".st-key-job_panel .ended")).to_have_count(1, timeout=120_000)
    settled(page)
    expect(dialog.get_by_role("textbox", name="Title")).to_have_value("Coast, once more")
    page.keyboard.press("Escape")
    expect(dialog).to_have_count(0)
    expect(page.get_by_role("button", name="Show the results")).to_be_visible()
    settled(page)
    page.get_by_role("button", name="Show the results").click()
    settled(page)
    rows = table_rows(page)
    assert len(rows) == 4, "a head and three strategies"
    assert any(row.startswith("A") and "LeanRAG" in row for row in rows)
    expect(page.locator(".lr-finding").first).to_contain_text("LeanRAG")
    assert_within_reach(page)
    snap(page, "evaluate_results")

    # Sorted by another measure, for one kind of question.
    page.get_by_role("combobox", name=re.compile("Sorted by")).click()
    page.get_by_role("option", name="Context tokens").click()
    settled(page)
    expect(page.locator("th.sorted")).to_contain_text("Context tokens")
    page.get_by_role("radio", name=re.compile("Fact 2")).click()
    settled(page)
    assert "sort=context-tokens" in page.url
    assert "kind=fact" in page.url
    sorted_rows = table_rows(page)

    # Question by question; one opens in Compare.
    tab(page, "By question")
    page.locator('[class*="st-key-question_row_"] button').first.click()
    settled(page)
    expect(page.locator(".st-key-question_opened")).to_be_visible()
    snap(page, "evaluate_questions")

    # The history and the link show the same again.
    tab(page, "History")
    expect(page.locator('[class*="st-key-history_table"]')).to_be_visible()
    tab(page, "Results")
    link = page.url
    other = watch()
    other.page.goto(link)
    settled(other.page)
    assert table_rows(other.page) == sorted_rows

    # Files of a judge that always takes the first answer.
    tab(page, "Judge audit")
    page.get_by_role("button", name="Upload judge files").click()
    page.locator('input[type="file"]').first.set_input_files(judge_files(tmp_path))
    expect(page.locator(".lr-verdict")).to_contain_text("cannot tell hi from naive: 100 %")
    settled(page)
    page.keyboard.press("Escape")
    settled(page)
    expect(page.locator(".lr-pairs")).to_contain_text("cannot tell")
    expect(page.locator(".st-key-figure_audit_bias svg:visible")).to_have_count(1)
    assert_within_reach(page)
    page.get_by_text("All judgements, 20").click()
    settled(page)
    expect(page.locator(".st-key-judgements_table")).to_be_visible()
    snap(page, "evaluate_audit")

    # The report is one file that asks for nothing.
    tab(page, "Results")
    page.get_by_role("button", name="Export").click()
    with page.expect_download() as download:
        page.get_by_role("button", name="Report as HTML").click()
    report = tmp_path / "report.html"
    download.value.save_as(report)
    watched.assert_clean()
    other.assert_clean()
    exported = watch()
    exported.page.goto(report.as_uri())
    expect(exported.page.get_by_role("heading", name="Coast, three strategies")).to_be_visible()
    exported.foreign[:] = [url for url in exported.foreign if not url.startswith("file:")]
    exported.assert_clean()


def test_a_sweep_is_run_and_a_point_of_it_chosen_saved_and_asked(
    server_in: Callable[..., Server], watch: Callable[..., Watched], tmp_path: Path
) -> None:
    bench = built(tmp_path / "home")
    bench.question_sets.add_file("coast.jsonl", question_file(), corpus_id=bench.indexes.all()[0].corpus_id)
    server, watched = server_in(bench.root), watch()
    page = watched.page
    page.goto(f"{server.url}/evaluate?tab=sweeps")
    settled(page)
    page.get_by_role("button", name="Run sweep").click()
    dialog = page.get_by_role("dialog")
    settled(page)
    dialog.get_by_role("textbox", name=re.compile("^clustersize")).fill("4, 8")
    page.keyboard.press("Tab")
    settled(page)
    dialog.get_by_role("textbox", name=re.compile("^tau")).fill("1, 2")
    page.keyboard.press("Tab")
    expect(dialog.get_by_text("4 points")).to_be_visible()
    settled(page)
    snap(page, "evaluate_sweep_form")
    dialog.get_by_role("button", name="Start").click()
    # Until then the page shows a sweep of 25 points that comes with the program.
    expect(page.locator(".st-key-figure_sweep_heat svg:visible .pick")).to_have_count(4, timeout=120_000)
    settled(page)
    page.get_by_role("button", name="Close").click()
    settled(page)

    # A cell that a person picks is the chosen point of all pictures, and in the link.
    heat = page.locator(".st-key-figure_sweep_heat svg:visible")
    expect(heat.locator(".pick")).to_have_count(4)
    heat.locator('.pick[aria-pressed="false"]').first.click()
    settled(page)
    point = heat.locator('.pick[aria-pressed="true"]').get_attribute("data-pick")
    assert point
    assert re.search(r"[?&]point=", page.url)
    front = page.locator(".st-key-figure_sweep_front svg:visible")
    assert front.locator('.pick[aria-pressed="true"]').get_attribute("data-pick") == point
    assert_within_reach(page)
    snap(page, "evaluate_sweep")

    # By keyboard as well.
    other = heat.locator('.pick[aria-pressed="false"]').first
    other.focus()
    page.keyboard.press("Enter")
    settled(page)
    assert heat.locator('.pick[aria-pressed="true"]').get_attribute("data-pick") != point

    # Its settings become a preset, and its index is asked.
    page.get_by_role("button", name="Save as preset").first.click()
    settled(page)
    page.get_by_role("textbox", name="Name of the preset").fill("Small clusters")
    page.keyboard.press("Tab")
    settled(page)
    page.locator(".st-key-sweep_save_preset button").click()
    settled(page)
    assert [preset.title for preset in bench.presets.with_shipped()][-1] == "Small clusters"
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Open in Ask").click()
    expect(page).to_have_url(re.compile("/ask"))
    settled(page)
    watched.assert_clean()
    nothing_but_tables_scrolls_sideways(watch(width=390, height=844, dark=True), server)


def nothing_but_tables_scrolls_sideways(watched: Watched, server: Server) -> None:
    """Open each tab on a phone."""
    page = watched.page
    page.goto(f"{server.url}/evaluate?tab=results")
    settled(page)
    tabs = page.get_by_test_id("stTabs").first.get_by_role("tab")
    expect(tabs).to_have_count(len(TABS))
    for place, name in enumerate(TABS):
        tabs.nth(place).click()
        settled(page)
        expect(tabs.nth(place)).to_have_attribute("aria-selected", "true")
        main = page.get_by_test_id("stMain")  # the part of the document that scrolls
        assert main.evaluate("main => main.scrollWidth - main.clientWidth") <= 0, name
    page.set_viewport_size({"width": 820, "height": 1180})  # a tablet: no column for a list of a few letters a line
    tabs.first.click()
    settled(page)
    expect(page.locator(".st-key-evaluate_pick").get_by_role("combobox")).to_be_visible()
    expect(page.locator(".st-key-evaluate_list_column")).to_be_hidden()
    watched.assert_clean()
