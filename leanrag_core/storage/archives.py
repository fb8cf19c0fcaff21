"""An index in one ZIP file, and back to the same bytes.

The first entry, archive.json, lists every other entry with size and hash. Nothing else is read from the file, and no
entry has another name than the files of an index have (storage.ownership), so that none is written elsewhere. All are
compared with the index's own records before an index that is there is replaced.
"""

import hashlib
import shutil
import zipfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import IO

from leanrag_core.errors import ImportFailed, LeanRAGError, RecordDamaged
from leanrag_core.files.records import from_json, json_bytes, plain
from leanrag_core.storage.digests import digests_of
from leanrag_core.storage.layout import file_names, read_index, read_manifest
from leanrag_core.storage.ownership import MANIFEST, PARTS, is_archive_name
from leanrag_core.storage.part_store import RECORD, PartStore, changed_files
from leanrag_core.storage.staging import build_lock, staged
from leanrag_core.text.plain_words import in_words
from leanrag_core.types.index import Index
from leanrag_core.types.manifest import FINISHED, FileRecord, Manifest

CONTENTS = "archive.json"
FORMAT, VERSION = "leanrag-archive", 1
MAX_BYTES = 50_000_000_000  # unpacked
MAX_FILES = 10_000
MAX_RATIO = 2000  # zeros pack to a thousandth; no table of an index comes near it
_MAX_CONTENTS_BYTES = 16_000_000
_FREE_BYTES = 100_000_000  # small files may be packed as tightly as they like
_COPY_BYTES = 1 << 20
_MADE = (1980, 1, 1, 0, 0, 0)


@dataclass(frozen=True)
class ArchiveContents:
    """What archive.json holds. files: every other entry, by its path below the folder of the index."""

    format: str
    version: int
    files: Mapping[str, FileRecord]


def write_archive(directory: Path, path: Path) -> None:
    """Write the files of the index in the folder, with its finished parts, as one file; the same index gives the same
    bytes.

    Parts with files that change while they are used, such as a search index, are left out: they can be made again.
    """
    manifest = read_manifest(directory)
    index_files = manifest.files or file_names(manifest.format_version, manifest.counts.layers)
    names = [MANIFEST, *index_files, *_part_files(directory)]
    files = digests_of(directory, names)
    contents = ArchiveContents(FORMAT, VERSION, files)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=6) as archive:
        archive.writestr(_entry(CONTENTS), json_bytes(plain(contents), indent=1))
        for name in sorted(files):
            with (directory / name).open("rb") as source, archive.open(_entry(name), "w", force_zip64=True) as target:
                shutil.copyfileobj(source, target, _COPY_BYTES)


def _entry(name: str) -> zipfile.ZipInfo:
    entry = zipfile.ZipInfo(name, _MADE)  # no clock time: the same index gives the same bytes
    entry.compress_type, entry.external_attr = zipfile.ZIP_DEFLATED, 0o600 << 16
    return entry


def _part_files(directory: Path) -> Iterator[str]:
    for part in PartStore(directory).all():
        if part.status == FINISHED and part.record is not None:
            below = f"{PARTS}/{part.name}/{part.fingerprint}"
            present = {path.relative_to(part.folder).as_posix() for path in part.folder.rglob("*") if path.is_file()}
            if present == {RECORD, *part.record.files}:
                yield from (f"{below}/{name}" for name in sorted(present))


def is_archive(path: Path) -> bool:
    """Tell whether the file is an archive of an index."""
    if not path.is_file() or not zipfile.is_zipfile(path):
        return False
    try:
        with zipfile.ZipFile(path) as archive:
            return CONTENTS in archive.namelist()[:1]
    except (OSError, zipfile.BadZipFile, NotImplementedError, ValueError):
        return False


def restore_archive(path: Path, out: Path, *, in_store: bool = False) -> Index:
    """Return the index of the archive in the folder `out`, byte for byte; what is there before stays until it is
    complete.

    Raises ImportFailed for a file that is not an archive, is damaged, or holds anything else; FolderRefused,
    IndexTooNew.
    """
    contents = read_contents(path)
    with build_lock(out, waiting=lambda: None), staged(out, in_store=in_store) as staging:
        try:
            with zipfile.ZipFile(path) as archive:
                for name, record in contents.files.items():
                    target = staging.joinpath(*PurePosixPath(name).parts)
                    target.parent.mkdir(parents=True, exist_ok=True)
                    with archive.open(name) as source, target.open("xb") as target_file:
                        _copy(source, target_file, record, name)
        except (zipfile.BadZipFile, EOFError, NotImplementedError, RuntimeError, ValueError) as error:
            raise ImportFailed("import.archive_damaged", reason=in_words(error)[:300]) from error
        try:
            _require_as_recorded(staging, contents)
            read_index(staging, hashes=False)
        except ImportFailed:
            raise
        except LeanRAGError as error:
            raise ImportFailed("import.archive_damaged", reason=str(error)) from error
    return read_index(out)


def _require_as_recorded(staging: Path, contents: ArchiveContents) -> None:
    """Raise ImportFailed where the files, which are as archive.json says, are not those of the manifest and of the
    records of finished parts: an archive of a damaged index, or one with other files in it."""
    manifest = read_manifest(staging)
    index_files = manifest.files or dict.fromkeys(file_names(manifest.format_version, manifest.counts.layers))
    others = sorted(set(contents.files) - {MANIFEST, *index_files, *_part_files(staging)})
    if others:
        raise ImportFailed("import.archive_unlisted_file", name=others[0][:200])
    for name, record in sorted(index_files.items()):
        if name not in contents.files or record not in (None, contents.files[name]):
            raise ImportFailed("import.archive_damaged_index", name=name)
    for part in PartStore(staging).all():
        for name in changed_files(part.folder, part.record) if part.record is not None else ():
            raise ImportFailed("import.archive_damaged_index", name=f"{PARTS}/{part.name}/{name}"[:200])


def archived_manifest(path: Path) -> Manifest:
    """Return the manifest of the index in the archive. Raises ImportFailed."""
    read_contents(path)
    try:
        with zipfile.ZipFile(path) as archive, archive.open(MANIFEST) as file:
            return from_json(Manifest, file.read(_MAX_CONTENTS_BYTES + 1), max_bytes=_MAX_CONTENTS_BYTES)
    except (OSError, zipfile.BadZipFile, NotImplementedError, RuntimeError, ValueError, RecordDamaged) as error:
        raise ImportFailed("import.archive_damaged", reason=in_words(error)[:300]) from error


def _copy(source: IO[bytes], target: IO[bytes], record: FileRecord, name: str) -> None:
    """Copy the entry's bytes, at most as many as are recorded. Raises ImportFailed where they are not as recorded."""
    hashed, bytes_left = hashlib.sha256(), record.size
    while block := source.read(min(_COPY_BYTES, bytes_left + 1)):
        bytes_left -= len(block)
        if bytes_left < 0:
            break
        hashed.update(block)
        target.write(block)
    if bytes_left or hashed.hexdigest() != record.sha256:
        raise ImportFailed("import.archive_other_bytes", name=name)


def read_contents(path: Path) -> ArchiveContents:
    """Return the list of the archive's files, each of which is there under a name that an index has.

    Raises ImportFailed for a file that is not an archive, or that unpacks to too much.
    """
    try:
        with zipfile.ZipFile(path) as archive:
            entries = archive.infolist()
            if not entries or entries[0].filename != CONTENTS or entries[0].file_size > _MAX_CONTENTS_BYTES:
                raise ImportFailed("import.no_archive", path=str(path))
            with archive.open(entries[0]) as file:
                contents = from_json(ArchiveContents, file.read(_MAX_CONTENTS_BYTES + 1), max_bytes=_MAX_CONTENTS_BYTES)
    except (OSError, zipfile.BadZipFile, NotImplementedError, RuntimeError, ValueError, RecordDamaged) as error:
        raise ImportFailed("import.no_archive", path=str(path)) from error
    if (contents.format, contents.version) != (FORMAT, VERSION):
        raise ImportFailed("import.archive_version", version=contents.version)
    _require_bounded(contents, entries[1:])
    return contents


def _require_bounded(contents: ArchiveContents, entries: list[zipfile.ZipInfo]) -> None:
    names = [entry.filename for entry in entries]
    strange = next((name for name in names if not is_archive_name(name)), None)
    if strange is not None:
        raise ImportFailed("import.archive_strange_file", name=strange[:200])
    if sorted(names) != sorted(contents.files) or MANIFEST not in contents.files or len(names) > MAX_FILES:
        raise ImportFailed("import.archive_other_files")
    if sum(record.size for record in contents.files.values()) > MAX_BYTES:
        raise ImportFailed("import.archive_too_large", limit=MAX_BYTES)
    for entry in entries:
        size = contents.files[entry.filename].size
        if entry.file_size != size or size > _FREE_BYTES + MAX_RATIO * entry.compress_size:
            raise ImportFailed("import.archive_other_bytes", name=entry.filename)
