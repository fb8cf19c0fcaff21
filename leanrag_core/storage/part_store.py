"""The parts of one index on disk: INDEX/parts/NAME/FINGERPRINT/, each with a sealed record of its files.

A part is written to a folder beside, which a later attempt finds again, and renamed to its place when it is complete:
a folder without a record that reads is never taken for a finished part.
"""

import os
import re
import shutil
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path

from leanrag_core.atomic import sync_folder, sync_tree, write_json, writing
from leanrag_core.errors import IndexDamaged, LeanRAGError, PartDamaged, PartMissing
from leanrag_core.messages.message import Message, message
from leanrag_core.records import plain
from leanrag_core.storage.digests import differing, digests_of, require_same, wrong_sizes
from leanrag_core.storage.json_files import read_object, require_seal, sealed
from leanrag_core.storage.json_files import read_record as read_as
from leanrag_core.storage.ownership import PART_FINGERPRINT, PART_NAME, PARTS
from leanrag_core.types.part import DAMAGED, FINISHED, UNFINISHED, PartRecord

RECORD = "part.json"
_BUILDING = re.compile(rf"\.({PART_FINGERPRINT.pattern})\.building")
_MAX_BYTES = 16_000_000  # of a record


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


class PartStore:
    """The parts of the index in that directory."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.root = directory / PARTS

    def folder(self, name: str, fingerprint: str) -> Path:
        """Where a finished part is, or will be."""
        return self.root / name / fingerprint

    def building_folder(self, name: str, fingerprint: str) -> Path:
        """Where a part is written until it is complete."""
        return self.root / name / f".{fingerprint}.building"

    def all(self, name: str = "") -> tuple[StoredPart, ...]:
        """The parts on disk, of that name or all; finished, unfinished or damaged."""
        names = [name] if name else [path.name for path in _folders(self.root) if PART_NAME.fullmatch(path.name)]
        # A list is drawn often, so it looks at the sizes of files and leaves their hashes to read().
        return tuple(
            self._read_folder(folder) for part in names for folder in _folders(self.root / part) if _is_part(folder)
        )

    def newest(self, name: str) -> Path | None:
        """The folder of the finished part of that name that was made last; None when there is none."""
        made = [folder for folder in _folders(self.root / name) if PART_FINGERPRINT.fullmatch(folder.name)]
        dated = [
            (record.stat().st_mtime_ns, folder.name, folder) for folder in made if (record := folder / RECORD).is_file()
        ]
        return max(dated)[2] if dated else None

    def read(self, name: str, fingerprint: str) -> PartRecord:
        """The record of a finished part whose files are as they were written. Raises PartMissing, PartDamaged."""
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
        """Puts a part that was written to building_folder() in its place; returns its folder.

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
        """Deletes the part, finished or not. Raises StorageFailed."""
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
    """The record in a part's folder. Raises PartDamaged."""
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
    """The error for a part, whose remedy is another one than that of an index."""
    values = error.message.values
    return PartDamaged("part.damaged", part=name, path=values["path"], problem=values["problem"])


def changed_files(folder: Path, record: PartRecord) -> dict[str, Message]:
    """Each file of the part that is not as recorded, and what is wrong with it; every file is read."""
    return dict(differing(folder, record.files))


def _folders(folder: Path) -> list[Path]:
    if not folder.is_dir():
        return []
    return sorted(path for path in folder.iterdir() if path.is_dir() and not path.is_symlink())


def _is_part(folder: Path) -> bool:
    return bool(PART_FINGERPRINT.fullmatch(folder.name) or _BUILDING.fullmatch(folder.name))
