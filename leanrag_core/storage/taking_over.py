"""Files of an index that the index before it has already: taken over by a link instead of being written once more.

A file is never written again once it is in place, only replaced, so that a link cannot change under a reader. What is
to be written goes to a sink that only compares it with the previous file: every byte has to be the same. What the
manifest recorded of that file then holds for the new one; should the disk have damaged it, `check` finds it in both.
"""

import io
import os
import stat
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa

from leanrag_core.errors import LeanRAGError
from leanrag_core.files.atomic import replacing
from leanrag_core.storage.digests import record_of
from leanrag_core.storage.tables import Sink, read_table, require_columns
from leanrag_core.types.manifest import FileRecord

Fill: TypeAlias = Callable[[Sink], None]  # writes the whole content of a file; asked twice, it writes the same
_BLOCK = 1 << 20


@dataclass(frozen=True)
class EarlierFiles:
    """The files of the index that is replaced. recorded: size and hash of each, as its manifest says; none where there
    is no such index, or none that reads."""

    folder: Path = Path()
    recorded: Mapping[str, FileRecord] = field(default_factory=dict)

    def table(self, name: str, schema: pa.Schema) -> pa.Table | None:
        """Return the table in that file, mapped; None where there is none that can be read without harm."""
        path = self.folder / name
        if not self._has(name):
            return None
        with suppress(LeanRAGError):
            table = read_table(path)
            require_columns(table, schema, path)
            return table
        return None

    def equal_to(self, name: str, fill: Fill) -> FileRecord | None:
        """Return the record of the file of that name where it holds just what `fill` writes, else None."""
        if not self._has(name):
            return None
        sink = _Comparing(np.memmap(self.folder / name, dtype=np.uint8, mode="r"))
        fill(sink)
        return self.recorded[name] if sink.is_equal else None

    def _has(self, name: str) -> bool:
        record = self.recorded.get(name)
        with suppress(OSError):
            file_stat = (self.folder / name).lstat()
            return record is not None and stat.S_ISREG(file_stat.st_mode) and 0 < file_stat.st_size == record.size
        return False


NO_EARLIER = EarlierFiles()


def put(path: Path, fill: Fill, earlier: EarlierFiles = NO_EARLIER) -> FileRecord:
    """Put a file of that content at the path and return its record; where the index before has the same file under the
    same name, the path becomes a link to it, or a copy where the disk cannot link."""
    record = earlier.equal_to(path.name, fill)
    if record is not None:
        with suppress(OSError):
            os.link(earlier.folder / path.name, path)
            return record
    with replacing(path) as new_path, new_path.open("wb") as file:
        fill(file)
    return record or record_of(path)


class _Comparing(io.RawIOBase):
    """A file that keeps nothing of what is written to it, and knows whether it would have the stored bytes."""

    def __init__(self, stored: np.ndarray) -> None:
        """Take the bytes that others are compared with. stored: (n,) uint8."""
        super().__init__()
        self._stored, self._at, self._same = stored, 0, True

    @property
    def is_equal(self) -> bool:
        """Whether all was written that is stored, and nothing else."""
        return self._same and self._at == len(self._stored)

    def writable(self) -> bool:
        """Return True: it takes bytes."""
        return True

    def tell(self) -> int:
        """Return how many bytes were written."""
        return self._at

    def write(self, content: Any) -> int:
        """Compare the bytes with those that are stored at this place."""
        new_bytes = np.frombuffer(content, dtype=np.uint8)
        for start in range(0, len(new_bytes) if self._same else 0, _BLOCK):
            block, at = new_bytes[start : start + _BLOCK], self._at + start
            self._same = self._same and np.array_equal(block, self._stored[at : at + len(block)])
        self._at += len(new_bytes)
        return len(new_bytes)
