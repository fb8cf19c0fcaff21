"""What an archive may hold, whatever its format: counted over all archives in one file."""

from collections.abc import Callable
from dataclasses import dataclass

from leanrag_core.errors import UnreadableDocument

MAX_FILES = 2_000
MAX_BYTES = 500 * 1024 * 1024  # of all files, unpacked
MAX_FILE_BYTES = 200 * 1024 * 1024  # as of a file that is uploaded alone
MAX_RATIO = 200  # text packs to a twentieth, drawings in XML to a hundredth
MAX_DEPTH = 3  # archives within archives
_FREE_BYTES = 10 * 1024 * 1024  # small files may be packed as tightly as they like


@dataclass(frozen=True)
class Member:
    """A file in an archive. name: with its folders, never a path. read: raises UnreadableDocument."""

    name: str
    read: Callable[[], bytes]


class Allowance:
    """What is left of the limits while the archives of one file are opened."""

    def __init__(self) -> None:
        self.files, self.bytes = MAX_FILES, MAX_BYTES

    def take(self, n_files: int, n_bytes: int) -> None:
        """Take an archive of that size off the allowance. Raises UnreadableDocument when it is too much."""
        if n_files > self.files:
            raise UnreadableDocument("file.archive_too_many_files", limit=MAX_FILES)
        if n_bytes > self.bytes:
            raise UnreadableDocument("file.unpacks_too_large", limit=MAX_BYTES >> 20)
        self.files, self.bytes = self.files - n_files, self.bytes - n_bytes


def check_size(unpacked: int, packed: int) -> None:
    """Raise UnreadableDocument for a file that is too large or packed as no text is."""
    if unpacked > MAX_FILE_BYTES:
        raise UnreadableDocument("file.unpacks_too_large", limit=MAX_FILE_BYTES >> 20)
    if unpacked > _FREE_BYTES and unpacked > MAX_RATIO * max(1, packed):
        raise UnreadableDocument("file.packed_too_tightly", limit=MAX_RATIO)
