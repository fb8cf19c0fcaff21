"""Size and sha256 of every file of an index, as its manifest records them."""

import contextlib
import hashlib
import stat
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from leanrag_core.messages.message import Message, message
from leanrag_core.storage.json_files import damaged
from leanrag_core.types.manifest import FileRecord

Digests = Mapping[str, FileRecord]  # by path below the folder
_HASHED_ON_OPENING = 64_000_000  # bytes; some 0.05 s


def digest(path: Path) -> str:
    """Return the sha256 of the file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def digests_of(folder: Path, names: Iterable[str]) -> dict[str, FileRecord]:
    """Return what a manifest records of those files."""
    return {name: FileRecord((folder / name).stat().st_size, digest(folder / name)) for name in sorted(names)}


def require_same(folder: Path, recorded: Digests) -> None:
    """Raises IndexDamaged for the first file that has another size, or, of the smallest ones, another hash.

    Large files are not read completely here: an index of a million entities opens in a fraction of a second, and
    storage.bounds keeps out what a changed byte could do to the reader. `check` reads all.
    """
    for name, problem in wrong_sizes(folder, recorded):
        raise damaged(folder / name, problem)
    room = _HASHED_ON_OPENING
    for name in sorted(recorded, key=lambda name: (recorded[name].size, name)):
        room -= recorded[name].size
        if room < 0:
            return
        if digest(folder / name) != recorded[name].sha256:
            raise damaged(folder / name, message("damage.changed"))


def wrong_sizes(folder: Path, recorded: Digests) -> Iterator[tuple[str, Message]]:
    """Yield names of the files that are missing or have another size than recorded, and what is wrong."""
    for name, record in recorded.items():
        try:
            seen = (folder / name).stat()
        except OSError as error:
            yield name, message("damage.missing", reason=error.strerror or "")
            continue
        if not stat.S_ISREG(seen.st_mode):
            yield name, message("damage.no_file")
        elif seen.st_size != record.size:
            yield name, message("damage.size", size=seen.st_size, recorded=record.size)


def differing(folder: Path, recorded: Digests) -> Iterator[tuple[str, Message]]:
    """Yield names of all files that are not as recorded, each read through, and what is wrong."""
    wrong = dict(wrong_sizes(folder, recorded))
    for name in sorted(recorded):
        if name in wrong:
            yield name, wrong[name]
        elif digest(folder / name) != recorded[name].sha256:
            yield name, message("damage.other_hash")


@contextlib.contextmanager
def damage_named(folder: Path | None, recorded: Digests) -> Iterator[None]:
    """An error inside the block becomes IndexDamaged where a file of the index is no longer what was written.

    A large file is not read completely when an index is opened, so one of its texts may turn out to be no UTF-8 later.
    """
    try:
        yield
    except (ValueError, LookupError, TypeError, AssertionError) as error:
        if folder is not None:
            for name, problem in differing(folder, recorded):
                raise damaged(folder / name, problem) from error
            if isinstance(error, UnicodeDecodeError):  # in an index without hashes
                raise damaged(folder, message("damage.no_text")) from error
        raise
