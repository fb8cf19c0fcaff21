"""Folders of indexes are built beside and renamed into place; they are hidden before they are deleted."""

import contextlib
import os
import re
import shutil
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from filelock import BaseFileLock, FileLock, Timeout

from leanrag_core.errors import FolderRefused
from leanrag_core.files import private
from leanrag_core.files.atomic import disk_errors_of, refused_by_the_disk, sync_folder, sync_tree, writing
from leanrag_core.messages.message import Message, message
from leanrag_core.storage.earlier_states import (
    begin_keeping,
    change_record,
    copy_state,
    forget_earlier,
    is_earlier,
    keep_earlier,
    state_folder,
    tidy,
)
from leanrag_core.storage.layout import read_manifest, rename_corpus, rename_index
from leanrag_core.storage.ownership import MANIFEST, require_deletable, require_replaceable
from leanrag_core.storage.part_store import take_over_parts
from leanrag_core.types.manifest import Manifest
from leanrag_core.types.snapshots import Snapshot, StateChange

_STAGING = ".building-"
_RETIRED = ".retired-"  # what the new folder replaces, until that is in place
_REPLACED = ".replaced-"  # the same, of an index that keeps its earlier states
DELETED = ".deleted-"
_KEPT = message("kept.index_and_answers")
_OF_PART = ".part-"  # in the name of a lock, before that of a part
_POLL_SECONDS = 0.2


@contextlib.contextmanager
def build_lock(target: Path, *, waiting: Callable[[], None]) -> Iterator[bool]:
    """Lock target while the block lasts, so that one process and thread builds it; yield whether it had to wait.

    It waits for the parts of target that are being made, too. waiting: called repeatedly meanwhile; what it raises ends
    the wait. The lock of a process that dies is released.
    """
    target = _named(target)
    with _locked(target, _lock_file(target), waiting) as waited:
        for path in _part_locks(target):
            with _locked(target, path, waiting) as waited_for_part:
                waited = waited or waited_for_part
        yield waited


@contextlib.contextmanager
def part_lock(target: Path, part: str, *, waiting: Callable[[], None]) -> Iterator[bool]:
    """Lock one part of the index in target while the block lasts; yield whether it had to wait.

    Other parts may be made meanwhile. While target is built it waits, and target is not built while the block lasts. A
    process takes the lock of a part only while it briefly holds that of target, so that build_lock() finds every part
    that is made. waiting: see build_lock().
    """
    target = _named(target)
    path, waited = (target.parent / f"{_STAGING}{target.name}{_OF_PART}{part}.lock"), False
    while True:
        with _locked(target, _lock_file(target), waiting) as waited_for_index:
            waited = waited or waited_for_index
            lock = FileLock(path)
            with contextlib.suppress(Timeout):
                lock.acquire(blocking=False)
        if lock.is_locked:
            break
        waited = True
        waiting()
        time.sleep(_POLL_SECONDS)
    with _released(lock, path):
        yield waited


@contextlib.contextmanager
def _locked(target: Path, path: Path, waiting: Callable[[], None]) -> Iterator[bool]:
    """Hold the lock in that file beside target while the block lasts; yield whether it had to wait."""
    with writing(_index(target)):
        target.parent.mkdir(parents=True, exist_ok=True)
        refused = refused_by_the_disk(target.parent)  # filelock takes some refusals for a lock that another one holds
        if refused is not None:
            raise refused
        lock, waited = FileLock(path), False
        while True:
            try:
                lock.acquire(blocking=False)
                break
            except Timeout:
                waited = True
            waiting()
            with contextlib.suppress(Timeout):
                lock.acquire(timeout=_POLL_SECONDS, poll_interval=_POLL_SECONDS / 4)
                break
    with _released(lock, path):
        yield waited


@contextlib.contextmanager
def _released(lock: BaseFileLock, path: Path) -> Iterator[None]:
    """Release the lock, which is held, when the block ends."""
    try:
        yield
    finally:
        # Before it is released: a process that waits sees that the file is gone, and makes a new one.
        path.unlink(missing_ok=True)
        lock.release()


def _named(target: Path) -> Path:
    """Return the absolute path, which ends in a name where the given one ends in "." or ".."."""
    return Path(os.path.abspath(target))


def _index(target: Path) -> Message:
    return message("what.index", folder=str(target))


def _staging_folder(target: Path) -> Path:
    """Return the folder in which this process makes what takes the place of target."""
    return target.parent / f"{_STAGING}{target.name}-{os.getpid()}"


def _lock_file(target: Path) -> Path:
    return target.parent / f"{_STAGING}{target.name}.lock"


def _part_locks(target: Path) -> list[Path]:
    """Return the files of the locks of parts of target, held or left behind."""
    start = f"{_STAGING}{target.name}{_OF_PART}"
    return sorted(path for path in target.parent.iterdir() if path.name.startswith(start) and path.suffix == ".lock")


@contextlib.contextmanager
def staged(target: Path, *, in_store: bool = False, keeps: StateChange | None = None) -> Iterator[Path]:
    """Yield a new folder beside target. When the block ends it takes target's place; on an error it is deleted.

    keeps: what is done to the index, which is then kept as an earlier state (storage.earlier_states); None for a build
    that replaces it. The new folder's content is on the disk before it takes that place. Raises FolderRefused where
    target may not be replaced (see require_replaceable) or is an earlier state, StorageFailed where the disk takes no
    more.
    """
    target = _named(target)
    if is_earlier(target):
        raise FolderRefused("snapshot.read_only", folder=str(target))
    require_replaceable(target, in_store=in_store)
    with writing(_index(target)):
        if in_store:
            private.make_folder(target.parent)
        target.parent.mkdir(parents=True, exist_ok=True)
        remove_stale_staging(target)
        staging = _staging_folder(target)
        staging.mkdir()
    try:
        with disk_errors_of(_index(target), _KEPT):
            yield staging
        with writing(_index(target), _KEPT):
            if (staging / MANIFEST).is_file():
                take_over_parts(target, staging)
            sync_tree(staging)
            require_replaceable(target, in_store=in_store)  # files may have been put there meanwhile
            _put_in_place(staging, target, keeps)
    finally:
        shutil.rmtree(staging, ignore_errors=True)


def _put_in_place(staging: Path, target: Path, keeps: StateChange | None) -> None:
    prefix = _REPLACED if keeps else _RETIRED
    retired = target.parent / f"{prefix}{target.name}-{os.getpid()}"
    replaces = target.exists()
    if keeps and replaces:
        begin_keeping(target, keeps)
    if replaces:
        os.replace(target, retired)
    try:
        os.replace(staging, target)
    except BaseException:
        if replaces:
            os.replace(retired, target)
        raise
    sync_folder(target.parent)
    if replaces and keeps:
        keep_earlier(retired, target)
    shutil.rmtree(retired, ignore_errors=True)


def put_back(target: Path, state: Snapshot) -> None:
    """Put the earlier state in the place of the index; newer states without a name are deleted. One that has a name
    stays a state as well. The names that the index and its corpus have by now stay. Raises StorageFailed."""
    target = _named(target)
    folder, copy = state_folder(target, state.number), _staging_folder(target)
    now = read_manifest(target)
    with writing(_index(target)):
        if state.name:
            copy_state(folder, copy)
            folder = copy
        give_names(folder, now)
        sync_tree(folder)
        if state.name:
            change_record(target, state, undoable=False)
        _put_in_place(folder, target, None)
        forget_earlier(target, newer_than=state.number)


def put_again(target: Path, state: Snapshot, change: StateChange, *, in_store: bool) -> None:
    """Put an earlier state, which stays one, in the place of the index, which becomes one as well; the names that the
    index and its corpus have by now stay. change: recorded with the new earlier state. Raises StorageFailed,
    FolderRefused."""
    now = read_manifest(target)
    with staged(target, in_store=in_store, keeps=change) as staging:
        copy_state(state_folder(target, state.number), staging)
        give_names(staging, now)


def give_names(folder: Path, now: Manifest) -> None:
    """Give the index in the folder, which will take another one's place, the names of that one and of its corpus."""
    given = read_manifest(folder)
    if given.name != now.name:
        rename_index(folder, now.name)
    if given.corpus.name != now.corpus.name:
        rename_corpus(folder, now.corpus.name)


def remove_stale_staging(target: Path) -> None:
    """Delete unfinished folders of processes that died while they built target, and settle what they had set aside."""
    target = _named(target)
    for prefix in (_STAGING, _RETIRED, _REPLACED):
        staging_name = re.compile(re.escape(f"{prefix}{target.name}-") + r"([1-9][0-9]{0,9})")
        for path in sorted(target.parent.iterdir()) if target.parent.is_dir() else []:
            made_by = staging_name.fullmatch(path.name)
            if made_by is None or path.is_symlink() or _alive_elsewhere(int(made_by[1])):
                continue
            if prefix == _STAGING:
                shutil.rmtree(path, ignore_errors=True)
            else:
                _settle(path, target)
    with contextlib.suppress(OSError):  # what is left over costs space alone
        tidy(target)


def _settle(set_aside: Path, target: Path) -> None:
    """Finish for a process that died while it replaced target: put the folder back that it had set aside, keep it as an
    earlier state, or delete it."""
    if not target.exists():
        os.replace(set_aside, target)  # died between the two renames: the old one comes back
    elif set_aside.name.startswith(_REPLACED):
        keep_earlier(set_aside, target)
    else:
        shutil.rmtree(set_aside, ignore_errors=True)


def bring_back(root: Path) -> None:
    """Put indexes of the store back that a process had set aside when it died between two renames; where the new index
    is in place already, finish as the process would have done."""
    for path in sorted(root.glob(f"{_RETIRED}*")) + sorted(root.glob(f"{_REPLACED}*")):
        name, _, maker = path.name.split("-", 1)[1].rpartition("-")
        at_work = not maker.isdigit() or maker == str(os.getpid()) or _alive_elsewhere(int(maker))
        if name and not at_work and not path.is_symlink():
            with contextlib.suppress(OSError):  # on a read-only disk it stays aside, and nothing is lost
                _settle(path, root / name)


def in_staging(root: Path) -> list[Path]:
    """Return the folders below root that this process is building."""
    own_folder = re.compile(re.escape(_STAGING) + rf"(.+)-{os.getpid()}")
    return [root / match[1] for path in sorted(root.iterdir()) if (match := own_folder.fullmatch(path.name))]


def remove_half_built(root: Path) -> None:
    """Delete what processes had begun to build below root when they died, and their locks."""
    made_by = re.compile(re.escape(_STAGING) + r".+-([1-9][0-9]{0,9})")
    for path in sorted(root.glob(f"{_STAGING}*")):
        match = made_by.fullmatch(path.name)
        if match and path.is_dir() and not path.is_symlink():
            if int(match[1]) != os.getpid() and not _alive_elsewhere(int(match[1])):
                shutil.rmtree(path, ignore_errors=True)
        elif path.suffix == ".lock":
            with contextlib.suppress(Timeout, OSError), FileLock(path, blocking=False):  # else a live process has it
                path.unlink(missing_ok=True)


def give_up_staging(target: Path) -> None:
    """Delete what this process has begun to build, and its lock; the process must end at once."""
    target = _named(target)
    is_building = _staging_folder(target).exists()
    remove_stale_staging(target)
    if is_building:  # else another build has the lock, and this one waits for it
        _lock_file(target).unlink(missing_ok=True)


def _alive_elsewhere(pid: int) -> bool:
    """Tell whether the process is not this one, and is running."""
    if pid == os.getpid():
        return False
    try:
        os.kill(pid, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:
        return True
    return True


def delete_index(directory: Path) -> None:
    """Delete the index of a store, readable or not: it is hidden first.

    Raises IndexNotFound, FolderRefused where the folder holds something that is not ours, StorageFailed.
    """
    require_deletable(directory)
    retired = directory.parent / f"{DELETED}{directory.name}-{os.getpid()}"
    remove_half_deleted(directory.parent)
    with writing(message("what.index_folder", folder=str(directory))):
        forget_earlier(directory, named=True)
        os.replace(directory, retired)
        sync_folder(directory.parent)
        shutil.rmtree(retired)


def remove_half_deleted(root: Path) -> None:
    """Delete what processes had begun to delete when they died."""
    for path in sorted(root.glob(f"{DELETED}*-*")):
        maker = path.name.rsplit("-", 1)[1]
        if maker.isdigit() and not path.is_symlink() and not _alive_elsewhere(int(maker)):
            shutil.rmtree(path, ignore_errors=True)


def copy_index(source: Path, target: Path) -> None:
    """Copy the index into the folder of the store, complete or not at all, with its finished parts.

    Raises IndexNotFound, IndexDamaged, StorageFailed.
    """
    read_manifest(source)
    with build_lock(target, waiting=lambda: None), staged(target, in_store=True) as staging:
        # Hidden folders are parts that another process is making.
        shutil.copytree(source, staging, dirs_exist_ok=True, ignore=shutil.ignore_patterns(".*"))
