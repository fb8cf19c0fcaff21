"""Work that goes on in a thread while the caller does something else: reading ahead, and calls that write in pieces.

A call is known by its key: beginning it a second time while it runs returns the running call, so nothing is paid twice.
"""

import threading
import time
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from typing import Generic, TypeVar

_Result = TypeVar("_Result")
READ_AGAIN_SECONDS = 60.0  # after the last time that a key was read ahead


class ReadAhead:
    """Reads ahead in threads: for each key one at a time, and anew a minute after the last began at the earliest, since
    the system drops what was read when others need the memory."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._begun: dict[str, tuple[float, threading.Thread]] = {}
        self._lock = threading.Lock()

    def begin(self, key: str, read: Callable[[], None]) -> threading.Thread:
        """The thread that reads for that key, or read for it a short time ago."""
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
        """Returns when all that was begun has been read."""
        for _, thread in list(self._begun.values()):
            thread.join()


@dataclass
class StreamedCall(Generic[_Result]):
    """A call that writes in pieces, under way or done."""

    pieces: list[str] = field(default_factory=list)
    _done: threading.Event = field(default_factory=threading.Event)
    _result: _Result | None = None
    _error: Exception | None = None

    @property
    def text(self) -> str:
        """All that was written so far."""
        return "".join(self.pieces)

    def wait(self, seconds: float) -> bool:
        """Whether the call is done, waiting at most that long for it."""
        return self._done.wait(seconds)

    def result(self) -> _Result:
        """What the call returned; waits for it, and raises what it raised."""
        self._done.wait()
        if self._error is not None:
            raise self._error
        return self._result  # type: ignore[return-value]  # set before _done, unless there is an error

    def run(self, call: Callable[[Callable[[str], None]], _Result], before_done: Callable[[], object]) -> None:
        """Makes the call and keeps its result, or its error to be raised by result()."""
        try:
            self._result = call(self.pieces.append)
        except Exception as error:
            self._error = error
        finally:
            before_done()
            self._done.set()


class StreamedCalls(Generic[_Result]):
    """Calls under way, by key. A call goes on to its end even when no caller waits for it any more.

    keep: results of that many calls, those that ended last, can be had again.
    """

    def __init__(self, keep: int = 0) -> None:
        self._keep = keep
        self._kept: dict[Hashable, _Result] = {}
        self._under_way: dict[Hashable, StreamedCall[_Result]] = {}
        self._lock = threading.Lock()

    def __contains__(self, key: Hashable) -> bool:
        return key in self._under_way

    def kept(self, key: Hashable) -> _Result | None:
        """The result of the call of that key, where it is kept."""
        with self._lock:
            return self._kept.get(key)

    def begin(self, key: Hashable, call: Callable[[Callable[[str], None]], _Result]) -> StreamedCall[_Result]:
        """The call of that key that is under way, else one that begins now. call: is given where to write a piece."""
        with self._lock:
            if key in self._under_way:
                return self._under_way[key]
            streamed: StreamedCall[_Result] = StreamedCall()
            self._under_way[key] = streamed

        def call_and_keep(write: Callable[[str], None]) -> _Result:
            result = call(write)
            with self._lock:
                self._kept[key] = result
                while len(self._kept) > self._keep:
                    del self._kept[next(iter(self._kept))]
            return result

        def forget() -> None:  # before it is done: a caller that tries again after an error gets a new call
            self._under_way.pop(key, None)

        threading.Thread(target=streamed.run, args=(call_and_keep, forget), daemon=True, name="streamed call").start()
        return streamed
