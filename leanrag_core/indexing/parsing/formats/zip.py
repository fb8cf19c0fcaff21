"""ZIP: the files in it, each read as if it had been added alone. Their names never become paths."""

import functools
import io
import zipfile
from collections.abc import Iterator

from leanrag_core.errors import UnreadableDocument
from leanrag_core.indexing.parsing.limits import MAX_DEPTH, Allowance, Member, check_size

SUFFIXES = ("zip",)
MEDIA_TYPE = "zip"
_NAME_IS_UTF8 = 0x800
_ENCRYPTED = 0x1


def members(content: bytes, allowance: Allowance, depth: int) -> Iterator[Member]:
    """Yield the files in the archive, hidden ones left out. Raises UnreadableDocument for what is no archive or too
    much.
    """
    if depth >= MAX_DEPTH:
        raise UnreadableDocument("file.too_many_archives", limit=MAX_DEPTH)
    try:
        archive = zipfile.ZipFile(io.BytesIO(content))
    except (zipfile.BadZipFile, ValueError, NotImplementedError, EOFError) as error:
        raise UnreadableDocument("file.not_zip") from error
    entries = [entry for entry in archive.infolist() if not entry.is_dir() and not _is_hidden(entry.filename)]
    if not entries:
        raise UnreadableDocument("file.empty_archive")
    allowance.take(len(entries), sum(entry.file_size for entry in entries))
    return (Member(_name(entry), functools.partial(unpack, archive, entry)) for entry in entries)


def _is_hidden(name: str) -> bool:
    return any((part.startswith(".") and part.strip(".")) or part == "__MACOSX" for part in name.split("/"))


def _name(entry: zipfile.ZipInfo) -> str:
    """Return the name as it was meant: many programs write UTF-8 without saying so."""
    if entry.flag_bits & _NAME_IS_UTF8:
        return entry.filename
    try:
        return entry.filename.encode("cp437").decode("utf-8")
    except UnicodeError:
        return entry.filename


def unpack(archive: zipfile.ZipFile, entry: zipfile.ZipInfo) -> bytes:
    """Return the entry's bytes. Raises UnreadableDocument."""
    if entry.flag_bits & _ENCRYPTED:
        raise UnreadableDocument("file.member_password")
    check_size(entry.file_size, entry.compress_size)
    try:
        return archive.read(entry)
    except MemoryError:
        raise
    except Exception as error:  # zipfile and its decompressors raise anything on damaged archives
        raise UnreadableDocument("file.member_damaged") from error
