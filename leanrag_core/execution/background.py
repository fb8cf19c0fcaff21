"""Work that goes on in a thread while the caller does something else: reading ahead, and calls that write in pieces.

A call is known by its key: beginning it a second time while it runs or is kept returns that call, so nothing is paid
twice.
"""

import threading
import time
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from typing import Generic, TypeVar

_Piece = TypeVar("_Piece")
_Result = TypeVar("_Result")
READ_AGAIN_SECONDS = 60.0  # after the last time that a key was read ahead


class ReadAhead:
    """Reads ahead in threads, one at a time for each key. A key is read again after a minute at the earliest: by then
    the system may have dropped what was read, because others need the memory."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._begun: dict[str, tuple[float, threading.Thread]] = {}
        self._lock = threading.Lock()

    def begin(self, key: str, read: Callable[[], None]) -> threading.Thread:
        """Return the thread that reads for that key, or read for it a short time ago; start it where there is none."""
        with self._lock:
            now = self._clock()
            for old, (when, thread) in list(self._begun.items()):
                if now - when >= READ_AGAIN_SECONDS and not thread.is_alive():
                    del self._begun[old]
            if key not in self._begun:
                thread = threading.Thread(target=read, daemon=True, name=f"read-ahead {key}")
                thread.start()
                self._begun[key] = (now, thread)
            return self._begun[key][1]

    def wait(self) -> None:
        """Wait until all that was begun has been read."""
        for _, thread in list(self._begun.values()):
            thread.join()


class Superseded(Exception):
    """Ends work that newer work has replaced."""


class LatestWork:
    """Runs the newest work in a thread. Older work ends at its next check."""

    def __init__(self) -> None:
        self._begun = 0
        self._changing = threading.Condition()

    def begin(self, work: Callable[[Callable[[], None]], object], *, after_seconds: float = 0.0) -> threading.Thread:
        """Return the thread that does the work, once so many seconds have passed without newer work. work: receives a
        check that it calls often, and that raises Superseded."""
        with self._changing:
            self._begun += 1
            number = self._begun
            self._changing.notify_all()

        def look() -> None:
            if self._begun != number:
                raise Superseded

        def run() -> None:
            with self._changing:
                self._changing.wait_for(lambda: self._begun != number, after_seconds)
            try:
                look()
                work(look)
            except Superseded:
                pass  # nobody waits for it

        thread = threading.Thread(target=run, daemon=True, name="latest work")
        thread.start()
        return thread

    def end(self) -> None:
        """End the work under way at its next check: something else needs the processor now."""
        with self._changing:
            self._begun += 1
            self._changing.notify_all()


@dataclass
class StreamedCall(Generic[_Piece, _Result]):
    """A call that writes in pieces, under way or done."""

    pieces: list[_Piece] = field(default_factory=list)
    _done: threading.Event = field(default_factory=threading.Event)
    _result: _Result | None = None
    _error: Exception | None = None

    @property
    def text(self) -> str:
        """All that was written so far, of a call whose pieces are text."""
        return "".join(map(str, self.pieces))

    def wait(self, seconds: float) -> bool:
        """Wait at most that long for the call, and return whether it is done."""
        return self._done.wait(seconds)

    def result(self) -> _Result:
        """Return what the call returned; waits for it, and raises what it raised."""
        self._done.wait()
        if self._error is not None:
            raise self._error
        return self._result  # type: ignore[return-value]  # set before _done, unless there is an error

    def run(self, call: Callable[[Callable[[_Piece], None]], _Result], before_done: Callable[[bool], object]) -> None:
        """Make the call and keep its result, or its error to be raised by result(). before_done: called with whether it
        returned."""
        returned = False
        try:
            self._result = call(self.pieces.append)
            returned = True
        except Exception as error:
            self._error = error
        finally:
            before_done(returned)
            self._done.set()


class StreamedCalls(Generic[_Piece, _Result]):
    """Calls by key, under way and done. A call goes on to its end even when no caller waits for it any more.

    keep: how many of the returned calls, the latest ones, have results that stay available. Any number of threads may
    ask.
    """

    def __init__(self, keep: int = 0) -> None:
        self._keep = keep
        self._kept: dict[Hashable, StreamedCall[_Piece, _Result]] = {}
        self._under_way: dict[Hashable, StreamedCall[_Piece, _Result]] = {}
        self._lock = threading.Lock()

    def __contains__(self, key: Hashable) -> bool:
        with self._lock:
            return key in self._under_way

    def under_way(self, is_sought: Callable[[Hashable], bool]) -> StreamedCall[_Piece, _Result] | None:
        """Return the first call under way with such a key, None where there is none."""
        with self._lock:
            return next((call for key, call in self._under_way.items() if is_sought(key)), None)

    def kept(self, key: Hashable) -> _Result | None:
        """Return the result of the call of that key, where it is kept."""
        with self._lock:
            call = self._kept.get(key)
        return None if call is None else call.result()

    def pieces(self, key: Hashable) -> tuple[_Piece, ...]:
        """Return what the call of that key has written so far, under way or kept."""
        with self._lock:
            call = self._under_way.get(key) or self._kept.get(key)
        return () if call is None else tuple(call.pieces)

    def begin(
        self, key: Hashable, call: Callable[[Callable[[_Piece], None]], _Result]
    ) -> StreamedCall[_Piece, _Result]:
        """Return the call of that key that is under way or kept, else begin one. call: is given where to write a
        piece."""
        with self._lock:
            known = self._under_way.get(key) or self._kept.get(key)
            if known is not None:
                return known
            streamed: StreamedCall[_Piece, _Result] = StreamedCall()
            self._under_way[key] = streamed

        def end(returned: bool) -> None:  # before it is done: a caller that tries again after an error gets a new call
            with self._lock:
                del self._under_way[key]
                if returned:
                    self._kept[key] = streamed
                while len(self._kept) > self._keep:
                    del self._kept[next(iter(self._kept))]

        threading.Thread(target=streamed.run, args=(call, end), daemon=True, name="streamed call").start()
        return streamed
