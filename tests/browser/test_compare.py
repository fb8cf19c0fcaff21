"""Compare as a person uses it: a question, two columns, a lost passage, the link, files that show it elsewhere."""

import atexit
import re
import shutil
import tempfile
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from leanrag_core import IndexConfig, Workbench
from tests.browser.conftest import LOADED_FONTS, Server, Watched
from tests.browser.runs import excess_width, settled
from tests.browser.test_story import TEXT, snap

pytestmark = pytest.mark.browser

QUESTION = "Who built the Marram Point lighthouse?"


@cache
def _built_once() -> Path:
    folder = Path(tempfile.mkdtemp(prefix="leanrag-coast-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    bench = Workbench.default(folder)
    corpus = bench.add_documents("Grey Coast", [("coast.md", TEXT.encode())]).corpus_id
    bench.build(corpus, IndexConfig(cluster_size=4, chunk_tokens=64, overlap_tokens=8))
    return folder


def built(home: Path) -> Workbench:
    """Return a home with an index of the story, which is built once in a process."""
    return Workbench.default(Path(shutil.copytree(_built_once(), home)))


def chunk_rows(page: Page) -> list[list[str]]:
    """Return the words of both columns' rows of chunks, once the browser has drawn them."""
    lists = page.locator(".lr-ckrows")
    expect(lists).to_have_count(2)
    for place in range(2):
        expect(lists.nth(place).locator(".ck").first).to_be_visible()
    return [text.split() for text in lists.all_inner_texts()]


def fill(page: Page, setting: str, value: str) -> None:
    """Write a value into the panel of settings."""
    field = page.locator(".st-key-compare_panel").get_by_role("spinbutton", name=setting)
    field.fill(value)
    field.press("Enter")
    settled(page)


def names(page: Page) -> list[str]:
    """Return what the columns are called."""
    return page.locator(".lr-colhead b").all_inner_texts()


def go(page: Page, name: str) -> None:
    page.get_by_role("link", name=name, exact=True).click()
    expect(page.get_by_role("heading", name=name, exact=True, level=1)).to_be_visible()
    settled(page)


def press(page: Page, button: str, *, exact: bool = False) -> None:
    page.get_by_role("button", name=button, exact=exact).click()
    settled(page)


def test_a_column_is_tried_with_other_settings_left_and_kept(
    server_in: Callable[..., Server], watch: Callable[..., Watched], tmp_path: Path
) -> None:
    bench = built(tmp_path / "home")
    watched = watch()
    page = watched.page
    panel, ask = page.locator(".st-key-compare_panel"), page.get_by_text("not kept")
    page.goto(f"{server_in(bench.root).url}/compare?b_strategy=bm25")
    settled(page)
    assert len(names(page)) == 2, "what is compared is seen before a question is asked"
    page.get_by_role("textbox", name="Question").fill(QUESTION)
    press(page, "Compare", exact=True)

    # Two clicks and a number: both answers of LeanRAG stand beside each other.
    page.locator(".st-key-compare_duplicate_a button:visible").first.click()
    settled(page)
    fill(page, "clustersize", "2")
    press(page, "Apply to C")
    expect(page.locator(".lr-colhead b").nth(1)).to_have_text("clustersize 2")
    assert names(page)[0] == "clustersize 4"
    cut = """heads => heads.filter(head => {
        const text = document.createRange();
        text.selectNodeContents(head);
        return text.getBoundingClientRect().width > head.getBoundingClientRect().width + .001;
    }).map(head => head.textContent)"""
    variants = page.locator(".lr-colhead.variant b")
    expect(variants).to_have_count(2)
    assert variants.evaluate_all(cut) == [], "tags give way before names"
    assert "c_ix_cluster_size=2" in page.url
    expect(page.locator(".lr-answer")).to_have_count(3)
    snap(page, "compare_variants")
    (trial,) = bench.trials.all()
    assert trial.summary.config.cluster_size == 2

    # The same again with another value, by key; leaving asks about both once, and one page alone.
    fill(page, "clustersize", "3")
    expect(page.get_by_role("button", name="Apply to C")).to_be_focused()
    page.keyboard.press("Enter")
    settled(page)
    expect(page.locator(".lr-colhead b").nth(1)).to_have_text("clustersize 3")
    page.keyboard.press("Escape")
    expect(panel).to_have_count(0)
    settled(page)
    for size, answer in ((3, "Leave as it is"), (2, "Keep as index")):
        if size == 2:
            page.locator(".st-key-compare_settings_c button:visible").first.click()
            settled(page)
            fill(page, "clustersize", "2")
            press(page, "Apply to C")
            page.locator(".st-key-compare_panel_close button:visible").click()
            expect(panel).to_have_count(0)
            settled(page)
        go(page, "Library")
        expect(ask).to_contain_text(f"Grey Coast, clustersize {size}")
        snap(page, "compare_left_with_trial")
        press(page, answer)
        expect(ask).to_have_count(0)
        go(page, "Compare")
    go(page, "Library")
    expect(ask).to_have_count(0)
    go(page, "Compare")
    assert sorted(summary.config.cluster_size for summary in bench.indexes.all()) == [2, 4]

    # Back to what A has: it is said that nothing is left to compare, as long as the settings are not open again.
    same = page.get_by_text("C is now the same as A.")
    expect(same).to_have_count(0)
    page.locator(".st-key-compare_settings_c button:visible").first.click()
    settled(page)
    press(page, "Same as A")
    press(page, "Apply to C")
    expect(same).to_be_visible()
    assert names(page)[:2] == ["LeanRAG", "LeanRAG"]
    press(page, "Change a setting")
    expect(same).to_have_count(0)
    page.locator(".st-key-compare_panel_close button:visible").click()
    expect(same).to_be_visible()
    settled(page)

    # Only differences, on and off: B is removed, so that both answers are the same.
    expect(page.get_by_role("button", name="Settings of column B").first, "it is heard what it does").to_be_visible()
    page.locator(".st-key-compare_settings_b button:visible").first.click()
    settled(page)
    press(page, "Remove column B")
    expect(page.get_by_text("The same answer")).to_be_visible()
    expect(page.locator(".lr-answer")).to_have_count(2)
    for n in (1, 2):
        page.get_by_text("Only differences").click()
        settled(page)
        expect(page.locator(".lr-answer")).to_have_count(n)
        expect(page.get_by_text("The same answer")).to_be_visible()

    # A trial is kept from its column, the other is cleared away.
    press(page, "Change a setting")
    fill(page, "clustersize", "5")
    press(page, "Apply to C")
    expect(same).to_have_count(0)
    press(page, "Keep as index")
    expect(page.get_by_text("Kept as Grey Coast, clustersize 5")).to_be_visible()
    assert {index.config.cluster_size for index in bench.indexes.all()} == {2, 4, 5}
    page.get_by_text("Trial indexes: 1").click()
    settled(page)
    press(page, "Clear away", exact=True)
    expect(page.get_by_text("Trial indexes:")).to_have_count(0)
    assert bench.trials.all() == []

    # A copy of a column is the same as it, and goes by the button that stands beside this sentence.
    page.locator(".st-key-compare_duplicate_a button:visible").first.click()
    settled(page)
    page.locator(".st-key-compare_panel_close button:visible").click()
    expect(page.get_by_text(re.compile("is now the same as A."))).to_be_visible()
    snap(page, "compare_same")
    page.get_by_role("button", name=re.compile("^Remove [B-D]$")).click()
    expect(page.locator(".lr-colhead")).to_have_count(2)
    settled(page)
    watched.assert_clean()


def test_two_columns_are_compared_renamed_shared_and_opened_elsewhere(
    server_in: Callable[..., Server], watch: Callable[..., Watched], tmp_path: Path
) -> None:
    bench = built(tmp_path / "home")
    server, watched = server_in(bench.root), watch()
    page = watched.page
    page.goto(f"{server.url}/compare?b_strategy=leanrag&b_n=3")
    settled(page)
    page.get_by_role("textbox", name="Question").fill(QUESTION)
    press(page, "Compare", exact=True)
    expect(page.locator(".lr-answer")).to_have_count(2)
    expect(page.locator(".lr-ckrows")).to_have_count(2)
    expect(page.locator(".lr-drawing svg:visible").first).to_be_visible()
    snap(page, "compare")

    # The settings of B: fewer passages; A stays as it was.
    a_rows = page.locator(".lr-ckrows").first.locator(".ck").count()
    page.locator(".st-key-compare_settings_b button:visible").first.click()
    settled(page)
    fill(page, "Top-C chunks", "1")
    press(page, "Apply to B")
    expect(page.locator(".lr-ckrows").nth(1).locator(".ck")).to_have_count(1)
    expect(page.locator(".lr-ckrows").first.locator(".ck")).to_have_count(a_rows)
    assert "b_c=1" in page.url

    # A name is changed by key while the settings are open; Esc leaves it, and them.
    before = names(page)
    field, name = page.get_by_role("textbox", name="Name of the column"), page.locator(".lr-colhead b")
    name.first.focus()
    for key, expected in (("Escape", before[0]), ("Enter", "all seeds")):
        name.first.press("F2")  # focused in the same moment: a run that ends late draws the name anew
        expect(field).to_be_focused()
        field.fill("all seeds")
        field.press(key)
        expect(field).to_have_count(0)
        settled(page)
        expect(name.first).to_have_text(expected)
        expect(page.locator(".st-key-compare_panel")).to_have_count(1)
        name.first.focus()
    page.locator(".st-key-compare_panel_close button:visible").click()
    settled(page)
    expect(page.locator(".st-key-compare_panel")).to_have_count(0)

    # By mouse on the other column; it is text.
    name.nth(1).dblclick()
    expect(field).to_be_focused()
    field.press("Control+a")
    field.press_sequentially("few <b>seeds</b>")
    field.press("Enter")
    expect(name).to_have_text(["all seeds", "few <b>seeds</b>"])
    settled(page)
    expect(page).to_have_url(re.compile("b_title=few"))
    expect(page.locator(".lr-colhead").nth(1)).to_contain_text("LeanRAG")
    snap(page, "compare_renamed")

    # A passage opens in its document.
    page.locator(".lr-ckrows").nth(1).locator(".ck").click()
    expect(page.get_by_role("dialog")).to_have_count(1)
    settled(page)
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)

    # A passage that B lacks is marked; what was tried and finds it is taken over.
    page.get_by_role("radio", name="Missed evidence").click()
    settled(page)
    page.get_by_role("button", name="Mark a passage or an entity").click()
    page.get_by_role("searchbox", name=re.compile("Words in a passage")).fill("paraffin")
    page.keyboard.press("Enter")
    settled(page)
    page.locator('[class*="st-key-missed_chunk_"] button').first.click()
    settled(page)
    page.keyboard.press("Escape")
    snap(page, "compare_missed")
    expect(page.locator(".lr-lanename")).to_have_count(2)
    address = page.url
    if page.get_by_role("button", name="Try it").count():
        page.get_by_role("button", name="Try it").first.click()
        settled(page)
        assert page.url != address

    # The link opens the same again.
    page.get_by_role("radio", name="Side by side").click()
    settled(page)
    shown = chunk_rows(page)
    page.goto(page.url)
    settled(page)
    assert chunk_rows(page) == shown
    expect(name).to_have_text(["all seeds", "few <b>seeds</b>"])

    # Both files.
    press(page, "Share")
    files = {}
    for label in ("Export as one HTML file", "Save comparison"):
        with page.expect_download() as download:
            page.get_by_role("button", name=label).click()
        files[label] = tmp_path / download.value.suggested_filename
        download.value.save_as(files[label])
    page.keyboard.press("Escape")
    settled(page)

    # An empty name gives the settings back.
    name.nth(1).dblclick()
    field.fill("")
    field.press("Enter")
    expect(name.nth(1)).not_to_have_text("few <b>seeds</b>")
    expect(name.nth(1)).not_to_be_empty()
    settled(page)
    expect(page).not_to_have_url(re.compile("b_title="))
    watched.assert_clean()

    exported = watch()
    exported.page.goto(files["Export as one HTML file"].as_uri())
    assert "Source Sans" in str(exported.page.evaluate(LOADED_FONTS))
    expect(exported.page.get_by_role("heading", name="What their contexts share")).to_be_visible()
    expect(exported.page.get_by_text(QUESTION).first).to_be_visible()
    expect(exported.page.get_by_text("few <b>seeds</b>").first).to_be_visible()  # as text
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
    expect(other.locator(".lr-colhead b")).to_have_text(["all seeds", "few <b>seeds</b>"])
    elsewhere.assert_clean()


def test_on_a_phone_columns_are_tabs_values_are_cards_and_nothing_scrolls_sideways(
    server_in: Callable[..., Server], watch: Callable[..., Watched], tmp_path: Path
) -> None:
    bench = built(tmp_path / "home")
    watched = watch(width=390, height=844)
    page = watched.page
    page.goto(f"{server_in(bench.root).url}/compare?vary_at=2,3,4&q={QUESTION.replace(' ', '+')}")
    settled(page)
    expect(page.locator(".st-key-compare_col_a")).to_be_visible()
    expect(page.locator(".st-key-compare_col_b")).to_be_hidden()
    page.locator(".st-key-compare_pick").get_by_role("radio", name="B").click()
    settled(page)
    expect(page.locator(".st-key-compare_col_b")).to_be_visible()
    expect(page.locator(".st-key-compare_col_a")).to_be_hidden()
    assert excess_width(page) <= 0
    page.locator(".st-key-compare_settings_b button:visible").first.click()
    settled(page)
    panel = page.locator(".st-key-compare_panel")
    expect(panel).to_be_visible()
    box = panel.bounding_box()
    assert box is not None
    assert (box["x"], box["width"]) == (0, 390), "the settings cover the page"
    press(page, "Apply to B")
    expect(panel).to_be_hidden()
    column = page.locator(".st-key-compare_col_b").bounding_box()
    assert column is not None
    assert column["width"] > 300, "the column has the width of the page again"

    # One question at several values, and a column of one.
    page.get_by_role("radio", name="Multiples").click()
    settled(page)
    cards = page.locator(".lr-mulhead")
    expect(cards).to_have_count(3)
    expect(cards.first).to_be_visible()
    expect(page.locator(".lr-finding")).to_be_visible()
    expect(page.locator('[class*="st-key-multiples_graph_"] svg:visible')).to_have_count(3)
    assert excess_width(page) <= 0
    snap(page, "compare_phone")
    values = page.get_by_role("textbox", name="At (2 to 7 values)")
    for text, n in (("2, 4", 2), ("1, 2", 5)):  # 1 is out of bounds: the usual ones are shown
        values.fill(text)
        values.press("Enter")
        settled(page)
        if page.get_by_role("button", name="Make the missing trial indexes").count():
            press(page, "Make the missing trial indexes")
        expect(cards).to_have_count(n)
    page.get_by_role("button", name="Open as column").first.click()
    settled(page)
    expect(page.locator(".lr-colhead b").nth(1)).to_have_text("clustersize 2")
    watched.assert_clean()
