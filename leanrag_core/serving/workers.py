"""Work of requests in threads: so much of it at one time, the rest waits, and what nobody waits for any more ends.
What it writes meanwhile is a stream of events."""

import asyncio
import threading
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any, TypeVar

from starlette.responses import Response

from leanrag_core.errors import Cancelled
from leanrag_core.files.records import json_bytes

_Result = TypeVar("_Result")
Look = Callable[[], None]
"""Called often by work; raises Cancelled once its request was taken back."""
AT_ONCE = 8


class Workers:
    """Does work in daemon threads, for one event loop. at_once: pieces of work that run at one time.

    Cancelled work keeps its place until it has ended, so that the bound holds.
    """

    def __init__(self, at_once: int = AT_ONCE) -> None:
        self._places = asyncio.Semaphore(at_once)

    async def run(self, work: Callable[[Look], _Result]) -> _Result:
        """Return what the work returns, and raise what it raises. Cancelled while it waits for a place, the work never
        begins; cancelled later, its next look ends it."""
        await self._places.acquire()
        loop, stopped = asyncio.get_running_loop(), threading.Event()
        done: asyncio.Future[_Result] = loop.create_future()

        def look() -> None:
            if stopped.is_set():
                raise Cancelled("serving.taken_back")

        def end(settle: Callable[[Any], None], outcome: Any) -> None:
            self._places.release()
            if not done.done():  # else nobody waits for it any more
                settle(outcome)

        def in_thread() -> None:
            try:
                settle, outcome = done.set_result, work(look)
            except Exception as error:
                settle, outcome = done.set_exception, error  # type: ignore[assignment]
            with suppress(RuntimeError):  # the loop is closed: the server has ended
                loop.call_soon_threadsafe(end, settle, outcome)

        threading.Thread(target=in_thread, daemon=True, name="request").start()
        try:
            return await done
        finally:
            stopped.set()


async def while_connected(receive: Callable[[], Awaitable[Any]], work: Awaitable[_Result]) -> _Result:
    """Return what the work gives; cancel it as soon as the client has gone. receive: of the request, whose body was
    read. Raises Cancelled when the client has gone."""
    working, leaving = asyncio.ensure_future(work), asyncio.ensure_future(_gone(receive))
    try:
        await asyncio.wait((working, leaving), return_when=asyncio.FIRST_COMPLETED)
        if working.done():
            return working.result()
        raise Cancelled("serving.taken_back")
    finally:
        working.cancel()
        leaving.cancel()


async def _gone(receive: Callable[[], Awaitable[Any]]) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


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
