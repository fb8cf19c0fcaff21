"""The parts of one index on disk: INDEX/parts/NAME/FINGERPRINT/, each with a sealed record of its files.

A part is written to a folder beside, which a later attempt finds again, and renamed to its place when it is complete:
a folder without a record that reads is never taken for a finished part.

A rebuilt index takes over the parts whose inputs have not changed.
"""

import hashlib
import os
import re
import shutil
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from leanrag_core.errors import IndexDamaged, LeanRAGError, PartDamaged, PartMissing
from leanrag_core.files.atomic import sync_folder, sync_tree, write_json, writing
from leanrag_core.files.records import plain
from leanrag_core.messages.message import Message, message
from leanrag_core.storage.digests import (
    differing,
    digests_of,
    read_object,
    require_same,
    require_seal,
    sealed,
    wrong_sizes,
)
from leanrag_core.storage.digests import read_record as read_as
from leanrag_core.storage.layout import read_manifest
from leanrag_core.storage.ownership import PART_FINGERPRINT, PART_NAME, PARTS
from leanrag_core.types.manifest import (
    CHUNKS,
    DAMAGED,
    ENTITIES,
    FINISHED,
    LANGUAGE,
    RELATIONS,
    UNFINISHED,
    VECTORS,
    PartRecord,
)

RECORD = "part.json"
_BUILDING = re.compile(rf"\.({PART_FINGERPRINT.pattern})\.building")
_MAX_BYTES = 16_000_000  # of a record
_FILES_OF = {
    ENTITIES: re.compile(r"(entities-\d+(-\d{5})?|hierarchy)\.\w+"),
    RELATIONS: re.compile(r"relations-\d+(-\d{5})?\.\w+"),
    CHUNKS: re.compile(r"(documents|chunks)(-\d{5})?\.\w+|vectors-chunks\.npy"),
    VECTORS: re.compile(r"vectors-\d+\.npy"),
}


@dataclass(frozen=True)
class StoredPart:
    """A part on disk. record: of a finished one. problem: of a damaged one."""

    name: str
    fingerprint: str
    status: str
    folder: Path
    record: PartRecord | None = None
    problem: Message | None = None

    @property
    def size_bytes(self) -> int:
        """Bytes of all its files."""
        return sum(path.stat().st_size for path in self.folder.rglob("*") if path.is_file())


def no_part(name: str) -> Any:
    """Raise PartMissing: what reads a part where there is none."""
    raise PartMissing("part.missing", part=name)


class PartStore:
    """The parts of the index in that directory."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.root = directory / PARTS

    def folder(self, name: str, fingerprint: str) -> Path:
        """Return where a finished part is, or will be."""
        return self.root / name / fingerprint

    def building_folder(self, name: str, fingerprint: str) -> Path:
        """Return where a part is written until it is complete."""
        return self.root / name / f".{fingerprint}.building"

    def all(self, name: str = "") -> tuple[StoredPart, ...]:
        """Return the parts on disk, of that name or all; finished, unfinished or damaged."""
        names = [name] if name else [path.name for path in _folders(self.root) if PART_NAME.fullmatch(path.name)]
        # A list is drawn often, so it looks at the sizes of files and leaves their hashes to read().
        return tuple(
            self._read_folder(folder) for part in names for folder in _folders(self.root / part) if _is_part(folder)
        )

    def newest(self, name: str) -> Path | None:
        """Return the folder of the finished part of that name that was made last; None when there is none."""
        part_folders = [folder for folder in _folders(self.root / name) if PART_FINGERPRINT.fullmatch(folder.name)]
        dated = [
            (record.stat().st_mtime_ns, folder.name, folder)
            for folder in part_folders
            if (record := folder / RECORD).is_file()
        ]
        return max(dated)[2] if dated else None

    def read(self, name: str, fingerprint: str) -> PartRecord:
        """Return the record of a finished part whose files are as they were written. Raises PartMissing,
        PartDamaged."""
        folder = self.folder(name, fingerprint)
        if not folder.is_dir():
            raise PartMissing("part.missing", part=name)
        record = read_record(folder)
        try:
            require_same(folder, record.files)
        except IndexDamaged as error:
            raise _damaged(name, error) from error
        return record

    def finish(self, record: PartRecord, files: Iterable[str]) -> Path:
        """Put a part that was written to building_folder() in its place; returns its folder.

        files: paths below the folder that never change again; their hashes are recorded. Raises StorageFailed.
        """
        building = self.building_folder(record.name, record.fingerprint)
        folder = self.folder(record.name, record.fingerprint)
        with writing(message("what.part", part=record.name, index=self.directory.name)):
            values = plain(replace(record, files=digests_of(building, set(files) - {RECORD})))
            write_json(building / RECORD, sealed(values))
            sync_tree(building)
            if folder.exists():  # a damaged one
                shutil.rmtree(folder)
            os.replace(building, folder)
            sync_folder(folder.parent)
        return folder

    def delete(self, name: str, fingerprint: str) -> None:
        """Delete the part, finished or not. Raises StorageFailed."""
        with writing(message("what.part", part=name, index=self.directory.name)):
            for folder in (self.folder(name, fingerprint), self.building_folder(name, fingerprint)):
                if folder.is_dir():
                    shutil.rmtree(folder)

    def _read_folder(self, folder: Path) -> StoredPart:
        name, building = folder.parent.name, _BUILDING.fullmatch(folder.name)
        if building is not None:
            return StoredPart(name, building[1], UNFINISHED, folder)
        try:
            record = read_record(folder)
            for file, reason in wrong_sizes(folder, record.files):
                raise PartDamaged("part.damaged", part=name, path=str(folder / file), problem=reason)
            return StoredPart(name, folder.name, FINISHED, folder, record)
        except LeanRAGError as error:
            return StoredPart(name, folder.name, DAMAGED, folder, problem=error.message)


def read_record(folder: Path) -> PartRecord:
    """Return the record in a part's folder. Raises PartDamaged."""
    name, path = folder.parent.name, folder / RECORD
    try:
        values = read_object(path, max_bytes=_MAX_BYTES)
        require_seal(values, path)
        record = read_as(PartRecord, path, values)
    except IndexDamaged as error:
        raise _damaged(name, error) from error
    if (record.name, record.fingerprint) != (name, folder.name):
        raise PartDamaged("part.of_another_folder", part=name, folder=str(folder))
    return record


def _damaged(name: str, error: IndexDamaged) -> PartDamaged:
    """Return the error for a part, whose remedy is another one than that of an index."""
    values = error.message.values
    return PartDamaged("part.damaged", part=name, path=values["path"], problem=values["problem"])


def changed_files(folder: Path, record: PartRecord) -> dict[str, Message]:
    """Return each file of the part that is not as recorded, and what is wrong with it; every file is read."""
    return dict(differing(folder, record.files))


def _folders(folder: Path) -> list[Path]:
    try:
        with os.scandir(folder) as entries:
            names = sorted(entry.name for entry in entries if entry.is_dir(follow_symlinks=False))
    except (FileNotFoundError, NotADirectoryError):
        return []
    return [folder / name for name in names]


def _is_part(folder: Path) -> bool:
    return bool(PART_FINGERPRINT.fullmatch(folder.name) or _BUILDING.fullmatch(folder.name))


def index_digests(directory: Path, needs: Iterable[str]) -> dict[str, str]:
    """Return a digest of what the index in the directory has of each of these things: entities with the tree,
    relations, chunks with their documents and vectors, vectors of the entities. Other needs are left out.

    Raises IndexNotFound, IndexDamaged or IndexTooNew.
    """
    wanted = [need for need in needs if need in _FILES_OF]
    if not wanted:
        return {}
    recorded = read_manifest(directory).files
    names = sorted(recorded or (path.name for path in directory.iterdir() if path.is_file()))
    digests = {}
    for need in wanted:
        files = [name for name in names if _FILES_OF[need].fullmatch(name)]
        hashes = recorded or digests_of(directory, files)  # an index from before hashes were kept
        lines = "".join(f"{name} {hashes[name].sha256}\n" for name in files)
        digests[need] = hashlib.sha256(lines.encode()).hexdigest()[:32]
    return digests


def take_over_parts(before: Path, directory: Path) -> list[str]:
    """Take over the finished parts of the index `before` whose inputs are the same in the index in `directory`; return
    their names.

    Files are linked where the disk can do that, so that nothing is written twice, and copied elsewhere. A part that
    does not read, or rests on something else, stays behind.
    """
    finished = [part for part in PartStore(before).all() if part.status == FINISHED]
    if not finished:
        return []
    kept: dict[str, str] = {}
    waiting = finished
    while True:  # a part may rest on another one, which must be there first
        fitting = [part for part in waiting if part.record is not None and fits(part.record, directory, kept)]
        if not fitting:
            return sorted(kept)
        for part in fitting:
            taken_over = PartStore(directory).folder(part.name, part.fingerprint)
            if not taken_over.exists():  # an earlier state that comes again has its own
                taken_over.parent.mkdir(parents=True, exist_ok=True)
                shutil.copytree(part.folder, taken_over, copy_function=link_or_copy)
            kept[part.name] = part.fingerprint
        waiting = [part for part in waiting if part not in fitting]


def fits(record: PartRecord, directory: Path, kept: Mapping[str, str] | None = None) -> bool:
    """Tell whether all that the part rests on is the same in the index in that directory.

    kept: the parts that the index has, by name; None passes over those that the part needs.
    """
    try:
        digests = index_digests(directory, record.rests_on)
    except LeanRAGError:
        return False
    for need, digest in record.rests_on.items():
        if need in digests and digests[need] != digest:
            return False
        if need not in digests and need != LANGUAGE and kept is not None and kept.get(need) != digest:
            return False
    return True


def link_or_copy(file: str, copy: str) -> str:
    """Link the file, or copy it where the disk does not link; return the copy, as shutil.copytree() asks it."""
    try:
        os.link(file, copy)
    except OSError:
        shutil.copy2(file, copy)
    return copy
