"""Limits of what a file may take and hold, and archives, XML and office files that are read within them."""

import io
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from html import unescape
from typing import Any

from leanrag_core.errors import UnreadableDocument
from leanrag_core.indexing.parsing.blocks import FormatResult, Parsed
from leanrag_core.messages.message import Message, message
from leanrag_core.types.settings import Settings

_OF_AN_ARCHIVE = 10  # times as long as one file
_XML_NO_MEMORY = 2  # XML_ERR_NO_MEMORY of libxml2


@dataclass(frozen=True)
class ParseLimits:
    """Of one file, or of each file in an archive.

    seconds: by the clock. archive_seconds: for all files of an archive. output_mb: of the text that comes out.
    """

    seconds: float = 60.0
    archive_seconds: float = 600.0
    memory_mb: int = 1500
    output_mb: int = 256

    @property
    def memory_bytes(self) -> int:
        """Memory that the reading process may take."""
        return self.memory_mb * 1024 * 1024

    @property
    def output_bytes(self) -> int:
        """Most bytes of the text in UTF-8 and of the data about it."""
        return self.output_mb * 1024 * 1024

    def too_long(self) -> Message:
        """Return why a file was passed over that took too much time."""
        return message("file.took_too_long", seconds=self.seconds)

    def archive_too_long(self) -> Message:
        """Return why the rest of an archive was passed over."""
        return message("file.archive_took_too_long", seconds=self.archive_seconds)

    def too_much_memory(self) -> Message:
        """Return why a file was passed over that needs too much memory."""
        return message("file.needs_too_much_memory", limit=self.memory_mb)

    def too_much_text(self) -> Message:
        """Return why a file was passed over whose text is too long."""
        return message("file.too_much_text", limit=self.output_mb)


def parse_limits(settings: Settings) -> ParseLimits:
    """Return the limits that the settings name."""
    seconds = settings.parse_seconds
    return ParseLimits(seconds, _OF_AN_ARCHIVE * seconds, settings.parse_memory_mb, settings.parse_output_mb)


def is_out_of_memory(error: BaseException) -> bool:
    """Return whether a library failed since it got no more memory; lxml reports that as a syntax error."""
    return isinstance(error, MemoryError) or getattr(error, "code", None) == _XML_NO_MEMORY


def limit_memory(max_bytes: int) -> None:
    """Limit this process's memory where the system has such a limit; elsewhere only its parent process watches it."""
    try:
        import resource
    except ImportError:
        return
    try:
        resource.setrlimit(resource.RLIMIT_DATA, (max_bytes, resource.getrlimit(resource.RLIMIT_DATA)[1]))
    except (ValueError, OSError):
        return


MAX_FILES = 2_000
MAX_BYTES = 500 * 1024 * 1024  # of all files, unpacked
MAX_FILE_BYTES = 200 * 1024 * 1024  # as of a file that is uploaded alone
MAX_RATIO = 200  # text packs to a twentieth, drawings in XML to a hundredth
MAX_DEPTH = 3  # archives within archives
_FREE_BYTES = 10 * 1024 * 1024  # small files may be packed as tightly as they like


@dataclass(frozen=True)
class Member:
    """A file in an archive. name: with its folders, never a path. read: raises UnreadableDocument."""

    name: str
    read: Callable[[], bytes]


class Allowance:
    """What is left of the limits while the archives of one file are opened."""

    def __init__(self) -> None:
        self.files, self.bytes = MAX_FILES, MAX_BYTES

    def take(self, n_files: int, n_bytes: int) -> None:
        """Take an archive of that size off the allowance. Raises UnreadableDocument when it is too much."""
        if n_files > self.files:
            raise UnreadableDocument("file.archive_too_many_files", limit=MAX_FILES)
        if n_bytes > self.bytes:
            raise UnreadableDocument("file.unpacks_too_large", limit=MAX_BYTES >> 20)
        self.files, self.bytes = self.files - n_files, self.bytes - n_bytes


def check_size(unpacked: int, packed: int) -> None:
    """Raise UnreadableDocument for a file that is too large or packed as no text is."""
    if unpacked > MAX_FILE_BYTES:
        raise UnreadableDocument("file.unpacks_too_large", limit=MAX_FILE_BYTES >> 20)
    if unpacked > _FREE_BYTES and unpacked > MAX_RATIO * max(1, packed):
        raise UnreadableDocument("file.packed_too_tightly", limit=MAX_RATIO)


_LONGEST = 100  # characters of an entity's meaning


def own_text(element: Any) -> str:
    """Return the element's text, that behind comments and entities too.

    The parser leaves an entity as a node in the text. It becomes what the file says that it means, where that is short
    and names no further entity, or what it means in HTML, such as &nbsp;; else it is left out.
    """
    parts = [element.text or ""]
    for child in element:
        if not isinstance(child.tag, str):  # a comment, an instruction or an entity
            if (child.text or "").startswith("&"):
                parts.append(_meaning(child))
            parts.append(child.tail or "")
    return "".join(parts)


def _meaning(entity: Any) -> str:
    declared = entity.getroottree().docinfo.internalDTD
    for known in declared.iterentities() if declared is not None else ():
        if f"&{known.name};" == entity.text:
            content = known.content or ""
            return content if len(content) <= _LONGEST and "&" not in content and "<" not in content else ""
    meant = unescape(entity.text)
    return "" if meant == entity.text else meant


_MAX_UNPACKED = 500 * 1024 * 1024
_OLD_OR_ENCRYPTED = b"\xd0\xcf\x11\xe0"


def read_office(content: bytes, read: Callable[[io.BytesIO], Parsed], suffix: str) -> FormatResult:
    """Return the one document that read() makes of the file. Raises UnreadableDocument for what is none of that format.

    suffix: docx, pptx or xlsx; the catalog has words for its older format, and for the program that opens it.
    """
    if content.startswith(_OLD_OR_ENCRYPTED):
        raise UnreadableDocument("file.old_or_protected", old=message(f"file.old.{suffix}"), suffix=suffix)
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            if sum(entry.file_size for entry in archive.infolist()) > _MAX_UNPACKED:
                raise UnreadableDocument("file.office_too_large")
        return FormatResult((read(io.BytesIO(content)),))
    except (UnreadableDocument, RecursionError):
        raise
    except Exception as error:  # zipfile, lxml and the formats' libraries raise anything on damaged files
        if is_out_of_memory(error):
            raise MemoryError from error
        program = message(f"file.program.{suffix}")
        raise UnreadableDocument("file.office_damaged", format=suffix.upper(), program=program) from error
