"""What became of each file of an upload, a row each, those that need a look first."""

from collections.abc import Mapping
from dataclasses import dataclass

from leanrag_core.messages.message import Message
from leanrag_core.types.summary import UploadReport

REFUSED, DUPLICATE, ADDED = "refused", "duplicate", "added"


@dataclass(frozen=True)
class FileRow:
    """A document, or a file that gave none. size_bytes: of its file, None where that held several documents or could
    not be opened. tokens, language: of an added document. remarks: why it was refused, or what to know about it."""

    name: str
    state: str
    size_bytes: int | None = None
    tokens: int | None = None
    language: str = ""
    remarks: tuple[Message | str, ...] = ()


def upload_rows(report: UploadReport, sizes: Mapping[str, int]) -> tuple[FileRow, ...]:
    """Return a row for each file that could not be read, then repeated ones, documents with remarks, and the others.

    sizes: bytes of a file by the id of its only document, or by its name where it gave none.
    """
    rows = [
        FileRow(refusal.name, state, sizes.get(refusal.name), remarks=(refusal.reason,))
        for state, refusals in ((REFUSED, report.refusals), (DUPLICATE, report.duplicates))
        for refusal in refusals
    ]
    for document in sorted(report.added, key=lambda each: not each.notes):
        language = "" if document.language == "und" else document.language
        rows.append(
            FileRow(document.name, ADDED, sizes.get(document.id), document.tokens, language, tuple(document.notes))
        )
    return tuple(rows)
