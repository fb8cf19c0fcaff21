"""Finished batches on the driver's disk, so that work that was cut off goes on where it stopped.

A file bears the hash of everything that decides its content, so that it can be used by whoever needs the same again. It
is an array or JSON; nothing is ever unpickled.
"""

import re
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

from leanrag_core import private
from leanrag_core.atomic import write_bytes, writing

Apply = Callable[[Callable[[Any], Any], Iterable[Any]], Iterable[Any]]
_KEY = re.compile(r"[0-9a-f]{16,64}")
_OURS = re.compile(r"[0-9a-f]{16,64}|\.[0-9a-f]{16,64}\.\d+\.\d+")  # finished, or half written by who was killed
_DAYS_KEPT = 30.0


@runtime_checkable
class Keepable(Protocol):
    """A function of a batch whose results can be kept."""

    def key(self, batch: Any) -> str:
        """Hexadecimal hash of everything that decides the result, versions of models and rules included."""

    def pack(self, result: Any) -> bytes:
        """The result as bytes."""

    def unpack(self, content: bytes) -> Any:
        """The result of its bytes, equal in every bit. Raises ValueError for damaged ones."""


class KeptMap:
    """A map that does no batch again whose result stands in the folder, and adds the results of the others to it.

    Functions that are not Keepable are handed on. Only the driver writes; a file that does not read is made anew.
    """

    def __init__(self, apply: Apply, folder: Path) -> None:
        self.apply, self.folder = apply, folder
        self.n_found = 0
        self._used: list[Path] = []

    def __call__(self, function: Callable[[Any], Any], items: Iterable[Any]) -> Iterator[Any]:
        if not isinstance(function, Keepable):
            yield from self.apply(function, items)
            return
        with writing(f"the folder {self.folder} of finished batches"):
            private.make_folder(self.folder)
        batches = list(items)
        paths = [self._path(function.key(batch)) for batch in batches]
        self._used += paths
        there = [path.exists() for path in paths]
        missing = [batch for batch, kept in zip(batches, there, strict=True) if not kept]
        made = iter(self.apply(function, missing))
        for batch, path, kept in zip(batches, paths, there, strict=True):
            if kept:
                try:
                    result = function.unpack(path.read_bytes())
                    self.n_found += 1
                except (OSError, ValueError):
                    [result] = self.apply(function, [batch])
                    _write(path, function.pack(result))
            else:
                result = next(made)
                _write(path, function.pack(result))
            yield result

    def _path(self, key: str) -> Path:
        if not _KEY.fullmatch(key):
            raise ValueError(f"{key!r} is no hash")
        return self.folder / key

    def forget(self) -> None:
        """The batches that this map has used are deleted, and those that nobody came back for in a month."""
        for path in self._used:
            path.unlink(missing_ok=True)
        self._used.clear()
        if self.folder.is_dir():
            oldest = time.time() - _DAYS_KEPT * 86400
            for path in sorted(self.folder.iterdir()):  # a file of another kind is somebody else's
                if _OURS.fullmatch(path.name) and _age(path) < oldest:
                    path.unlink(missing_ok=True)


def _age(path: Path) -> float:
    """When the file was written; now, for one that has just been deleted."""
    try:
        return path.stat().st_mtime
    except FileNotFoundError:
        return time.time()


def _write(path: Path, content: bytes) -> None:
    """The content stands in the file, or nothing does. After a power cut a batch may be missing; it is made anew."""
    with writing(f"a finished batch in {path.parent}", "The batches before it are kept: build again to go on."):
        write_bytes(path, content, private=True, sync=False)
