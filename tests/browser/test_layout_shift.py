"""While a page loads, little of what is seen moves."""

from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page

from tests.browser.conftest import Server, Watched
from tests.browser.runs import settled

pytestmark = pytest.mark.browser

PAGES = ("library", "explore", "present")
BAD = 0.25  # the limit of Core Web Vitals


def layout_shift(page: Page) -> float:
    """The sum of all shifts since the page began that follow no input."""
    return float(
        page.evaluate(
            """() => new Promise((done) => new PerformanceObserver((list) => done(
                 list.getEntries().reduce((sum, each) => sum + (each.hadRecentInput ? 0 : each.value), 0)
               )).observe({ type: "layout-shift", buffered: true }) ?? setTimeout(() => done(0), 1000))"""
        )
    )


def test_little_moves_while_a_page_loads(
    sample_home: Path, server_in: Callable[[Path], Server], watch: Callable[..., Watched]
) -> None:
    server, shifts = server_in(sample_home), {}
    for name in PAGES:
        page = watch().page
        page.goto(f"{server.url}/{name}")
        settled(page)
        shifts[name] = layout_shift(page)
    assert {name: shift for name, shift in shifts.items() if shift > BAD} == {}
