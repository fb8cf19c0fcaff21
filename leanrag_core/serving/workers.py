"""Work of requests in threads: so much of it at one time, the rest waits, and what nobody waits for any more ends."""

import asyncio
import threading
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any, TypeVar

from leanrag_core.errors import Cancelled

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
