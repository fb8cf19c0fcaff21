"""When a page is at rest: read from what the browser and the server say to each other, not from a clock."""

import time
from collections.abc import Callable

from playwright.sync_api import Page, Request, WebSocket
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

TIMEOUT_SECONDS = 180.0  # a busy machine is no failure
LOOK = 0.1  # seconds between two looks while a script runs: each goes through Playwright's driver
QUIET = 0.15  # seconds without a message: long enough to tell an earlier run's end from that of the last change


class Runs:
    """The runs of one page's script: which were asked for, and whether the last one has ended."""

    def __init__(self, page: Page) -> None:
        self._wanted = True  # a run is asked for, and none has begun since
        self._running = False
        self._last = time.monotonic()
        page.on("request", self._requested)
        page.on("websocket", self._opened)

    def seconds_to_look(self) -> float:
        """Return the seconds until a look may find the page at rest; 0: no run is asked for or under way."""
        if self._wanted or self._running:
            return LOOK
        return max(0.0, self._last + QUIET - time.monotonic())

    def _requested(self, request: Request) -> None:
        if request.is_navigation_request() and request.frame.parent_frame is None:
            self._wanted, self._last = True, time.monotonic()

    def _opened(self, socket: WebSocket) -> None:
        socket.on("framesent", self._sent)
        socket.on("framereceived", self._received)

    def _sent(self, payload: str | bytes) -> None:
        message = BackMsg.FromString(payload if isinstance(payload, bytes) else payload.encode())
        if message.WhichOneof("type") == "rerun_script" and not message.rerun_script.is_auto_rerun:
            self._wanted, self._last = True, time.monotonic()

    def _received(self, payload: str | bytes) -> None:
        message = ForwardMsg.FromString(payload if isinstance(payload, bytes) else payload.encode())
        kind = message.WhichOneof("type")
        if kind == "new_session":
            self._wanted, self._running, self._last = False, True, time.monotonic()
        elif kind == "script_finished" and message.script_finished != ForwardMsg.FINISHED_EARLY_FOR_RERUN:
            self._running, self._last = False, time.monotonic()


_OF_PAGE: dict[Page, Runs] = {}


def follow(page: Page) -> None:
    """Let settled() know of the page's runs from now on."""
    _OF_PAGE[page] = Runs(page)


def settled(page: Page) -> None:
    """Wait until no script runs, and what it drew is there."""
    # A click or the way back asks for its run from the page's own event loop: that goes round first.
    page.evaluate("() => new Promise(done => requestAnimationFrame(() => setTimeout(done, 100)))")
    until = time.monotonic() + TIMEOUT_SECONDS
    while seconds := _OF_PAGE[page].seconds_to_look():
        assert time.monotonic() < until, "the page does not come to rest"
        page.wait_for_timeout(1000 * seconds)
    page.wait_for_function(
        """() => document.querySelector('[data-testid="stMainBlockContainer"]')
              && document.querySelector('[data-test-script-state="notRunning"]')
              && !document.querySelector('[data-testid="stSkeleton"]')""",
        polling=50,  # by default with each frame, which makes the page draw
    )


def excess_width(page: Page) -> int:
    """Return the pixels by which the page is wider than the window, so that it scrolls sideways. Streamlit's main part
    scrolls by itself: the document is never wider than the window. An exported file has no such part."""
    wider: int = page.evaluate(
        """() => Math.max(...[document.documentElement, document.querySelector('[data-testid="stMain"]')]
              .filter(Boolean).map(part => part.scrollWidth - part.clientWidth))"""
    )
    return wider


def becomes(page: Page, read: Callable[[], object], expected: object) -> None:
    """Wait until what is read from the page is the expected value."""
    until = time.monotonic() + TIMEOUT_SECONDS
    while (value := read()) != expected:
        assert time.monotonic() < until, f"{value!r} does not become {expected!r}"
        page.wait_for_timeout(30)
