"""Earlier states of an index: complete folders that an update has replaced, in .earlier-NAME beside the index.

They are numbered, the newest having the largest number. Undoing an update puts the newest one back, byte for byte.
"""

import os
import re
import shutil
from pathlib import Path

from leanrag_core import private
from leanrag_core.atomic import sync_folder, writing
from leanrag_core.errors import LeanRAGError
from leanrag_core.messages.message import message
from leanrag_core.storage.layout import read_manifest, size_bytes
from leanrag_core.types.updating import KEPT_STATES, EarlierState

_EARLIER = ".earlier-"
_NUMBER = re.compile(r"[1-9][0-9]{0,8}")


def earlier_states(target: Path) -> tuple[EarlierState, ...]:
    """The earlier states of the index that read, the newest first."""
    states = []
    for path in _folders(target):
        try:
            manifest = read_manifest(path)
        except LeanRAGError:
            continue
        states.append(EarlierState(int(path.name), manifest.id, manifest.counts.documents, size_bytes(path)))
    return tuple(states)


def state_folder(target: Path, number: int) -> Path:
    """The folder of that earlier state."""
    return earlier_folder(target) / str(number)


def keep_earlier(folder: Path, target: Path) -> None:
    """The folder, which held the index so far, is the newest earlier state; the oldest ones beyond the limit go."""
    store = earlier_folder(target)
    private.make_folder(store)
    numbers = [int(path.name) for path in _folders(target)]
    os.replace(folder, store / str(max(numbers, default=0) + 1))
    sync_folder(store)
    for path in _folders(target)[KEPT_STATES:]:
        shutil.rmtree(path, ignore_errors=True)


def put_back(target: Path, number: int) -> None:
    """The earlier state takes the place of the index; newer states are gone. Raises StorageFailed."""
    target = Path(os.path.abspath(target))
    with writing(message("what.index", folder=str(target))):
        undone = earlier_folder(target) / "undone"
        if undone.exists():  # of a process that died between the renames
            shutil.rmtree(undone)
        os.replace(target, undone)
        try:
            os.replace(state_folder(target, number), target)
        except BaseException:
            os.replace(undone, target)
            raise
        sync_folder(target.parent)
        shutil.rmtree(undone)
        for path in _folders(target):
            if int(path.name) > number:
                shutil.rmtree(path)
        _remove_if_empty(earlier_folder(target))


def forget_earlier(target: Path) -> None:
    """Deletes all earlier states of the index, and with them what a removed document has left in them."""
    for path in _folders(target):
        shutil.rmtree(path)
    _remove_if_empty(earlier_folder(target))


def earlier_folder(target: Path) -> Path:
    """The folder that holds the earlier states of the index."""
    target = Path(os.path.abspath(target))
    return target.parent / f"{_EARLIER}{target.name}"


def _folders(target: Path) -> list[Path]:
    """Folders of the states, the newest first."""
    store = earlier_folder(target)
    if store.is_symlink() or not store.is_dir():
        return []
    numbered = [path for path in store.iterdir() if _NUMBER.fullmatch(path.name) and not path.is_symlink()]
    return sorted(numbered, key=lambda path: -int(path.name))


def _remove_if_empty(store: Path) -> None:
    if store.is_dir() and not any(store.iterdir()):
        store.rmdir()
