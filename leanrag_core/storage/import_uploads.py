"""Files of another program's graph that a person uploads: kept in a folder until the index is built.

Names come from strangers: of a path only its last parts are taken, each a plain file name. What a ZIP file may unpack
to is limited before and while it is unpacked.
"""

import hashlib
import re
import secrets
import shutil
import time
import zipfile
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from leanrag_core.errors import ImportFailed
from leanrag_core.files import private
from leanrag_core.files.atomic import writing
from leanrag_core.messages.message import message
from leanrag_core.storage.archives import is_archive
from leanrag_core.storage.digests import digest
from leanrag_core.text.plain_words import in_words

MAX_FILES = 5_000
MAX_BYTES = 4_000_000_000  # unpacked, all files of an upload
MAX_RATIO = 500  # JSON of vectors packs to a half, of texts to a tenth
_FREE_BYTES = 50_000_000  # small files may be packed as tightly as they like
_KEPT_SECONDS = 2 * 24 * 3600
_COPY_BYTES = 1 << 20
_MAX_PARTS = 6  # of a path; output/TIME/artifacts/NAME of GraphRAG has four
_PART = re.compile(r"[^\x00-\x1f/\\\\:*?\"<>|]{1,150}")
_NO_WORD = re.compile(r"[^\w]+")
_BEGUN = ".upload-"
_PASSED_OVER = ("__MACOSX", ".DS_Store", "Thumbs.db", "desktop.ini")


@dataclass(frozen=True)
class UploadedFile:
    """A file of an upload. name: as the browser or an archive gives it, with folders or without."""

    name: str
    content: IO[bytes]


class ImportUploads:
    """Uploads below one folder. Those of which nothing was built are deleted after two days."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def add(self, files: Iterable[UploadedFile]) -> Path:
        """Return the path to import: a folder with the files, those of one ZIP file unpacked; or an archive of an
        index.

        A folder that holds all the others is left out, as most programs that pack add one. Raises ImportFailed for too
        much or for nothing, StorageFailed.
        """
        self._delete_old()
        folder = self.root / f"{_BEGUN}{secrets.token_hex(8)}"
        with writing(message("what.upload", folder=str(self.root))):
            private.make_folder(self.root)
            private.make_folder(folder)
            try:
                path = _stored(folder, list(files))
                kept = self.root / _digest(folder)
                if not kept.exists():  # else the same files were uploaded before
                    folder.rename(kept)
                return kept / path.relative_to(folder)
            finally:
                shutil.rmtree(folder, ignore_errors=True)

    def discard(self, path: Path) -> None:
        """Delete the upload that the path belongs to; other paths are left alone."""
        for folder in (path, *path.parents):
            if folder.parent == self.root:
                shutil.rmtree(folder, ignore_errors=True)

    def _delete_old(self) -> None:
        if not self.root.is_dir():
            return
        for folder in self.root.iterdir():
            with suppress(OSError):  # deleted just now
                if not folder.is_symlink() and time.time() - folder.stat().st_mtime > _KEPT_SECONDS:
                    shutil.rmtree(folder, ignore_errors=True)


def _stored(folder: Path, files: list[UploadedFile]) -> Path:
    if not files or len(files) > MAX_FILES:
        raise ImportFailed("import.upload_too_many", limit=MAX_FILES)
    stem = _NO_WORD.sub("-", Path(files[0].name).stem)[:60].strip("-") if len(files) == 1 else ""
    content = folder / (stem or "graph")
    content.mkdir()
    if len(files) == 1 and zipfile.is_zipfile(files[0].content):
        packed = folder / "upload.zip"
        files[0].content.seek(0)
        with packed.open("xb") as target:
            shutil.copyfileobj(files[0].content, target, _COPY_BYTES)
        if is_archive(packed):
            return packed
        _unpack(packed, content)
        packed.unlink()
    else:
        left = MAX_BYTES
        for file in files:
            file.content.seek(0)
            left -= _copy(file.content, _target(content, file.name), left)
    return _without_outer_folders(content)


def _digest(folder: Path) -> str:
    """Return a hash of all files, so that the same upload has the same place, and its import the same index."""
    hashed = hashlib.sha256()
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        hashed.update(f"{path.relative_to(folder).as_posix()}\0{digest(path)}\0".encode())
    return hashed.hexdigest()[:16]


def _unpack(packed: Path, folder: Path) -> None:
    try:
        with zipfile.ZipFile(packed) as archive:
            entries = [entry for entry in archive.infolist() if not entry.is_dir() and not _is_litter(entry.filename)]
            if len(entries) > MAX_FILES:
                raise ImportFailed("import.upload_too_many", limit=MAX_FILES)
            left = MAX_BYTES
            for entry in entries:
                if entry.file_size > _FREE_BYTES + MAX_RATIO * entry.compress_size:
                    raise ImportFailed("import.upload_packed_tightly", name=entry.filename[:200])
                with archive.open(entry) as source:
                    left -= _copy(source, _target(folder, entry.filename), min(left, entry.file_size))
    except (zipfile.BadZipFile, EOFError, NotImplementedError, RuntimeError, ValueError) as error:
        raise ImportFailed("import.upload_damaged", reason=in_words(error)[:300]) from error


def _copy(source: IO[bytes], target: Path, limit: int) -> int:
    """Copy at most so many bytes; returns how many. Raises ImportFailed for more."""
    n_bytes = 0
    target.parent.mkdir(parents=True, exist_ok=True)
    with target.open("xb") as file:
        while block := source.read(_COPY_BYTES):
            n_bytes += len(block)
            if n_bytes > limit:
                raise ImportFailed("import.upload_too_large", limit=MAX_BYTES)
            file.write(block)
    return n_bytes


def _target(folder: Path, name: str) -> Path:
    """Return where the file goes: below the folder, whatever its name says."""
    parts = [part for part in re.split(r"[/\\]", name) if part not in ("", ".")][-_MAX_PARTS:]
    if not parts or ".." in parts or not all(_PART.fullmatch(part) for part in parts):
        raise ImportFailed("import.upload_name", name=name[:200])
    target = folder.joinpath(*parts)
    if target.exists():
        raise ImportFailed("import.upload_twice", name=name[:200])
    return target


def _is_litter(name: str) -> bool:
    return any(part in _PASSED_OVER or part.startswith("._") for part in re.split(r"[/\\]", name))


def _without_outer_folders(folder: Path) -> Path:
    for _ in range(_MAX_PARTS):
        inside = list(folder.iterdir())
        if len(inside) != 1 or not inside[0].is_dir():
            break
        folder = inside[0]
    if not any(folder.iterdir()):
        raise ImportFailed("import.upload_empty")
    return folder
