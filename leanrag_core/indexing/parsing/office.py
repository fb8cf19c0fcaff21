"""What DOCX, XLSX and PPTX have in common: archives of XML, and how such files are broken."""

import io
import zipfile
from collections.abc import Callable

from leanrag_core.errors import UnreadableDocument
from leanrag_core.indexing.parsing.blocks import FormatResult, Parsed
from leanrag_core.indexing.parsing.limits import is_out_of_memory

_MAX_UNPACKED = 500 * 1024 * 1024
_OLD_OR_ENCRYPTED = b"\xd0\xcf\x11\xe0"


def read_office(
    content: bytes, read: Callable[[io.BytesIO], Parsed], *, suffix: str, old: str, program: str
) -> FormatResult:
    """Return the one document that read() makes of the file. Raises UnreadableDocument for what is none of that format.

    old: such as "Word file"; program: in which the person opens it.
    """
    if content.startswith(_OLD_OR_ENCRYPTED):
        raise UnreadableDocument("file.old_or_protected", old=old, suffix=suffix)
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
        raise UnreadableDocument("file.office_damaged", format=suffix.upper(), program=program) from error
