"""Files that are as they were or complete, whatever happens while they are written: an error, a kill, a power cut.

A file is synced before it is renamed into place, and its folder after: the system may otherwise write the new name
first, and after a power cut there is an empty file of that name.
"""

import errno
import os
import threading
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from leanrag_core.errors import StorageFailed
from leanrag_core.files import private as owner_only
from leanrag_core.files.records import json_bytes
from leanrag_core.messages.message import Message, message

_PROBE_BYTES = 1 << 16
_OF_DISKS = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS)
_SYNC_THREADS = 8  # a disk writes many waiting files in nearly the time that one takes
_REASONS = {
    errno.ENOSPC: (message("disk.full"), message("disk.free_space")),
    errno.EDQUOT: (message("disk.quota"), message("disk.free_space")),
    errno.EFBIG: (message("disk.file_limit"), message("disk.raise_limit")),
    errno.EROFS: (message("disk.read_only"), message("disk.make_writable")),
    errno.EACCES: (message("disk.no_right"), message("disk.give_right")),
    errno.EPERM: (message("disk.no_right"), message("disk.give_right")),
}


def write_json(path: Path, value: Any, *, private: bool = False) -> None:
    """Write JSON values, keys sorted, a line each; see write_bytes."""
    write_bytes(path, json_bytes(value, indent=1), private=private)


def write_bytes(path: Path, content: bytes, *, private: bool = False, sync: bool = True) -> None:
    """Write the content to the file; on an error the file is as it was, and nothing is left beside it.

    private: for its owner alone. sync: on the disk, too, when this returns; else the caller does that with sync_all().
    """
    with replacing(path) as written, open(written, "wb", opener=owner_only.opener if private else None) as file:
        file.write(content)
        if sync:
            file.flush()
            os.fsync(file.fileno())
    if sync:
        sync_folder(path.parent)


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Give a path beside the file to be written in the block, which then takes the file's place; on an error it is
    deleted. It may take that place before its content is on the disk, unless the block syncs it."""
    written = path.with_name(f".{path.name}.{os.getpid()}.{threading.get_ident()}")
    try:
        yield written
        os.replace(written, path)
    except BaseException:
        written.unlink(missing_ok=True)
        raise


def sync_file(path: Path) -> None:
    """Write the file's content from the system's memory to the disk."""
    handle = os.open(path, os.O_RDWR if os.name == "nt" else os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def sync_folder(folder: Path) -> None:
    """Write the names in the folder to the disk, as far as its file system supports that."""
    if os.name == "nt":  # folders cannot be opened there
        return
    try:
        sync_file(folder)
    except OSError as error:
        if error.errno not in (errno.EINVAL, errno.ENOTSUP):  # network drives that know no such thing
            raise


def sync_all(files: Iterable[Path], folder: Path) -> None:
    """Sync the files of the folder, and their names."""
    with ThreadPoolExecutor(_SYNC_THREADS) as pool:
        list(pool.map(sync_file, files))
    sync_folder(folder)


def sync_tree(folder: Path) -> None:
    """Sync everything below the folder."""
    for root, _, names in os.walk(folder):
        sync_all([Path(root) / name for name in names if not (Path(root) / name).is_symlink()], Path(root))


def refused_by_the_disk(folder: Path) -> OSError | None:
    """Return the error that writing to the folder raises, None when it works; libraries do not always pass such
    errors on."""
    probe = folder / f".probe.{os.getpid()}.{threading.get_ident()}"
    try:
        write_bytes(probe, b"\0" * _PROBE_BYTES, private=True)
        probe.unlink()
    except OSError as error:
        return error
    return None


@contextmanager
def writing(what: Message, kept: Message | None = None) -> Iterator[None]:
    """Turn errors of the system in the block into StorageFailed. what: is written; kept: what is not lost, a
    sentence."""
    try:
        yield
    except OSError as error:
        raise storage_failed(what, error, kept) from error


@contextmanager
def disk_errors_of(what: Message, kept: Message | None = None) -> Iterator[None]:
    """Turn errors that only writing can raise into StorageFailed; as writing(), for a block that does more than
    write."""
    try:
        yield
    except OSError as error:
        if error.errno not in _OF_DISKS:
            raise
        raise storage_failed(what, error, kept) from error


def remedy_of(error: OSError) -> Message | None:
    """Say what to do about an error of the disk; None for one of another kind."""
    return _REASONS[error.errno][1] if error.errno in _REASONS else None


def storage_failed(what: Message, error: OSError, kept: Message | None = None) -> StorageFailed:
    """Return the error as StorageFailed: which thing, what is wrong, what to do, what is not lost."""
    other = message("plain", text=error.strerror or str(error)), message("disk.look")
    reason, remedy = _REASONS.get(error.errno or 0, other)
    if kept is None:
        return StorageFailed("disk.not_written", what=what, reason=reason, remedy=remedy)
    return StorageFailed("disk.not_written_kept", what=what, reason=reason, remedy=remedy, kept=kept)
