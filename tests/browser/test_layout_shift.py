"""While a page loads, little of what is seen moves."""

from collections.abc import Callable
from pathlib import Path
from statistics import median

import pytest
from playwright.sync_api import Page, expect

from pages.common.frame import PAGES
from tests.browser.conftest import Server, Watched
from tests.browser.runs import settled

pytestmark = pytest.mark.browser

GOOD = 0.1  # the limit of Core Web Vitals


def layout_shift(page: Page) -> float:
    """The sum of all shifts since the page began that follow no input."""
    return float(
        page.evaluate(
            """() => new Promise((done) => {
                 new PerformanceObserver((list) => done(
                   list.getEntries().reduce((sum, each) => sum + (each.hadRecentInput ? 0 : each.value), 0)
                 )).observe({ type: "layout-shift", buffered: true });
                 setTimeout(() => done(0), 1000);
               })"""
        )
    )


@pytest.mark.parametrize("width", [1440, 390])
def test_little_moves_while_a_page_loads(
    width: int, sample_home: Path, server_in: Callable[[Path], Server], watch: Callable[..., Watched]
) -> None:
    server = server_in(sample_home)

    def load(name: str) -> float:
        page = watch(width=width).page
        page.goto(f"{server.url}/{name}")
        settled(page)
        shift = layout_shift(page)
        page.close()
        return shift

    # What is drawn in between depends on when each message arrives: one load above the limit may be an exception.
    shifts = {name: load(name) for name, _ in PAGES}
    for name, shift in shifts.items():
        if shift > GOOD:
            shifts[name] = median([shift, load(name), load(name)])
    assert {name: shift for name, shift in shifts.items() if shift > GOOD} == {}


def test_a_page_is_shown_after_a_while_where_nothing_says_that_it_is_drawn(
    sample_home: Path, server_in: Callable[[Path], Server], watch: Callable[..., Watched]
) -> None:
    page = watch().page
    page.route("**/lr/opening.*.js", lambda route: route.fulfill(body="", content_type="text/javascript"))
    page.goto(f"{server_in(sample_home).url}/present")
    settled(page)
    expect(page.locator(".lr-head")).to_be_visible()
    assert page.locator("html.lr-opening").count() == 1
