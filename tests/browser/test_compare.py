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


def fill(page: Page, setting: str, value: str) -> None:
    """Write a value into the panel of settings."""
    field = page.locator(".st-key-compare_panel").get_by_role("spinbutton", name=setting)
    field.fill(value)
    field.press("Enter")
    settled(page)


def names(page: Page) -> list[str]:
    """What the columns are called."""
    return page.locator(".lr-colhead b").all_inner_texts()


def test_a_column_is_tried_with_other_settings_and_kept(
    server_in: Callable[..., Server], watch: Callable[..., Watched], tmp_path: Path
) -> None:
    bench = built(tmp_path / "home")
    watched = watch()
    page = watched.page
    page.goto(f"{server_in(bench.root).url}/compare?b_strategy=bm25")
    settled(page)
    assert len(names(page)) == 2, "what is compared is seen before a question is asked"
    page.get_by_role("textbox", name="Question").fill(QUESTION)
    page.get_by_role("button", name="Compare", exact=True).click()
    settled(page)

    # Two clicks and a number: both answers of LeanRAG stand beside each other.
    page.locator(".st-key-compare_duplicate_a button:visible").first.click()
    settled(page)
    fill(page, "clustersize", "2")
    page.get_by_role("button", name="Apply to C").click()
    settled(page)
    expect(page.locator(".lr-colhead b").nth(1)).to_have_text("clustersize 2")
    assert names(page)[0] == "clustersize 4"
    assert "c_ix_cluster_size=2" in page.url
    expect(page.locator(".lr-answer")).to_have_count(3)
    snap(page, "compare_variants")
    (trial,) = bench.trials.all()
    assert trial.summary.config.cluster_size == 2

    # The same again with another value, then back to what A has, then away.
    fill(page, "clustersize", "3")
    expect(page.get_by_role("button", name="Apply to C")).to_be_focused()
    page.keyboard.press("Enter")
    settled(page)
    expect(page.locator(".lr-colhead b").nth(1)).to_have_text("clustersize 3")
    page.get_by_role("button", name="Same as A").click()
    settled(page)
    page.get_by_role("button", name="Apply to C").click()
    settled(page)
    assert names(page)[:2] == ["LeanRAG", "LeanRAG"]
    page.keyboard.press("Escape")
    expect(page.locator(".st-key-compare_panel")).to_have_count(0)
    settled(page)

    # Only differences, on and off: B is removed, so that both answers are the same.
    page.locator(".st-key-compare_settings_b button:visible").first.click()
    settled(page)
    page.get_by_role("button", name="Remove column B").click()
    settled(page)
    expect(page.get_by_text("The same answer")).to_be_visible()
    expect(page.locator(".lr-answer")).to_have_count(2)
    for n in (0, 2):
        page.get_by_text("Only differences").click()
        settled(page)
        expect(page.locator(".lr-answer")).to_have_count(n)
        expect(page.get_by_text("The same answer")).to_be_visible()

    # A trial is kept, the others are cleared away.
    page.locator(".st-key-compare_settings_c button:visible").first.click()
    settled(page)
    fill(page, "clustersize", "2")
    page.get_by_role("button", name="Apply to C").click()
    settled(page)
    page.get_by_role("button", name="Keep as index").click()
    settled(page)
    expect(page.get_by_text("Kept as Grey Coast, clustersize 2")).to_be_visible()
    assert {index.config.cluster_size for index in bench.indexes.all()} == {2, 4}
    page.get_by_text("Trial indexes: 1").click()
    settled(page)
    page.get_by_role("button", name="Clear away", exact=True).click()
    settled(page)
    expect(page.get_by_text("Trial indexes:")).to_have_count(0)
    assert bench.trials.all() == []
    watched.assert_clean()


def test_one_question_at_several_values_and_a_column_of_one(
    server_in: Callable[..., Server], watch: Callable[..., Watched], tmp_path: Path
) -> None:
    bench = built(tmp_path / "home")
    watched = watch()
    page = watched.page
    page.goto(f"{server_in(bench.root).url}/compare?vary_at=2,3,4&q={QUESTION.replace(' ', '+')}")
    settled(page)
    page.get_by_role("radio", name="Multiples").click()
    settled(page)
    cards = page.locator(".lr-mulhead")
    expect(cards).to_have_count(3)
    expect(page.locator(".lr-finding")).to_be_visible()
    expect(page.locator('[class*="st-key-multiples_graph_"] svg:visible')).to_have_count(3)
    snap(page, "compare_multiples")
    values = page.get_by_role("textbox", name="At (2 to 7 values)")
    for text, n in (("2, 4", 2), ("1, 2", 5), ("2, 3, 4", 3)):  # 1 is out of bounds: the usual ones are shown
        values.fill(text)
        values.press("Enter")
        settled(page)
        if page.get_by_role("button", name="Make the missing trial indexes").count():
            page.get_by_role("button", name="Make the missing trial indexes").click()
            settled(page)
        expect(cards).to_have_count(n)
    page.get_by_role("button", name="Open as column").first.click()
    settled(page)
    expect(page.locator(".lr-colhead b").nth(1)).to_have_text("clustersize 2")
    watched.assert_clean()


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
    page.locator(".st-key-compare_settings_b button:visible").first.click()
    settled(page)
    fill(page, "Top-C chunks", "1")
    page.get_by_role("button", name="Apply to B").click()
    settled(page)
    page.locator(".st-key-compare_panel_close button:visible").click()
    settled(page)
    expect(page.locator(".st-key-compare_panel")).to_have_count(0)
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
    wide = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
    assert page.evaluate(wide) <= 0
    page.locator(".st-key-compare_settings_b button:visible").first.click()
    settled(page)
    panel = page.locator(".st-key-compare_panel")
    expect(panel).to_be_visible()
    box = panel.bounding_box()
    assert box is not None
    assert (box["x"], box["width"]) == (0, 390), "the settings cover the page"
    page.get_by_role("button", name="Apply to B").click()
    settled(page)
    expect(panel).to_be_hidden()
    column = page.locator(".st-key-compare_col_b").bounding_box()
    assert column is not None
    assert column["width"] > 300, "the column has the width of the page again"
    page.get_by_role("radio", name="Multiples").click()
    settled(page)
    expect(page.locator(".lr-mulhead").first).to_be_visible()
    assert page.evaluate(wide) <= 0
    snap(page, "compare_phone")
    watched.assert_clean()


def test_a_column_is_renamed_where_its_name_stands(
    server_in: Callable[..., Server], watch: Callable[..., Watched], tmp_path: Path
) -> None:
    bench = built(tmp_path / "home")
    server, watched = server_in(bench.root), watch()
    page = watched.page
    page.goto(f"{server.url}/compare?b_strategy=leanrag&b_n=3&q={QUESTION}")
    settled(page)
    expect(page.locator(".lr-answer")).to_have_count(2)
    before = names(page)
    field, name = page.get_by_role("textbox", name="Name of the column"), page.locator(".lr-colhead b")

    name.nth(1).dblclick()
    expect(field).to_be_focused()
    field.press("Control+a")
    field.press_sequentially("few <b>seeds</b>")
    field.press("Enter")
    expect(name.nth(1)).to_have_text("few <b>seeds</b>")
    settled(page)
    assert names(page) == [before[0], "few <b>seeds</b>"]
    expect(page).to_have_url(re.compile("b_title=few"))
    expect(page.locator(".lr-colhead").nth(1)).to_contain_text("LeanRAG")
    snap(page, "compare_renamed")

    # By key on the other column; Esc leaves the name, also while the settings are open.
    page.locator(".st-key-compare_settings_a button:visible").first.click()
    settled(page)
    name.first.focus()
    for key, expected in (("Escape", before[0]), ("Enter", "all seeds")):
        page.keyboard.press("F2")
        expect(field).to_be_focused()
        field.fill("all seeds")
        field.press(key)
        expect(field).to_have_count(0)
        expect(name.first).to_have_text(expected)
        settled(page)
        expect(page.locator(".st-key-compare_panel")).to_have_count(1)
        name.first.focus()

    # The link and both files have the names; an empty one gives the settings back.
    page.goto(page.url)
    settled(page)
    expect(name).to_have_text(["all seeds", "few <b>seeds</b>"])
    expect(name.first).to_be_visible()
    page.get_by_role("button", name="Share").click()
    settled(page)
    with page.expect_download() as download:
        page.get_by_role("button", name="Export as one HTML file").click()
    exported = Path(download.value.path()).read_text(encoding="utf-8")
    assert "few &lt;b&gt;seeds&lt;/b&gt;" in exported
    assert "few <b>seeds</b>" not in exported
    with page.expect_download() as download:
        page.get_by_role("button", name="Save comparison").click()
    file = tmp_path / "saved.json"
    download.value.save_as(file)
    page.keyboard.press("Escape")
    settled(page)
    name.nth(1).dblclick()
    field.fill("")
    field.press("Enter")
    expect(name.nth(1)).to_have_text(before[1])
    settled(page)
    watched.assert_clean()

    other = watch(width=390).page
    other.goto(f"{server.url}/compare")
    settled(other)
    other.get_by_role("button", name="Open a comparison").click()
    other.locator('input[type="file"]').set_input_files(file)
    expect(other.get_by_text("Saved comparison.")).to_be_visible()
    settled(other)
    expect(other.locator(".lr-colhead b")).to_have_text(["all seeds", "few <b>seeds</b>"])


def test_leaving_with_trials_asks_once_and_equal_columns_are_said_to_be_equal(
    server_in: Callable[..., Server], watch: Callable[..., Watched], tmp_path: Path
) -> None:
    bench = built(tmp_path / "home")
    server, watched = server_in(bench.root), watch()
    page = watched.page

    def go(name: str) -> None:
        page.get_by_role("link", name=name, exact=True).click()
        expect(page.get_by_role("heading", name=name, exact=True, level=1)).to_be_visible()
        settled(page)

    ask = page.get_by_text("not kept")
    for size, answer in ((3, "Leave as it is"), (2, "Keep as index")):
        page.goto(f"{server.url}/compare?b_strategy=leanrag&b_ix_cluster_size={size}&q={QUESTION}")
        expect(page.locator(".lr-answer")).to_have_count(2, timeout=90_000)
        settled(page)
        go("Library")
        expect(ask).to_contain_text(f"Grey Coast, clustersize {size}")
        snap(page, "compare_left_with_trial")
        page.get_by_role("button", name=answer).click()
        settled(page)
        expect(ask).to_have_count(0)
        go("Compare")
        go("Library")
        expect(ask).to_have_count(0)
    assert sorted(summary.config.cluster_size for summary in bench.indexes.all()) == [2, 4]

    # The same settings again: nothing is left to compare.
    page.goto(f"{server.url}/compare?b_strategy=leanrag&b_n=3&q={QUESTION}")
    expect(page.locator(".lr-answer")).to_have_count(2, timeout=90_000)
    settled(page)
    same = page.get_by_text("B is now the same as A.")
    expect(same).to_have_count(0)
    for _ in range(2):
        page.locator(".st-key-compare_settings_b button:visible").first.click()
        settled(page)
        page.get_by_role("button", name="Same as A").click()
        settled(page)
        page.get_by_role("button", name="Apply to B").click()
        expect(same).to_be_visible()
        settled(page)
        page.get_by_role("button", name="Change a setting").click()
        settled(page)
        expect(same).to_have_count(0)  # the settings are open
        fill(page, "Top-N seeds", "3")
        page.get_by_role("button", name="Apply to B").click()
        settled(page)
        expect(same).to_have_count(0)
        page.locator(".st-key-compare_panel_close button:visible").click()
        settled(page)
    page.locator(".st-key-compare_duplicate_b button:visible").first.click()
    settled(page)
    page.locator(".st-key-compare_panel_close button:visible").click()
    settled(page)
    expect(page.get_by_text("C is now the same as B.")).to_be_visible()
    snap(page, "compare_same")
    page.get_by_role("button", name="Remove C").click()
    expect(page.locator(".lr-colhead")).to_have_count(2)
    watched.assert_clean()
