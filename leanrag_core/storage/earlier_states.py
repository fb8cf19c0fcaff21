"""Earlier states of an index, complete folders beside it, and how far states are from fresh builds."""

import contextlib
import os
import re
import shutil
from collections.abc import Iterable
from pathlib import Path

from leanrag_core.errors import LeanRAGError, RecordDamaged
from leanrag_core.files import private
from leanrag_core.files.atomic import sync_folder, write_bytes, writing
from leanrag_core.files.records import from_json, to_json
from leanrag_core.messages.message import message
from leanrag_core.storage.layout import read_manifest, size_bytes
from leanrag_core.types.updating import KEPT_STATES, EarlierState, FreshDistance

_EARLIER = ".earlier-"
_DELETED = "deleted-"
_NUMBER = re.compile(r"[1-9][0-9]{0,8}")


def earlier_states(target: Path) -> tuple[EarlierState, ...]:
    """Return the earlier states of the index that read, the newest first."""
    states = []
    for path in _folders(target):
        try:
            manifest = read_manifest(path)
        except LeanRAGError:
            continue
        states.append(EarlierState(int(path.name), manifest.id, manifest.counts.documents, size_bytes(path)))
    return tuple(states)


def state_folder(target: Path, number: int) -> Path:
    """Return the folder of that earlier state."""
    return earlier_folder(target) / str(number)


def keep_earlier(folder: Path, target: Path) -> None:
    """Keep the folder, which held the index so far, as the newest earlier state; the oldest beyond the limit go."""
    store = earlier_folder(target)
    private.make_folder(store)
    numbers = [int(path.name) for path in _folders(target)]
    os.replace(folder, store / str(max(numbers, default=0) + 1))
    sync_folder(store)
    with contextlib.suppress(OSError):  # they go with the next one
        _delete(target, _folders(target)[KEPT_STATES:])


def forget_earlier(target: Path, *, newer_than: int = 0) -> None:
    """Delete the earlier states of the index of larger numbers, and with them what a removed document has left."""
    _delete(target, [path for path in _folders(target) if int(path.name) > newer_than])


def _delete(target: Path, states: Iterable[Path]) -> None:
    """Delete the folders of states, and what a process had begun to delete when it died.

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
    if not any(store.iterdir()):
        store.rmdir()


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
