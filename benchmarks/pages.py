"""The pages on a large index, in a real browser: seconds from a click to the changed picture, bytes, server memory.

Every figure is the best of a few tries: what the pages need, not what else the machine was doing.
"""

import base64
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext, Page, ViewportSize

TITLE = "Pages"
SIZES = (5000, 100_000)
PROJECT = Path(__file__).resolve().parent.parent
_NAMES = ("chromium", "chromium-browser", "google-chrome", "chromium-headless-shell")
CHROMIUM = os.environ.get("LEANRAG_BROWSER") or next(filter(None, map(shutil.which, _NAMES)), "/usr/bin/chromium")
SESSIONS = 10
_TRIES = 5
_WINDOW: "ViewportSize" = {"width": 1440, "height": 900}
_QUESTION = "What is told of the mill and of the harbour?"
# What is on the page when a view is complete; each returns a text that another view would not return.
_OPENED = "() => [...document.querySelectorAll('.lr-blocks .block')].map((block) => block.dataset.id).join(' ')"
_CHOSEN = "() => document.querySelector('.st-key-inspector [role=heading]')?.textContent || ''"
_SEARCHED = "() => document.querySelector('.lr-search')?.lrShown || ''"
_GRAPH = "() => document.querySelector('.lr-graph svg')?.getAttribute('aria-label') || ''"
_IDLE = "() => !document.querySelector('[data-testid=stStatusWidget], [data-testid=stSkeleton]')"


def measure(size: int) -> dict[str, float | int | str]:
    """Return seconds, kilobytes and megabytes of Explore and Ask on a synthetic index of that many entities."""
    from benchmarks.synthetic import synthetic_index, token_of

    with tempfile.TemporaryDirectory() as folder:
        return drive(home_with(synthetic_index(size), Path(folder)), token_of(size // 2))


def home_with(index: Path, home: Path) -> Path:
    """Make a home folder with that index alone, said to be embedded by the built-in model, so that it can be asked.

    Which seeds a question finds is then arbitrary; how long that takes is not.
    """
    from leanrag_core.models.minilm import MiniLM
    from leanrag_core.storage.layout import read_manifest, write_manifest
    from leanrag_core.types.manifest import EmbeddingRecord

    model, out = MiniLM(), home / "indexes" / index.name
    out.mkdir(parents=True)
    for path in sorted(index.iterdir()):
        if path.is_dir():
            shutil.copytree(path, out / path.name)
        elif path.name != "manifest.json":
            (out / path.name).symlink_to(path)
    manifest = read_manifest(index)
    embedding = EmbeddingRecord(model.name, model.fingerprint, model.dimension)
    config = replace(manifest.config, embedding=model.name)
    write_manifest(out, replace(manifest, embedding=embedding, config=config))
    return home


def drive(home: Path, wanted: str) -> dict[str, float | int | str]:
    """Return the figures of the index in that home folder. wanted: a name that is looked for letter by letter."""
    from playwright.sync_api import sync_playwright

    with server(home) as (url, pid), sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--headless", "--no-sandbox"])
        context = browser.new_context(viewport=_WINDOW)
        figures: dict[str, float | int | str] = {
            "first_visit_s": round(_first_picture(context, url), 2),  # index closed, nothing in the browser's cache
            "first_picture_s": round(min(_first_picture(context, url) for _ in range(_TRIES)), 2),
        }
        traffic: list[int] = []
        with _page(browser) as seen:
            figures |= _explore(seen, url, wanted, traffic)
        with _page(browser) as seen:
            figures |= _ask(seen, url, traffic)
        figures["largest_view_kb"] = round(max(traffic) / 1000)
        pages = [browser.new_page() for _ in range(SESSIONS)]
        for page in pages:
            page.goto(f"{url}/explore")
        for page in pages:
            page.wait_for_selector(".lr-blocks .block", timeout=60_000)
        figures["server_memory_mb"] = round(_memory(pid))
        browser.close()
    return figures


@dataclass
class Seen:
    """A page and the bytes that its server has sent it."""

    page: "Page"
    received: list[int] = field(default_factory=list)

    def timed(self, act: Callable[[], Any], expression: str) -> tuple[float, int]:
        """Act, and return the seconds until the expression's text is another, and the bytes until all was quiet."""
        before, kept = self.page.evaluate(expression), len(self.received)
        began = time.perf_counter()
        act()
        self.page.wait_for_function(f"(before) => ((now) => now && now !== before)(({expression})())", arg=before)
        seconds = time.perf_counter() - began
        self.quiet()
        return seconds, sum(self.received[kept:])

    def quiet(self) -> None:
        """Wait until the page has come to rest."""
        self.page.wait_for_timeout(250)
        self.page.wait_for_function(_IDLE, timeout=60_000)
        self.page.wait_for_timeout(250)


def _first_picture(context: "BrowserContext", url: str) -> float:
    page = context.new_page()
    began = time.perf_counter()
    page.goto(f"{url}/explore")
    page.wait_for_selector(".lr-blocks .block", timeout=120_000)
    seconds = time.perf_counter() - began
    page.close()
    return seconds


def _explore(seen: Seen, url: str, wanted: str, traffic: list[int]) -> dict[str, float]:
    page = seen.page
    page.goto(f"{url}/explore")
    page.wait_for_selector(".lr-blocks .block", timeout=60_000)
    seen.quiet()
    traffic.append(sum(seen.received))
    clicks: list[float] = []
    opened: list[float] = []
    searches: list[float] = []
    for place in range(_TRIES):  # choose a block, open it, and go back up
        block = page.locator(".lr-blocks .block[data-layer]:not([data-layer='0'], .folded)").nth(1 + place)
        box = block.locator("rect").bounding_box()
        assert box is not None
        middle = (box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
        for seconds_of, expression in ((clicks, _CHOSEN), (opened, _OPENED)):
            seconds, received = seen.timed(lambda at=middle: page.mouse.click(*at), expression)  # type: ignore[misc]  # no type of a default is inferred
            seconds_of.append(seconds)
            traffic.append(received)
        seen.timed(lambda: page.locator(".lr-blocks .crumbs button").first.click(), _OPENED)
    field_ = page.get_by_role("combobox", name="Find")
    field_.click()
    for letter in wanted:
        seconds, received = seen.timed(lambda key=letter: page.keyboard.type(key), _SEARCHED)  # type: ignore[misc]  # no type of a default is inferred
        searches.append(seconds)
        traffic.append(received)
    return {
        "click_s": round(min(clicks), 2),  # until the inspector shows the block; its mark is there at once
        "open_s": round(min(opened), 2),
        "first_letter_s": round(searches[0], 2),
        "search_s": round(min(searches[1:]), 2),
    }


def _ask(seen: Seen, url: str, traffic: list[int]) -> dict[str, float]:
    page = seen.page
    page.goto(f"{url}/ask?q={_QUESTION}")
    page.wait_for_selector(".lr-graph svg", timeout=60_000)
    seen.quiet()
    traffic.append(sum(seen.received))
    page.get_by_role("slider").first.focus()
    seconds = []
    for _ in range(_TRIES):
        took, received = seen.timed(lambda: page.keyboard.press("ArrowRight"), _GRAPH)
        seconds.append(took)
        traffic.append(received)
    return {"slider_s": round(min(seconds), 2)}


@contextmanager
def _page(browser: "Browser") -> Iterator[Seen]:
    context = browser.new_context(viewport=_WINDOW)
    page = context.new_page()
    page.set_default_timeout(60_000)
    seen = Seen(page)
    wire = context.new_cdp_session(page)
    wire.send("Network.enable")
    wire.on("Network.webSocketFrameReceived", lambda event: seen.received.append(_length(event["response"])))
    yield seen
    context.close()


def _length(frame: dict[str, Any]) -> int:
    return len(base64.b64decode(frame["payloadData"])) if frame["opcode"] == 2 else len(frame["payloadData"])


@contextmanager
def server(home: Path) -> Iterator[tuple[str, int]]:
    """Run the app with that home folder; yields its address and the number of its process."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    process = subprocess.Popen(
        [sys.executable, "-m", "streamlit", "run", "app.py", "--server.port", str(port)],
        cwd=PROJECT,
        env={**os.environ, "LEANRAG_HOME": str(home)},
        stdout=(home / "server.log").open("wb"),
        stderr=subprocess.STDOUT,
    )
    url = f"http://127.0.0.1:{port}"
    try:
        for _ in range(300):
            try:
                urllib.request.urlopen(f"{url}/_stcore/health", timeout=2).close()
                break
            except OSError:
                time.sleep(0.1)
        else:
            raise RuntimeError(f"the app did not start: {(home / 'server.log').read_text()}")
        yield url, process.pid
    finally:
        process.terminate()
        process.wait(timeout=20)


def _memory(pid: int) -> float:
    """Return the resident megabytes of the process, mapped files among them."""
    status = Path(f"/proc/{pid}/status").read_text(encoding="ascii")
    return int(status.split("VmRSS:")[1].split()[0]) / 1000
