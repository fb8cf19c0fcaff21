"""Drawers of sources are opened and closed at any moment, also while the page is still being drawn."""

import random
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page, TimeoutError, expect

from leanrag_core import Workbench
from tests.browser.conftest import Server, Watched
from tests.browser.runs import settled

pytestmark = pytest.mark.browser

MOST_TRIES = 30
QUESTION = "Why+does+Varroa+destructor+multiply+best+in+drone+brood%3F"


def click_a_mark(page: Page, choose: Callable[[int], int]) -> None:
    """Click one of the first marks of the answer. choose: takes how many there are, returns the place of one."""
    chips = page.locator(".lr-answer .chip:visible")
    for _ in range(MOST_TRIES):
        expect(chips.first).to_be_visible()  # while it is drawn again the answer may be away for a moment
        try:
            chips.nth(choose(min(6, chips.count()))).click(timeout=1_000)
            return
        except TimeoutError:  # a drawer that was closed before it was drawn covers the marks
            page.keyboard.press("Escape")
    raise AssertionError(f"no mark could be clicked: {page.locator('body').inner_text()[:500]}")


def open_page(page: Page, name: str, home: Path, server_in: Callable[[Path], Server]) -> None:
    index = next(each.id for each in Workbench.default(home).indexes.all() if each.corpus_id == "sample-agriculture")
    page.goto(f"{server_in(home).url}/{name}?index={index}&q={QUESTION}")
    settled(page)


def open_and_close(page: Page, n_times: int, seed: int) -> int:
    """Open drawers from any of the first marks and close them, after any pause; return how many were seen open."""
    chance, seen = random.Random(seed), 0
    chips, drawer = page.locator(".lr-answer .chip:visible"), page.get_by_role("dialog")
    for _ in range(n_times):
        click_a_mark(page, chance.randrange)
        if chance.random() < 0.5 and not drawer.count():  # another mark, before the drawer of the first is there
            chips.first.evaluate("chip => chip.click()")
        page.wait_for_timeout(chance.uniform(50, 900))
        seen += drawer.count()
        page.keyboard.press("Escape")
        page.wait_for_timeout(chance.uniform(30, 400))
    settled(page)
    page.keyboard.press("Escape")
    expect(drawer).to_have_count(0)
    settled(page)
    return seen


def test_drawers_of_ask_open_and_close_at_any_moment_also_without_the_focus(
    sample_home: Path, server_in: Callable[[Path], Server], watch: Callable[..., Watched]
) -> None:
    page = watch().page
    open_page(page, "ask", sample_home, server_in)
    open_and_close(page, 8, seed=7)
    drawer = page.get_by_role("dialog")
    for section in ("chunks", "entities"):  # a passage, and something else of the context
        page.locator(
            f'.lr-answer .chip[data-section="{section}"]:visible, .lr-evidence .chip[data-section="{section}"]'
        ).first.click()
        expect(drawer).to_be_visible()
        settled(page)
        page.evaluate("document.activeElement.blur()")  # as when what had it was drawn anew
        page.keyboard.press("Escape")
        expect(drawer).to_have_count(0)
        settled(page)


def test_drawers_of_compare_open_and_close_at_any_moment(
    sample_home: Path, server_in: Callable[[Path], Server], watch: Callable[..., Watched]
) -> None:
    page = watch().page
    open_page(page, "compare", sample_home, server_in)
    open_and_close(page, 3, seed=7)
    click_a_mark(page, lambda _: 0)
    expect(page.get_by_role("dialog")).to_be_visible()
