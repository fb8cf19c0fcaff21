"""Files that are as they were or complete, whatever happens while they are written: a fault, a kill, a power cut.

What is renamed into place was on the disk before, content and name: the system may otherwise write the new name first,
and after a power cut an empty file bears it.
"""

import errno
import json
import os
import threading
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from leanrag_core import private as owner_only
from leanrag_core.errors import StorageFailed

_PROBE_BYTES = 1 << 16
_OF_DISKS = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS)
_SYNCS_AT_ONCE = 8  # a disk writes many waiting files in nearly the time of one
_REASONS = {
    errno.ENOSPC: ("the disk is full", "Free some space"),
    errno.EDQUOT: ("your share of the disk is used up", "Free some space"),
    errno.EFBIG: ("the file would be larger than this process may write", "Raise the limit (ulimit -f)"),
    errno.EROFS: ("the disk is read-only", "Make it writable, or choose another folder"),
    errno.EACCES: ("this user may not write there", "Give it the right to, or choose another folder"),
    errno.EPERM: ("this user may not write there", "Give it the right to, or choose another folder"),
}


def write_json(path: Path, value: Any, *, private: bool = False) -> None:
    """The value stands in the file on the disk, keys sorted, or the file is as it was. private: see write_bytes."""
    text = json.dumps(value, indent=1, sort_keys=True, ensure_ascii=False) + "\n"
    write_bytes(path, text.encode(), private=private)


def write_bytes(path: Path, content: bytes, *, private: bool = False, sync: bool = True) -> None:
    """The content stands in the file, or the file is as it was and nothing stands beside it.

    private: for its owner alone. sync: on the disk, too, when this returns; else the caller does that with sync_all().
    """
    beside = path.with_name(f".{path.name}.{os.getpid()}.{threading.get_ident()}")
    try:
        with open(beside, "wb", opener=owner_only.opener if private else None) as file:
            file.write(content)
            if sync:
                file.flush()
                os.fsync(file.fileno())
        os.replace(beside, path)
    except BaseException:
        beside.unlink(missing_ok=True)
        raise
    if sync:
        sync_folder(path.parent)


def sync_file(path: Path) -> None:
    """What was written to the file is on the disk."""
    handle = os.open(path, os.O_RDWR if os.name == "nt" else os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def sync_folder(folder: Path) -> None:
    """The names in the folder are on the disk, as far as its file system can promise that."""
    if os.name == "nt":  # folders cannot be opened there
        return
    try:
        sync_file(folder)
    except OSError as error:
        if error.errno not in (errno.EINVAL, errno.ENOTSUP):  # network drives that know no such thing
            raise


def sync_all(files: Iterable[Path], folder: Path) -> None:
    """The files of the folder are on the disk, and their names."""
    with ThreadPoolExecutor(_SYNCS_AT_ONCE) as pool:
        list(pool.map(sync_file, files))
    sync_folder(folder)


def sync_tree(folder: Path) -> None:
    """Everything below the folder is on the disk."""
    for here, _, names in os.walk(folder):
        sync_all([Path(here) / name for name in names if not (Path(here) / name).is_symlink()], Path(here))


def refused_by_the_disk(folder: Path) -> OSError | None:
    """What the disk says when something is written to the folder; libraries do not always tell it on."""
    probe = folder / f".probe.{os.getpid()}.{threading.get_ident()}"
    try:
        write_bytes(probe, b"\0" * _PROBE_BYTES, private=True)
        probe.unlink()
    except OSError as error:
        return error
    return None


@contextmanager
def writing(what: str, kept: str = "") -> Iterator[None]:
    """Errors of the system in the block become StorageFailed. what: is written; kept: what is not lost, a sentence."""
    try:
        yield
    except OSError as error:
        raise storage_failed(what, error, kept) from error


@contextmanager
def disk_errors_of(what: str, kept: str = "") -> Iterator[None]:
    """As writing(), for a block that does much else: errors that only writing meets become StorageFailed."""
    try:
        yield
    except OSError as error:
        if error.errno not in _OF_DISKS:
            raise
        raise storage_failed(what, error, kept) from error


def remedy_of(error: OSError) -> str:
    """What to do about an error of the disk; nothing for one of another kind."""
    return _REASONS[error.errno][1] if error.errno in _REASONS else ""


def storage_failed(what: str, error: OSError, kept: str = "") -> StorageFailed:
    """The error in words: which thing, what is wrong, what to do."""
    reason, remedy = _REASONS.get(error.errno or 0, (error.strerror or str(error), "Look at the disk"))
    return StorageFailed(f"{what} could not be written: {reason}. {remedy}, then try again. {kept}".rstrip())
