"""Reads files in a separate process, which is ended when a file takes too long or too much memory."""

import math
import os
import queue
import subprocess
import sys
import threading
import time
import weakref
from collections.abc import Generator, Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict
from types import TracebackType
from typing import Any

from leanrag_core.errors import RecordDamaged
from leanrag_core.indexing.parsing.blocks import shown_name
from leanrag_core.indexing.parsing.limits import ParseLimits
from leanrag_core.indexing.parsing.upload import ParsedUpload
from leanrag_core.indexing.parsing.worker import FrameTooLarge, read_frame, unpacked, write_frame
from leanrag_core.messages.message import Message, message
from leanrag_core.system.environment import PACKAGES, without_secrets
from leanrag_core.types.corpus import Refusal

_AT_WORK = 2  # processes at one time; others wait for their turn
_AHEAD = 8  # answers that wait to be taken
_WAIT_SECONDS = 0.2
_LOOK_SECONDS = 0.02  # between two looks at the memory of a process at work
_START_SECONDS = 60.0  # for a process to start and to take the file, which is no fault of the file
_CRASHED = message("file.crashed_its_reader")

_Frame = tuple[dict[str, Any], bytes]


class _Ended(Exception):
    """The process has ended. reason: why, for the file that it was reading."""

    def __init__(self, reason: Message) -> None:
        super().__init__(reason.code)
        self.reason = reason


class ConfinedParser:
    """Parses files like `parse_upload`, but no file can take more than its limits or end the program.

    Processes are started when they are needed and stay for the next file; any number of threads may ask.
    """

    def __init__(self, limits: ParseLimits | None = None) -> None:
        self.limits = limits or ParseLimits()
        self._idle: list[_Process] = []
        self._turns = threading.Semaphore(_AT_WORK)
        self._finalizer = weakref.finalize(self, _end_all, self._idle)

    def __enter__(self) -> "ConfinedParser":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """End all processes of this parser."""
        _end_all(self._idle)

    def parse(self, name: str, content: bytes) -> ParsedUpload:
        """Return the documents in a file of that name; what breaks a limit is refused with its reason."""
        return ParsedUpload.joined(list(self.parts(name, content)))

    def parts(self, name: str, content: bytes) -> Generator[ParsedUpload]:
        """Yield what parse() returns, some thousand documents at a time, as they are read."""
        reading = _Reading(name, content, self.limits)
        with self._turns:
            while not reading.ended:
                with self._process() as process:
                    yield from reading.go_on(process)

    @contextmanager
    def _process(self) -> "Iterator[_Process]":
        """Yield a process that waits for a request. It is ended unless it waits again afterwards."""
        try:
            process = self._idle.pop()
        except IndexError:
            process = _Process()
        try:
            yield process
        except BaseException:
            process.end()
            raise
        if process.is_waiting:
            self._idle.append(process)
        else:
            process.end()


class _Reading:
    """One file on its way through as many processes as it breaks."""

    def __init__(self, name: str, content: bytes, limits: ParseLimits) -> None:
        self.name, self.content, self.limits = name, content, limits
        self.ended = False
        self._begun: list[str] = []  # names of the parts, in order; the last is being read
        self._broken: list[int] = []  # numbers of those that are not to be tried again
        self._deadline = math.inf  # from the first part on

    def go_on(self, process: "_Process") -> Iterator[ParsedUpload]:
        """Yield what the file becomes, to its end or up to the part that breaks the process, and why that is left
        out."""
        before = len(self._begun)
        request = {
            "name": self.name,
            "done": before,
            "broken": self._broken,
            "limits": asdict(self.limits),
        }
        try:
            process.ask(request, self.content, self.limits)
            while not self.ended:
                part = self._take(*process.answer(self.limits, self._deadline))
                if part is not None:
                    yield part
            process.is_waiting = True
        except _Ended as end:
            refused, reason = shown_name(self.name), end.reason
            if time.monotonic() > self._deadline:
                self.ended = True
                reason = self.limits.archive_too_long()
            elif len(self._begun) > before:
                self._broken.append(len(self._begun) - 1)
                refused = self._begun[-1]
            elif process.is_new:  # else it ended while it waited, and the next one is asked
                self.ended = True
            else:
                return
            yield ParsedUpload((), (Refusal(refused, reason),))

    def _take(self, header: dict[str, Any], body: bytes) -> ParsedUpload | None:
        """Note what the answer says, and return the documents that it holds, if any."""
        if "begun" in header:
            if not self._begun or header.get("portion"):  # each portion of a large file has the time of a file
                self._deadline = time.monotonic() + self.limits.archive_seconds
            self._begun.append(str(header["begun"]))
        elif "end" in header:
            self.ended = True
        elif "broken" in header:
            raise _Ended(self.limits.too_much_text() if header["broken"] == "output" else self.limits.too_much_memory())
        else:
            try:
                return unpacked(header, body)
            except (KeyError, TypeError, ValueError, RecordDamaged) as error:  # the worker process never writes that
                raise _Ended(_CRASHED) from error
        return None


class _Process:
    """A process that reads files. A thread takes its answers, so that they can be waited for with a limit."""

    def __init__(self) -> None:
        import psutil

        paths = [str(PACKAGES), os.environ.get("PYTHONPATH", "")]
        self._popen = subprocess.Popen(
            [sys.executable, "-P", "-m", "leanrag_core.indexing.parsing.worker"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,  # Ctrl-C is meant for the parent process
            env={**without_secrets(), "PYTHONPATH": os.pathsep.join(path for path in paths if path)},
        )
        self._seen = psutil.Process(self._popen.pid)
        self._answers: queue.Queue[_Frame | Exception | None] = queue.Queue(
            _AHEAD
        )  # when it is full, the process waits
        self._is_ended = threading.Event()
        self._part_ends = 0.0
        self.is_new = True
        self.is_waiting = False
        self._max_bytes = 0

    def ask(self, header: dict[str, Any], content: bytes, limits: ParseLimits) -> None:
        """Send the request. Raises _Ended when the process has ended."""
        assert self._popen.stdin is not None
        if self.is_waiting:
            self.is_new = False
        else:
            self._max_bytes = 2 * limits.output_bytes + (1 << 20)  # headings and pages are sent besides the text
            threading.Thread(target=self._listen, daemon=True).start()
        self.is_waiting = False
        self._part_ends = time.monotonic() + _START_SECONDS
        try:
            write_frame(self._popen.stdin, header, content)
        except OSError as error:
            raise _Ended(_CRASHED) from error

    def _listen(self) -> None:
        assert self._popen.stdout is not None
        frame: _Frame | None = None
        while True:
            try:
                frame = read_frame(self._popen.stdout, self._max_bytes)
            except (FrameTooLarge, ValueError, OSError, RecursionError) as error:
                self._put(error)
                return
            self._put(frame)
            if frame is None:
                return

    def _put(self, answer: _Frame | Exception | None) -> None:
        while not self._is_ended.is_set():
            try:
                self._answers.put(answer, timeout=_WAIT_SECONDS)
            except queue.Full:
                continue
            return

    def answer(self, limits: ParseLimits, deadline: float) -> _Frame:
        """Return the next answer. Ends the process and raises _Ended when it breaks a limit or crashes."""
        import psutil

        while True:
            try:
                frame = self._answers.get(timeout=_LOOK_SECONDS)
            except queue.Empty:
                with suppress(psutil.Error):  # it has ended: the end of its answers shows that
                    if self._seen.memory_info().rss > limits.memory_bytes:
                        raise self._ended(limits.too_much_memory()) from None
                now = time.monotonic()
                if now > min(deadline, self._part_ends):
                    raise self._ended(limits.too_long()) from None
                continue
            if isinstance(frame, FrameTooLarge):
                raise self._ended(limits.too_much_text())
            if frame is None or isinstance(frame, Exception):
                raise self._ended(_CRASHED)
            if "begun" in frame[0]:
                self._part_ends = time.monotonic() + limits.seconds
            return frame

    def _ended(self, reason: Message) -> _Ended:
        self.end()
        return _Ended(reason)

    def end(self) -> None:
        """End the process."""
        self._is_ended.set()
        self._popen.kill()
        self._popen.wait()
        for stream in (self._popen.stdin, self._popen.stdout):
            with suppress(OSError):
                if stream is not None:
                    stream.close()


def _end_all(processes: list[_Process]) -> None:
    while processes:
        processes.pop().end()
