"""The indexes of a home, one folder each; deleted ones that can be taken back; those that are kept open."""

import hashlib
import json
import os
import re
import shutil
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from leanrag_core.errors import IndexNotFound, InvalidConfig, LeanRAGError
from leanrag_core.files import private
from leanrag_core.files.atomic import sync_folder, writing
from leanrag_core.files.records import plain
from leanrag_core.files.written_paths import is_one_name
from leanrag_core.messages.catalog import sentence
from leanrag_core.messages.message import message
from leanrag_core.storage import layout, staging
from leanrag_core.storage.corpus_record import tidy_name
from leanrag_core.storage.earlier_states import earlier_folder, earlier_states, forget_earlier
from leanrag_core.storage.ownership import MANIFEST, require_deletable
from leanrag_core.text.plain_words import in_words
from leanrag_core.types.config import IndexConfig
from leanrag_core.types.index import Index
from leanrag_core.types.manifest import Manifest
from leanrag_core.types.summary import Damaged, IndexList, IndexSummary

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


def folder_name(corpus_id: str, config: IndexConfig) -> str:
    """Return the folder of the index of these settings: the same settings build into the same place."""
    settings = json.dumps(plain(config), sort_keys=True)
    return f"{corpus_id}-{hashlib.sha256(settings.encode()).hexdigest()[:8]}"


def import_id(format_name: str, path: Path) -> str:
    """Return the id that stands for a corpus's in the folder's name: the same path is imported into the same place."""
    place = path.resolve()
    slug = re.sub(r"[^a-z0-9]+", "-", place.name.lower()).strip("-")[:40]
    digest = hashlib.sha256(f"{format_name}:{place}".encode("utf-8", "surrogateescape")).hexdigest()[:6]
    return "-".join(part for part in ("import", slug, digest) if part)


class IndexStore:
    """Lists, opens, renames and deletes the indexes below one folder; an index's id is its folder's name."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self._manifests: dict[str, tuple[tuple[int, int, int], Manifest]] = {}  # as they read last, by index
        private.tighten_file(root)  # so that other users do not reach what is in it
        staging.bring_back(root)
        staging.remove_half_deleted(root)

    def path(self, index_id: str) -> Path:
        """Return the folder of an index. Raises IndexNotFound for an id that could leave the store."""
        if not is_one_name(index_id):
            raise IndexNotFound("index.not_found", index=index_id)
        return self.root / index_id

    def index_list(self) -> IndexList:
        """Return all indexes; an unreadable one does not hide the others."""
        readable, damaged = [], []
        for path in sorted(self.root.glob(f"*/{layout.MANIFEST}")):
            name = path.parent.name
            if name.startswith("."):
                continue
            try:
                readable.append(self.summary(name))
            except LeanRAGError as error:
                damaged.append(Damaged(name, str(error)))
            except (OSError, LookupError, TypeError, ValueError) as error:
                if path.is_file():  # else it was deleted just now
                    reason = message("index.unreadable", index=name, reason=in_words(error))
                    damaged.append(Damaged(name, sentence(reason)))
        return IndexList(
            tuple(sorted(readable, key=lambda index: (index.created, index.id), reverse=True)), tuple(damaged)
        )

    def summary(self, index_id: str) -> IndexSummary:
        """Return the index's row in a list. Raises IndexNotFound, IndexDamaged or IndexTooNew."""
        path = self.path(index_id)
        manifest = self._manifest(index_id)
        built = datetime.fromtimestamp((path / layout.REPORT).stat().st_mtime, UTC)
        return IndexSummary(
            id=index_id,
            name=manifest.name,
            corpus_id=manifest.corpus.id,
            corpus_name=manifest.corpus.name,
            created=built.isoformat(timespec="seconds"),
            kind=manifest.kind,
            config=manifest.config,
            documents=manifest.counts.documents,
            chunks=manifest.counts.chunks,
            layers=manifest.layers,
            path=path,
            size_bytes=layout.size_bytes(path),
            builtin_texts=manifest.builtin_texts,
        )

    def _manifest(self, index_id: str) -> Manifest:
        """Return the manifest, read and verified once for each file that takes its place: lists are drawn again and
        again."""
        path = self.path(index_id)
        try:
            file_stat = (path / layout.MANIFEST).stat()
            file_state = file_stat.st_ino, file_stat.st_mtime_ns, file_stat.st_size
        except OSError:
            file_state = (0, 0, 0)
        known = self._manifests.get(index_id)
        if known is None or known[0] != file_state:
            known = self._manifests[index_id] = file_state, layout.read_manifest(path)
        return known[1]

    def manifest_id(self, index_id: str) -> str:
        """Return the id that the index's manifest gives it, which copies share; empty when the manifest does not
        read."""
        try:
            return self._manifest(index_id).id
        except LeanRAGError:
            return ""

    def ids_of_states(self, index_id: str) -> set[str]:
        """Return the ids of the index, of what it was made from by updates, and of its earlier states; empty when its
        manifest does not read."""
        try:
            manifest = self._manifest(index_id)
        except LeanRAGError:
            return set()
        return _ids_of_states(manifest, self.path(index_id))

    def open(self, index_id: str) -> Index:
        """Return the index of that id, read-only. Raises IndexNotFound, IndexDamaged or IndexTooNew."""
        return layout.read_index(self.path(index_id))

    def rename(self, index_id: str, name: str) -> None:
        """Rename the index. Raises InvalidConfig for an empty or very long one, StorageFailed."""
        layout.rename_index(self.path(index_id), tidy_name(name))

    def delete(self, index_id: str) -> None:
        """Delete the index, a damaged one too. Raises IndexNotFound, FolderRefused, StorageFailed."""
        staging.delete_index(self.path(index_id))

    def hold(self, index_id: str) -> None:
        """Take the index out of all lists, with its earlier states; it can be taken back for HELD_SECONDS.

        Raises IndexNotFound, FolderRefused where the folder holds something that is not ours, StorageFailed.
        """
        directory = self.path(index_id)
        require_deletable(directory)
        root, name = directory.parent, directory.name
        for held in self.held():
            if held.id == name:  # of the same index, built and deleted again: the later state can be taken back
                self.delete_held(held)
        with writing(message("what.index_folder", folder=str(directory))):
            folder = root / f".held-{int(time.time())}-{name}"
            private.make_folder(folder)
            os.replace(directory, folder / name)
            earlier = earlier_folder(directory)
            if earlier.is_dir():
                os.replace(earlier, earlier_folder(folder / name))
            sync_folder(folder)
            sync_folder(root)

    def held(self) -> list[HeldIndex]:
        """Return the indexes that can be taken back, the latest deleted first."""
        indexes = []
        for folder in self.root.glob(".held-*"):
            match = _HELD.fullmatch(folder.name)
            if match is None or folder.is_symlink() or not (folder / match[2] / MANIFEST).is_file():
                continue
            path, name = folder / match[2], match[2]
            with suppress(LeanRAGError):  # a damaged index is listed by its id
                name = layout.read_manifest(path).name
            with suppress(OSError):  # taken back or deleted just now
                until = int(match[1]) + HELD_SECONDS
                indexes.append(HeldIndex(match[2], name, layout.size_bytes(path), until, folder))
        return sorted(indexes, key=lambda index: (-index.until, index.id))

    def take_back(self, index_id: str) -> None:
        """Put the deleted index back where it was, with its earlier states. Raises IndexNotFound when it is not held
        any more, InvalidConfig when another one was built in its place, StorageFailed."""
        target = self.root / self.path(index_id).name
        held = next((each for each in self.held() if each.id == target.name), None)
        if held is None:
            raise IndexNotFound("index.no_longer_held", index=target.name)
        if target.exists():
            raise InvalidConfig("index.built_meanwhile", name=held.name)
        with writing(message("what.index_folder", folder=str(target))):
            earlier = earlier_folder(held.path)
            if earlier.is_dir() and not earlier_folder(target).exists():
                os.replace(earlier, earlier_folder(target))
            os.replace(held.path, target)
            sync_folder(self.root)
            shutil.rmtree(held.folder, ignore_errors=True)

    def delete_held(self, held: HeldIndex) -> set[str]:
        """Delete the held index for good; returns the ids that a server may hold something of."""
        ids = set[str]()
        with suppress(LeanRAGError):
            ids = _ids_of_states(layout.read_manifest(held.path), held.path)
        hidden = self.root / f"{staging.DELETED}{held.id}-{os.getpid()}"
        with suppress(FileNotFoundError), writing(message("what.index_folder", folder=str(held.folder))):
            os.replace(held.folder, hidden)  # from here on it cannot be taken back half deleted
            sync_folder(self.root)
            shutil.rmtree(hidden)
        if not (self.root / held.id).exists():
            forget_earlier(self.root / held.id, named=True)
        return ids

    def held_ids(self) -> set[str]:
        """Return the ids of the states of all held indexes."""
        ids: set[str] = set()
        for held in self.held():
            with suppress(LeanRAGError):  # damaged: nothing says what a server holds of it
                ids |= _ids_of_states(layout.read_manifest(held.path), held.path)
        return ids

    def overdue(self) -> list[HeldIndex]:
        """Return the held indexes whose time is over."""
        return [held for held in self.held() if time.time() >= held.until]


def _ids_of_states(manifest: Manifest, path: Path) -> set[str]:
    earlier = {state.id for state in earlier_states(path)}
    return {manifest.id, *earlier, *(step.from_id for step in manifest.lineage)}


class OpenIndexes:
    """The indexes last used, as many as max_bytes holds; the last one always."""

    def __init__(self, max_bytes: int) -> None:
        self._max_bytes = max_bytes
        self._opened: dict[tuple[str, str], Index] = {}
        self._lock = threading.Lock()
        self._opening: dict[tuple[str, str], threading.Lock] = {}

    def get(self, key: tuple[str, str], open_it: Callable[[], Index]) -> Index:
        """Return the index of that key (id, time of its build), opened if it is not; two sessions never open the same
        index twice, nobody waits for another one to open, and a rebuilt index replaces the previous one."""
        with self._lock:
            if key in self._opened:
                return self._used(key, self._opened[key])
            opening = self._opening.setdefault(key, threading.Lock())
        with opening:
            with self._lock:
                index = self._opened.get(key)
            index = index or open_it()
            with self._lock:
                self._opening.pop(key, None)
                return self._used(key, index)

    def _used(self, key: tuple[str, str], index: Index) -> Index:
        """Put the index behind the others, and drop those for which there is no room. Needs the lock."""
        self._opened.pop(key, None)
        for old in [key_open for key_open in self._opened if key_open[0] == key[0]]:
            del self._opened[old]
        while self._opened and sum(map(table_bytes, (index, *self._opened.values()))) > self._max_bytes:
            del self._opened[next(iter(self._opened))]
        self._opened[key] = index  # the one used last comes last
        return index


def table_bytes(index: Index) -> int:
    """Return bytes of an opened index's tables; its vectors are mapped from their files."""
    tables = [index.documents, index.chunks]
    tables += [table for layer in index.layers for table in (layer.entities, layer.relations)]
    return sum(table.nbytes for table in tables)
