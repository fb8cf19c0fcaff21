"""What a person asks of an answer on Ask: its evidence, why not this, without this, follow-ups and the history."""

import re
from collections.abc import Callable
from pathlib import Path
from urllib.parse import quote_plus

import pytest
from playwright.sync_api import Page, expect

from leanrag_core import IndexConfig, Workbench
from tests.browser.conftest import Server, Watched
from tests.browser.runs import becomes, excess_width, settled
from tests.browser.test_story import TEXT, snap

pytestmark = pytest.mark.browser

QUESTION = "Who built the Marram Point lighthouse?"
FOLLOW_UP = "When was it built?"


def evidence_by_pointer_and_keyboard(page: Page) -> None:
    """Check that a chip shows its evidence, opens at its place, and that the place survives a reload."""
    chip, tip = page.locator(".lr-answer .chip").first, page.locator(".lr-tip")
    chip.hover()
    expect(tip).to_be_visible()
    expect(tip.locator("mark").first).to_have_text(re.compile("Ada Thornbury"))
    page.mouse.move(0, 0)
    expect(tip).to_be_hidden()
    chip.focus()
    page.keyboard.press("Tab")
    expect(tip).to_be_visible()
    page.keyboard.press("Escape")
    expect(tip).to_be_hidden()
    page.keyboard.press("Shift+Tab")
    page.keyboard.press("Enter")
    expect(page.get_by_role("dialog").locator(".cited").first).to_be_visible()
    expect(page).to_have_url(re.compile("at=chunk-"))
    page.reload()
    expect(page.get_by_role("dialog").locator(".cited").first).to_be_visible()
    settled(page)
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)
    settled(page)
    expect(page).not_to_have_url(re.compile("at="))


def lost_entity_is_found(page: Page, name: str, rank: int) -> None:
    """Check that the panel names the loss, and that its offer moves the slider."""
    field = page.get_by_label("What should have been found")
    field.fill(name)
    field.press("Enter")
    expect(page.get_by_text(f"Lost at step 4, “Seed”, by {rank - 3} place")).to_be_visible()
    settled(page)
    snap(page, "asking_why")
    page.get_by_role("button", name=re.compile(f"^Top-N seeds {rank}, ")).click()
    expect(page.get_by_text("Nothing was lost: the context holds it.")).to_be_visible()
    settled(page)
    expect(page).to_have_url(re.compile(rf"n={rank}\b"))
    expect(page.get_by_role("slider", name="Top-N seeds")).to_have_value(str(rank))


def chunk_is_taken_out_and_put_back(page: Page) -> None:
    field = page.get_by_role("combobox", name="What is taken out")
    field.click()
    page.keyboard.type("Chunk C1")
    page.keyboard.press("Enter")
    expect(page.get_by_text("Retrieved anew without it")).to_be_visible()
    settled(page)
    page.keyboard.press("Escape")
    snap(page, "asking_without")
    expect(page).to_have_url(re.compile("without=chunk-"))
    field.press("Backspace")
    expect(page.get_by_text("Retrieved anew without it")).to_have_count(0)
    # Of several that match, Enter takes the first one, not all.
    field.click()
    page.keyboard.type("Chunk")
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile(r"without=chunk-[^,%&]*(&|$)"))
    settled(page)
    page.keyboard.press("Escape")
    field.press("Backspace")
    expect(page.get_by_text("Retrieved anew without it")).to_have_count(0)


def copied(page: Page) -> str:
    return str(page.evaluate("navigator.clipboard.readText()"))


def copies(page: Page, context: str) -> None:
    page.get_by_role("button", name="Copy link").click()
    expect(page.get_by_role("button", name="Copied")).to_be_visible()
    becomes(page, lambda: copied(page), page.url)
    page.get_by_text("The context as the answer sees it").click()
    page.get_by_role("button", name="Copy the context").click()
    expect(page.get_by_role("button", name="Copied").last).to_be_visible()
    becomes(page, lambda: copied(page).strip(), context.strip())


def follow_up_keeps_its_thread(page: Page) -> None:
    field = page.get_by_label("Follow-up question")
    field.fill(FOLLOW_UP)
    field.press("Enter")
    expect(page.get_by_text(f"You wrote “{FOLLOW_UP}”.")).to_be_visible()
    settled(page)
    expect(page.get_by_role("textbox", name="Question", exact=True)).to_have_value(
        re.compile(r"When was it built\? \(.*Marram Point.*\)")
    )


def history_is_searched_pinned_and_taken_back(page: Page) -> None:
    page.get_by_role("button", name="History").click()
    drawer = page.get_by_role("dialog")
    search = drawer.get_by_label("Search questions, answers and notes")
    search.fill("who built")
    search.press("Enter")
    expect(drawer.get_by_text("1 question, pinned ones first; 1 shown")).to_be_visible()
    drawer.get_by_role("button", name="Pin").click()
    expect(drawer.get_by_role("button", name="Unpin")).to_be_visible()
    drawer.get_by_role("button", name="Delete").click()
    expect(drawer.get_by_text("No question matches.")).to_be_visible()
    drawer.get_by_role("button", name="Undo").click()
    snap(page, "asking_history")
    drawer.get_by_role("button", name=QUESTION).click()
    expect(page.get_by_role("dialog")).to_have_count(0)
    settled(page)
    expect(page.get_by_role("textbox", name="Question", exact=True)).to_have_value(QUESTION)


def test_an_answer_is_questioned_with_mouse_and_keyboard(
    server_in: Callable[..., Server], watch: Callable[..., Watched], tmp_path: Path
) -> None:
    bench = Workbench.default(tmp_path / "home")
    corpus = bench.add_documents("Grey Coast", [("coast.md", TEXT.encode())]).corpus_id
    index = bench.build(corpus, IndexConfig(cluster_size=4, chunk_tokens=64, overlap_tokens=8))
    seeds = bench.retrieve(index, QUESTION, top_n=6).with_role("seed")
    trace = bench.retrieve(index, QUESTION, top_n=6)
    url = f"{server_in(bench.root).url}/ask?n=3&q={quote_plus(QUESTION)}"
    watched = watch()
    page = watched.page
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.goto(url)
    settled(page)
    evidence_by_pointer_and_keyboard(page)
    lost_entity_is_found(page, seeds[5].name, 6)
    chunk_is_taken_out_and_put_back(page)
    copies(page, trace.context.text)
    follow_up_keeps_its_thread(page)
    history_is_searched_pinned_and_taken_back(page)
    watched.assert_clean()

    phone = watch(width=390, height=844, dark=True)
    phone.page.goto(f"{url}&why=no+such+words&without={trace.passages[0].id}")
    settled(phone.page)
    expect(phone.page.get_by_text("Lost at step 1, “In the documents”.")).to_be_visible()
    chip = phone.page.locator(".lr-answer .chip").last
    chip.focus()
    phone.page.keyboard.press("Shift+Tab")
    expect(phone.page.locator(".lr-tip")).to_be_visible()
    tip = phone.page.locator(".lr-tip").bounding_box()
    assert tip is not None
    assert tip["x"] >= 0
    assert tip["x"] + tip["width"] <= 390
    assert excess_width(phone.page) <= 0
    snap(phone.page, "asking_phone")
    phone.assert_clean()
