"""From "I want clustersize 8 beside 20" to both answers seen, in a real browser: clicks and seconds on a sample."""

import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.pages import CHROMIUM, server

if TYPE_CHECKING:
    from playwright.sync_api import Locator, Page, ViewportSize

TITLE = "Another clustersize beside the one in use, from an answer on Ask to both answers (sample index, kept stages)"
SIZES = (8,)

_SAMPLE = "sample-agriculture"
_IN_USE = 20
_QUESTION = "Why does Varroa destructor multiply best in drone brood?"
_WINDOW: "ViewportSize" = {"width": 1440, "height": 900}


@dataclass
class Hand:
    """Clicks like a person, and counts."""

    clicks: int = 0

    def click(self, target: "Locator") -> None:
        target.click()
        self.clicks += 1


def measure(size: int) -> dict[str, float | int | str]:
    """Return clicks, and seconds from the first of them until the second answer is seen; of a trial that is made, and
    of one that was made before."""
    from playwright.sync_api import sync_playwright

    from leanrag_core import IndexConfig, Workbench

    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        bench = Workbench.default(home)
        bench.corpora.all()
        bench.build(_SAMPLE, IndexConfig(model="reference", cluster_size=_IN_USE))
        with server(home) as (url, _), sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--headless", "--no-sandbox"])
            figures: dict[str, float | int | str] = {}
            for name in ("made", "known"):
                page = browser.new_context(viewport=_WINDOW).new_page()
                page.set_default_timeout(120_000)
                hand = Hand()
                seconds = _beside(page, url, size, hand)
                figures |= {f"{name}_clicks": hand.clicks, f"{name}_seconds": round(seconds, 1)}
            browser.close()
    return figures


def _beside(page: "Page", url: str, size: int, hand: Hand) -> float:
    """Return the seconds from the answer on Ask, where the first click is, to both answers on Compare."""
    page.goto(f"{url}/ask?q={_QUESTION}&asked=1")
    page.locator(".lr-answer").wait_for()
    other = page.get_by_role("button", name="Compare with other settings")
    other.wait_for()
    began = time.perf_counter()
    hand.click(other)
    hand.click(page.locator(".st-key-compare_panel").get_by_role("spinbutton", name="clustersize"))
    page.keyboard.press("Control+a")
    page.keyboard.type(str(size))
    page.keyboard.press("Tab")
    hand.click(page.get_by_role("button", name="Apply to B"))
    page.locator(".lr-colhead b").filter(has_text=f"clustersize {size}").wait_for()
    page.wait_for_function("() => document.querySelectorAll('.lr-answer').length === 2")
    return time.perf_counter() - began
