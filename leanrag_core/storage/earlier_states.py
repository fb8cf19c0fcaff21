"""Earlier states of an index, complete folders beside it, and how far states are from fresh builds."""

import contextlib
import filecmp
import os
import re
import shutil
import stat
from collections.abc import Iterable
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from leanrag_core.errors import LeanRAGError, RecordDamaged
from leanrag_core.files import private
from leanrag_core.files.atomic import sync_folder, sync_tree, write_bytes, writing
from leanrag_core.files.records import from_json, to_json
from leanrag_core.messages.message import message
from leanrag_core.storage.layout import REPORT, read_manifest, size_bytes
from leanrag_core.storage.part_store import PartStore, link_or_copy
from leanrag_core.types.manifest import FileRecord
from leanrag_core.types.snapshots import KEPT_BYTES, KEPT_STATES, Snapshot, StateChange, StateRecord
from leanrag_core.types.updating import FreshDistance

_EARLIER = ".earlier-"
_DELETED = "deleted-"
_LINKED = ".linked-"
_NUMBER = re.compile(r"[1-9][0-9]{0,8}")
_RECORD = ".json"
_MAX_RECORD_BYTES = 100_000


def earlier_states(target: Path) -> tuple[Snapshot, ...]:
    """Return the earlier states of the index that read, the newest first."""
    states = []
    for path in _folders(target):
        try:
            manifest = read_manifest(path)
        except LeanRAGError:
            continue
        number, size, own_bytes = int(path.name), size_bytes(path), _own_bytes(path)
        record = _record(target, number, manifest.id)
        if record is None:
            states.append(Snapshot(number, manifest.id, manifest.counts.documents, size, own_bytes))
            continue
        record_values = (record.kept, record.change, record.name, record.undoable)
        states.append(Snapshot(number, manifest.id, manifest.counts.documents, size, own_bytes, *record_values))
    return tuple(states)


def state_folder(target: Path, number: int) -> Path:
    """Return the folder of that earlier state."""
    return earlier_folder(target) / str(number)


def is_earlier(folder: Path) -> bool:
    """Tell whether the folder is that of an earlier state, which nothing may change."""
    return Path(os.path.abspath(folder)).parent.name.startswith(_EARLIER)


def begin_keeping(target: Path, change: StateChange) -> None:
    """Write when and why the index becomes an earlier state, before it does: the disk may be full."""
    private.make_folder(earlier_folder(target))
    with contextlib.suppress(LeanRAGError):  # an index that does not read is replaced nevertheless
        _write_record(target, _next_number(target), _record_now(read_manifest(target).id, change))


def keep_earlier(folder: Path, target: Path) -> None:
    """Keep the folder, which held the index so far, as the newest earlier state; the oldest beyond the limits go.

    Where the disk can link files, those that are equal in the present index or in another state take no space twice.
    """
    store = earlier_folder(target)
    private.make_folder(store)
    new_state = store / str(_next_number(target))
    os.replace(folder, new_state)
    sync_folder(store)
    with contextlib.suppress(OSError, LeanRAGError):  # then it takes more space, or the oldest go with the next one
        _share_files(new_state, (target, *(path for path in _folders(target) if path != new_state)))
        _delete(target, _beyond_limits(target))


def copy_state(source: Path, folder: Path) -> None:
    """Copy a state of an index into the empty folder; files that never change again are linked where the disk can."""
    fixed = _fixed_files(source)

    def put(file: str, copy: str) -> str:
        return (link_or_copy if Path(file).relative_to(source).as_posix() in fixed else shutil.copy2)(file, copy)

    # Hidden folders are parts that another process is making.
    ignored = shutil.ignore_patterns(".*")
    shutil.copytree(source, folder, dirs_exist_ok=True, copy_function=put, ignore=ignored)


def keep_copy(target: Path, name: str) -> int:
    """Keep the index as it is now under that name; return the number. Undoing a change skips it."""
    store, number = earlier_folder(target), _next_number(target)
    record = replace(_record_now(read_manifest(target).id, StateChange("copy")), name=name, undoable=False)
    private.make_folder(store)
    half = store / f"{_DELETED}{number}"  # what a killed process leaves of it is deleted with the next state
    try:
        _delete(target, ())
        private.make_folder(half)
        copy_state(target, half)
        sync_tree(half)
        _write_record(target, number, record)
        os.replace(half, store / str(number))
    except BaseException:
        with contextlib.suppress(OSError):
            _delete(target, ())
        raise
    sync_folder(store)
    return number


def change_record(target: Path, state: Snapshot, **values: Any) -> None:
    """Change the record beside the state: its name, or whether undo may return to it."""
    record = _record(target, state.number, state.id) or StateRecord(state.id, "", StateChange("update"))
    _write_record(target, state.number, replace(record, **values))


def delete_state(target: Path, number: int) -> None:
    """Delete that earlier state, named or not."""
    _delete(target, [state_folder(target, number)])


def forget_earlier(target: Path, *, newer_than: int = 0, named: bool = False) -> None:
    """Delete the earlier states of the index with larger numbers, and with them what removed documents have left there.

    named: also those that have a name.
    """
    kept_numbers = () if named else tuple(state.number for state in earlier_states(target) if state.name)
    folders = [path for path in _folders(target) if int(path.name) > newer_than]
    _delete(target, [path for path in folders if int(path.name) not in kept_numbers])


def tidy(target: Path) -> None:
    """Delete what a process had begun to make or delete among the states when it died."""
    _delete(target, ())


def _beyond_limits(target: Path) -> list[Path]:
    """Return the folders of the oldest unnamed states, beyond the number and the bytes that are kept."""
    named = {state.number for state in earlier_states(target) if state.name}
    unnamed = [path for path in _folders(target) if int(path.name) not in named]
    total, surplus = 0, unnamed[KEPT_STATES:]
    for place, path in enumerate(unnamed[:KEPT_STATES]):
        total += _own_bytes(path)
        if place and total > KEPT_BYTES:
            surplus.append(path)
    return surplus


def _own_bytes(folder: Path) -> int:
    """Return the bytes of the files below the folder that no other folder links."""
    total = 0
    for path in folder.rglob("*"):
        with contextlib.suppress(FileNotFoundError):
            status = path.lstat()
            total += status.st_size if stat.S_ISREG(status.st_mode) and status.st_nlink == 1 else 0
    return total


def _fixed_files(folder: Path) -> dict[str, FileRecord]:
    """Return the files below the folder of an index that are never written again, only replaced, as recorded."""
    fixed = dict(read_manifest(folder).files)
    for part in PartStore(folder).all():
        if part.record is not None:
            below = part.folder.relative_to(folder).as_posix()
            fixed |= {f"{below}/{name}": record for name, record in part.record.files.items()}
    return fixed


def _share_files(folder: Path, others: Iterable[Path]) -> None:
    """Replace files of the state by links to equal ones of the other folders; every byte is compared. Its report stays
    a file of its own, whose time says when the state was built."""
    known: dict[tuple[str, int], Path] = {}
    for other in others:
        with contextlib.suppress(LeanRAGError):
            for name, record in _fixed_files(other).items():
                known.setdefault((record.sha256, record.size), other / name)
    linked = folder.parent / f"{_LINKED}{os.getpid()}"
    for name, record in sorted(_fixed_files(folder).items()):
        path, equal = folder / name, known.get((record.sha256, record.size))
        if name == REPORT or equal is None or not equal.is_file() or path.samefile(equal):
            continue
        if filecmp.cmp(path, equal, shallow=False):  # one of them may be damaged
            linked.unlink(missing_ok=True)
            os.link(equal, linked)
            os.replace(linked, path)


def _delete(target: Path, states: Iterable[Path]) -> None:
    """Delete the folders of states, and what a process had begun to make or delete when it died.

    A folder is hidden first: half of one might be listed and put back.
    """
    store = earlier_folder(target)
    if store.is_symlink() or not store.is_dir():
        return
    for path in store.glob(f"{_DELETED}*"):
        shutil.rmtree(path)
    for path in states:
        hidden = path.with_name(f"{_DELETED}{path.name}")
        os.replace(path, hidden)
        shutil.rmtree(hidden)
    numbers = {path.name for path in _folders(target)}
    for path in (*store.glob(f"*{_RECORD}"), *store.glob(f"{_LINKED}*"), *store.glob(f".*{_RECORD}.*")):
        if path.stem not in numbers:
            path.unlink(missing_ok=True)
    if not any(store.iterdir()):
        store.rmdir()


def _record_now(id_: str, change: StateChange) -> StateRecord:
    return StateRecord(id_, datetime.now(UTC).isoformat(timespec="seconds"), change)


def _write_record(target: Path, number: int, record: StateRecord) -> None:
    write_bytes(earlier_folder(target) / f"{number}{_RECORD}", to_json(record), private=True)


def _record(target: Path, number: int, id_: str) -> StateRecord | None:
    """Return the record beside the state; None where there is none, or it is of another state."""
    path = earlier_folder(target) / f"{number}{_RECORD}"
    try:
        record = from_json(StateRecord, path.read_bytes(), name=path.name, max_bytes=_MAX_RECORD_BYTES)
    except (OSError, RecordDamaged):
        return None
    return record if record.of == id_ else None


def _next_number(target: Path) -> int:
    return max((int(path.name) for path in _folders(target)), default=0) + 1


def earlier_folder(target: Path) -> Path:
    """Return the folder that holds the earlier states of the index."""
    target = Path(os.path.abspath(target))
    return target.parent / f"{_EARLIER}{target.name}"


def _folders(target: Path) -> list[Path]:
    """Return the folders of the states, the newest first."""
    store = earlier_folder(target)
    if store.is_symlink() or not store.is_dir():
        return []
    numbered = [path for path in store.iterdir() if _NUMBER.fullmatch(path.name) and not path.is_symlink()]
    return sorted(numbered, key=lambda path: -int(path.name))


_ID = re.compile(r"[a-z0-9][a-z0-9-]{0,80}")


class FreshDistances:
    """Keeps the distances below one folder, by the id that an index's manifest gives it."""

    def __init__(self, root: Path) -> None:
        self._root = root

    def write(self, index_id: str, distance: FreshDistance) -> None:
        """Keep the distance of the index. Raises StorageFailed."""
        path = self._path(index_id)
        with writing(message("what.index", folder=index_id)):
            private.make_folder(self._root)
            write_bytes(path, to_json(distance, indent=1), private=True)

    def read(self, index_id: str) -> FreshDistance | None:
        """Return the distance of the index; None where it was not compared, or the file does not read."""
        path = self._path(index_id)
        try:
            return from_json(FreshDistance, path.read_bytes(), name=path.name)
        except (OSError, RecordDamaged):
            return None

    def _path(self, index_id: str) -> Path:
        name = index_id if _ID.fullmatch(index_id) else "unknown"
        return self._root / f"{name}.json"
