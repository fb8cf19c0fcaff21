"""Which files belong to an index, and so whether a folder may be replaced or deleted.

Everything that takes a folder of an index away asks here first. A folder holds work of a person until its content says
that it is ours.
"""

import json
import os
import re
from collections.abc import Iterable
from pathlib import Path

from leanrag_core.errors import FolderRefused, IndexNotFound
from leanrag_core.messages.message import Message, message

MANIFEST = "manifest.json"
REPORT = "report.json"
IMPORTED, FOREIGN_IDS = "imported.json", "foreign-ids.arrow"  # of an import, see storage.layout
EDITS = "edits.json"  # see storage.layout
CALLS = "calls.arrow"  # which model call wrote what; of builds with a language model alone
CHROMA = "chroma"  # the search index of format 1 and 2; a part since then
PARTS = "parts"
PART_NAME = re.compile(r"[a-z][a-z0-9_]{0,60}")
PART_FINGERPRINT = re.compile(r"[0-9a-f]{16}")
_IN_PARTS = r"documents|chunks|entities-\d+|relations-\d+"
TABLE_PART = re.compile(rf"({_IN_PARTS})-(\d{{5}})\.arrow")  # of a table that is stored in parts, storage.table_parts
_FILES = re.compile(
    r"manifest\.json|report\.json|imported\.json|foreign-ids\.arrow|edits\.json|calls\.arrow"
    r"|(documents|chunks|hierarchy|entities-\d+|relations-\d+)\.(arrow|parquet)|vectors-(chunks|\d+)\.npy"
    rf"|{TABLE_PART.pattern}"
)
_HALF_WRITTEN = re.compile(r"\.(.+)\.\d+\.\d+|(.+)\.new")  # by a process that was killed; .new by older versions
_PART_FILE = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,99}")
_LONGEST_PATH = 300
_PART_FOLDER = re.compile(rf"{PART_FINGERPRINT.pattern}|\.{PART_FINGERPRINT.pattern}\.building")
_LITTER = (".DS_Store", "Thumbs.db", "desktop.ini")  # of file managers


def require_replaceable(folder: Path, *, in_store: bool = False) -> None:
    """Raise FolderRefused where something that is not ours would be lost with the folder.

    It may be absent, or empty, or hold an index of ours and nothing else. in_store: the folder is in the program's own
    store of indexes, where one whose manifest no longer reads is still known by its files.
    """
    if folder.is_symlink():
        raise FolderRefused("folder.is_link", folder=str(folder), remedy=_remedy(in_store))
    if not folder.exists():
        return
    if not folder.is_dir():
        raise FolderRefused("folder.is_file", folder=str(folder), remedy=_remedy(in_store))
    names = sorted(path.name for path in folder.iterdir())
    if not names:
        return
    strange = [name for name in names if not _is_ours(folder / name)]
    if strange:
        code = "folder.holds_file" if len(strange) == 1 else "folder.holds_files"
        remedy = _remedy(in_store)
        raise FolderRefused(code, folder=str(folder), file=strange[0], others=len(strange) - 1, remedy=remedy)
    if not in_store and not _reads_as_ours(folder / MANIFEST):
        raise FolderRefused("folder.no_manifest", folder=str(folder), remedy=_remedy(in_store))


def require_deletable(directory: Path) -> None:
    """Raise IndexNotFound where the store's folder holds no index, FolderRefused where it holds what is not ours."""
    if not (directory / MANIFEST).is_file():
        raise IndexNotFound("index.deleted_already", folder=str(directory))
    require_replaceable(directory, in_store=True)


def require_sources_outside(sources: Iterable[Path], out: Path) -> None:
    """Raise FolderRefused where replacing the folder would take a source with it, or its files would be read as
    documents."""
    inside = out.resolve()
    for source in sources:
        real_source = Path(os.path.realpath(source))  # unlike resolve(), it takes a link to itself
        if real_source.is_relative_to(inside):
            raise FolderRefused("folder.source_inside", source=str(source), folder=str(out))
        if _is_read_with(inside, real_source) and inside.is_dir() and any(inside.iterdir()):
            raise FolderRefused("folder.inside_source", source=str(source), folder=str(out))


def _is_read_with(path: Path, folder: Path) -> bool:
    """Tell whether reading the folder also reads what is in the path; hidden files are not read."""
    if not path.is_relative_to(folder):
        return False
    return not any(part.startswith(".") for part in path.relative_to(folder).parts)


def _remedy(in_store: bool) -> Message:
    return message("folder.move_away") if in_store else message("folder.choose")


def _is_ours(path: Path) -> bool:
    """Tell whether an index has something of that name and kind."""
    if path.is_symlink():
        return False
    if path.is_dir():
        return path.name == CHROMA or (path.name == PARTS and _holds_parts_alone(path))
    half = _HALF_WRITTEN.fullmatch(path.name)
    name = (half[1] or half[2]) if half else path.name
    return bool(_FILES.fullmatch(name)) or path.name in _LITTER


def _holds_parts_alone(folder: Path) -> bool:
    """Tell whether the folder holds parts of an index and nothing else: parts/NAME/FINGERPRINT/, or half of one."""
    for part in folder.iterdir():
        if part.name in _LITTER:
            continue
        if part.is_symlink() or not part.is_dir() or not PART_NAME.fullmatch(part.name):
            return False
        versions = [path for path in part.iterdir() if path.name not in _LITTER]
        if any(path.is_symlink() or not _PART_FOLDER.fullmatch(path.name) for path in versions):
            return False
    return True


def is_archive_name(name: str) -> bool:
    """Tell whether a file of an index, or of one of its finished parts, may have that path below the index's folder.

    Chroma's files may not: Chroma reads them without looking whether they would do harm, and they are made again.
    """
    if _FILES.fullmatch(name):
        return True
    folder, _, below = name.partition("/")
    part, _, inside = below.partition("/")
    fingerprint, _, file = inside.partition("/")
    in_part = folder == PARTS and part != CHROMA and PART_NAME.fullmatch(part)
    return (
        bool(in_part and PART_FINGERPRINT.fullmatch(fingerprint))
        and len(name) <= _LONGEST_PATH
        and all(map(_PART_FILE.fullmatch, file.split("/")))
    )


def is_table_file(name: str) -> bool:
    """Tell whether an index may have a table, a part of one, or vectors under that name."""
    return bool(_FILES.fullmatch(name)) and not name.endswith(".json")


def _reads_as_ours(manifest: Path) -> bool:
    """Tell whether it is a manifest of an index, of whatever format version."""
    try:
        values = json.loads(manifest.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return False
    return (
        isinstance(values, dict)
        and type(values.get("format_version")) is int
        and isinstance(values.get("id"), str)
        and isinstance(values.get("counts"), dict)
    )
