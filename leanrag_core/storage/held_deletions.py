"""Deleted indexes that can be taken back for a while: whole folders in .held-TIME-NAME beside the others.

A folder is renamed, never copied, so that a process that dies leaves the index in its place or held. What is held is
deleted when its time is over: by the process that is there then, or by the next one that opens the store.
"""

import contextlib
import os
import re
import shutil
import time
from dataclasses import dataclass
from pathlib import Path

from leanrag_core.errors import IndexNotFound, InvalidConfig, LeanRAGError
from leanrag_core.files import private
from leanrag_core.files.atomic import sync_folder, writing
from leanrag_core.messages.message import message
from leanrag_core.storage import layout, staging
from leanrag_core.storage.earlier_states import earlier_folder, forget_earlier
from leanrag_core.storage.ownership import MANIFEST, require_replaceable

HELD_SECONDS = 600
_HELD = re.compile(r"\.held-([1-9][0-9]{0,11})-(.+)")


@dataclass(frozen=True)
class HeldIndex:
    """A deleted index that can be taken back. name: as its manifest says, its id where that does not read.
    until: seconds since 1970."""

    id: str
    name: str
    size_bytes: int
    until: float
    folder: Path

    @property
    def path(self) -> Path:
        """The folder of the index itself."""
        return self.folder / self.id


def hold(directory: Path) -> None:
    """The index is in no list any more and can be taken back for HELD_SECONDS; its earlier states go with it.

    Raises IndexNotFound, FolderRefused where the folder holds something that is not ours, StorageFailed.
    """
    if not (directory / MANIFEST).is_file():
        raise IndexNotFound("index.deleted_already", folder=str(directory))
    require_replaceable(directory, in_store=True)
    root, name = directory.parent, directory.name
    for held in held_indexes(root):
        if held.id == name:  # of the same index, built and deleted again: the later state can be taken back
            delete_held(held)
    with writing(message("what.index_folder", folder=str(directory))):
        folder = root / f".held-{int(time.time())}-{name}"
        private.make_folder(folder)
        os.replace(directory, folder / name)
        earlier = earlier_folder(directory)
        if earlier.is_dir():
            os.replace(earlier, earlier_folder(folder / name))
        sync_folder(folder)
        sync_folder(root)


def held_indexes(root: Path) -> list[HeldIndex]:
    """Return the indexes that can be taken back, the latest deleted first."""
    held = []
    for folder in root.glob(".held-*"):
        match = _HELD.fullmatch(folder.name)
        if match is None or folder.is_symlink() or not (folder / match[2] / MANIFEST).is_file():
            continue
        path = folder / match[2]
        name = match[2]
        with contextlib.suppress(LeanRAGError):  # a damaged index is listed by its id
            name = layout.read_manifest(path).name
        with contextlib.suppress(OSError):  # taken back or deleted just now
            held.append(HeldIndex(match[2], name, layout.size_bytes(path), int(match[1]) + HELD_SECONDS, folder))
    return sorted(held, key=lambda index: (-index.until, index.id))


def take_back(root: Path, index_id: str) -> None:
    """The deleted index is where it was, with its earlier states. Raises IndexNotFound when it is not held any more,
    InvalidConfig when another one was built in its place, StorageFailed."""
    held = next((each for each in held_indexes(root) if each.id == index_id), None)
    if held is None:
        raise IndexNotFound("index.no_longer_held", index=index_id)
    target = root / index_id
    if target.exists():
        raise InvalidConfig("index.built_meanwhile", name=held.name)
    with writing(message("what.index_folder", folder=str(target))):
        earlier = earlier_folder(held.path)
        if earlier.is_dir() and not earlier_folder(target).exists():
            os.replace(earlier, earlier_folder(target))
        os.replace(held.path, target)
        sync_folder(root)
        shutil.rmtree(held.folder, ignore_errors=True)


def delete_held(held: HeldIndex) -> None:
    """The held index is gone for good, and the disk is free of it."""
    root = held.folder.parent
    gone = root / f"{staging.DELETED}{held.id}-{os.getpid()}"
    with contextlib.suppress(FileNotFoundError), writing(message("what.index_folder", folder=str(held.folder))):
        os.replace(held.folder, gone)  # from here on it cannot be taken back half deleted
        sync_folder(root)
        shutil.rmtree(gone)
    if not (root / held.id).exists():
        forget_earlier(root / held.id)


def overdue(root: Path) -> list[HeldIndex]:
    """Return the held indexes whose time is over."""
    if not root.is_dir():
        return []
    return [held for held in held_indexes(root) if time.time() >= held.until]
