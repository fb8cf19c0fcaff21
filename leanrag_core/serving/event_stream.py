"""An answer of server-sent events, written while the work behind it goes on in a thread."""

import asyncio
from collections.abc import Callable
from typing import Any

from starlette.responses import Response

from leanrag_core.errors import Cancelled
from leanrag_core.files.records import json_bytes
from leanrag_core.serving.workers import Look, Workers, while_connected

_SILENT_SECONDS = 15.0  # before a comment tells clients and proxies that the connection lives
Write = Callable[[bytes], None]


def event(values: Any, name: str = "") -> bytes:
    """Return an event. values: as JSON. name: what kind of event; none in OpenAI's form."""
    return (f"event: {name}\n".encode() if name else b"") + b"data: " + json_bytes(values) + b"\n\n"


class EventStream(Response):
    """Sends what the work writes, as it comes; work is cancelled when nobody listens any more.

    work: in a thread of the workers; it writes its own errors as events.
    """

    media_type = "text/event-stream"

    def __init__(self, workers: Workers, work: Callable[[Write, Look], None]) -> None:
        super().__init__(headers={"cache-control": "no-store"})
        del self.headers["content-length"]
        self._workers, self._work = workers, work

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """See ASGI: the head at once, each event as a piece of the body."""
        await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})
        try:
            await while_connected(receive, self._send_events(send))
        except Cancelled:
            return  # nobody is there to be told

    async def _send_events(self, send: Any) -> None:
        loop, events = asyncio.get_running_loop(), asyncio.Queue[bytes | None]()

        def write(piece: bytes) -> None:
            loop.call_soon_threadsafe(events.put_nowait, piece)

        working = asyncio.ensure_future(self._workers.run(lambda look: self._work(write, look)))
        working.add_done_callback(lambda _: events.put_nowait(None))
        try:
            while (piece := await _next(events)) is not None:
                await send({"type": "http.response.body", "body": piece, "more_body": True})
            await working
        finally:
            working.cancel()
        await send({"type": "http.response.body", "body": b"", "more_body": False})


async def _next(events: "asyncio.Queue[bytes | None]") -> bytes | None:
    try:
        async with asyncio.timeout(_SILENT_SECONDS):  # wait_for of Python 3.11 may swallow that it is cancelled
            return await events.get()
    except TimeoutError:
        return b": at work\n\n"
