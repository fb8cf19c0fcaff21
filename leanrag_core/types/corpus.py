"""Documents and their chunks: text with positions, nothing else."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from leanrag_core.files.records import absent_at_default
from leanrag_core.messages.message import Message


@dataclass(frozen=True)
class Span:
    """Half-open character range [start, end) in a document's text."""

    start: int
    end: int


@dataclass(frozen=True)
class Heading:
    """A heading in a document's text; level 1 is the highest."""

    title: str
    level: int
    start: int
    end: int


@dataclass(frozen=True)
class RunningHead:
    """A line that a file repeats on its pages. page: 1, 2, ...

    [start, end): where it is in the document's text; both the same, where it would be, while it is left out.
    """

    text: str
    page: int
    start: int
    end: int

    @property
    def in_text(self) -> bool:
        """Whether it was put back."""
        return self.end > self.start


@dataclass(frozen=True)
class Document:
    """A parsed file: its text, and where pages, headings and boilerplate lie in that text.

    id: hash of the name-independent content, so that the same content has the same id anywhere. name: the file name as
    the user knows it; never used as a path. media_type: as its reader names it: pdf docx html markdown text csv json
    jsonl epub xlsx pptx. language: ISO 639-1 code, "und" when unknown. pages: character span of page 1, 2, ... (empty
    where the format has no pages). boilerplate: spans (tables of contents, running heads, navigation) that extraction
    leaves out. notes: what the reader should know, e.g. the encoding that was detected or rows that were skipped.
    running_heads: in the order of the file; left out of the text unless they are put back. read_anyway: keys of pieces
    that are not prose and that extraction reads anyway, sorted. folder: where the file lay below the folder that was
    read, with "/"; empty for that one itself. preformatted: spans whose lines the file keeps, such as listings of code.
    """

    id: str
    name: str
    title: str
    media_type: str
    text: str
    language: str = "und"
    pages: tuple[Span, ...] = ()
    headings: tuple[Heading, ...] = ()
    boilerplate: tuple[Span, ...] = ()
    notes: tuple[str, ...] = ()
    running_heads: tuple[RunningHead, ...] = absent_at_default(())
    read_anyway: tuple[str, ...] = absent_at_default(())
    folder: str = absent_at_default("")
    preformatted: tuple[Span, ...] = absent_at_default(())


def document_of(cells: Mapping[str, Any]) -> Document:
    """Make the document from its JSON values, as `asdict` gives them."""
    return Document(
        **{
            **cells,
            "pages": tuple(Span(**span) for span in cells["pages"]),
            "boilerplate": tuple(Span(**span) for span in cells["boilerplate"]),
            "headings": tuple(Heading(**heading) for heading in cells["headings"]),
            "notes": tuple(cells["notes"]),
            "running_heads": tuple(RunningHead(**head) for head in cells.get("running_heads", ())),
            "read_anyway": tuple(cells.get("read_anyway") or ()),
            "preformatted": tuple(Span(**span) for span in cells.get("preformatted") or ()),
        }
    )


@dataclass(frozen=True)
class Chunk:
    """A token window of a document: `text == document.text[start:end]`.

    id: hash of document id and span. position: 0, 1, ... over the whole corpus, in document order.
    tokens: number of cl100k tokens of the text.
    """

    id: str
    document_id: str
    position: int
    start: int
    end: int
    tokens: int
    text: str


@dataclass(frozen=True)
class Refusal:
    """A file (or a part of one) that was not taken, and why."""

    name: str
    reason: Message
