"""What every format reader gives: blocks of text, from which a document with exact positions is assembled."""

import csv
import hashlib
import io
import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from pathlib import PurePosixPath

from leanrag_core.errors import UnreadableDocument
from leanrag_core.indexing.parsing.language import detect_language
from leanrag_core.types.corpus import Document, Heading, Refusal, RunningHead, Span
from leanrag_core.types.visible import visible

_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u200b\u200e\u200f\ufeff]")  # soft hyphens, marks without width
_LINE_END = re.compile("[\r\v\f\x85\u2028]")
_SURROGATE = re.compile("[\ud800-\udfff]")
_SPACES = re.compile(r"[^\S\n]+")
_INDENT = re.compile(r"\n[^\S\n]+")
_MANY_LINES = re.compile(r"\n{3,}")
_DIGITS = "0123456789"
_BOILERPLATE = re.compile(
    r"^(©|\(c\)|copyright\s*(©|\(c\)|\d{4}|$)|all rights reserved|cookie (policy|settings|preferences|notice)|"
    r"this (web)?site uses cookies|(privacy policy|terms of use)\W*($|[|·•\n]))",
    re.IGNORECASE,
)
_CONTENTS = re.compile(r"^(table of )?contents$", re.IGNORECASE)
_MAX_TITLE = 160
_LONGEST_NAME, _LONGEST_SUFFIX = 200, 20  # characters


@dataclass(frozen=True)
class Block:
    """A paragraph, a heading, preformatted text, boilerplate or a running head, which stays out of the text. page: 1,
    2, ... or 0.

    joins: goes on with the block before it.
    """

    text: str
    kind: str = "paragraph"  # paragraph, heading, preformatted, boilerplate, running head
    level: int = 0
    page: int = 0
    joins: bool = False


@dataclass(frozen=True)
class Parsed:
    """One document as its format reader found it. name: overrides the file's when one file holds many.

    title_first: the title, or else the name, goes before the first heading, which is that of a part.
    """

    blocks: tuple[Block, ...]
    title: str = ""
    name: str = ""
    title_first: bool = False
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class FormatResult:
    """All documents of one file, and the parts of it that were not taken."""

    parsed: tuple[Parsed, ...]
    refusals: tuple[Refusal, ...] = field(default=())


def joined_portions(portions: Iterable[Callable[[], FormatResult]]) -> FormatResult:
    """Return all that the portions of a file give."""
    results = [read() for read in portions]
    return FormatResult(
        tuple(parsed for result in results for parsed in result.parsed),
        tuple(refusal for result in results for refusal in result.refusals),
    )


def clean(text: str) -> str:
    """Normalise the text: NFC, line ends as \\n, no control characters, no space at line ends, at most one empty line.

    Half a surrogate pair, which no file can hold, becomes the replacement character.
    """
    if text.isprintable():  # one line without anything that the patterns below look for
        return unicodedata.normalize("NFC", text).rstrip()
    text = _LINE_END.sub("\n", text.replace("\r\n", "\n")).replace("\u2029", "\n\n")
    text = unicodedata.normalize("NFC", _SURROGATE.sub("\ufffd", _CONTROL.sub("", text)))
    # Line by line: a pattern that looks for the end of the line takes quadratic time on long runs of spaces.
    return _MANY_LINES.sub("\n\n", "\n".join(line.rstrip() for line in text.split("\n"))).strip("\n")


def one_line(text: str) -> str:
    """Return the text in one line, white space folded."""
    return " ".join(clean(text).split())


def shown_name(name: str) -> str:
    """Return a file name to show: no folders, no control characters, no drive; never used as a path.

    What turns the direction of text is shown: "cod\\u202efdp.exe" would read as "codexe.pdf".
    """
    return _shortened(visible(one_line(PurePosixPath(name.replace("\\", "/")).name)))


def shown_path(name: str) -> str:
    """Return the name of a file in an archive to show, with its folders; else as shown_name()."""
    return _shortened(visible(one_line(name)))


def _shortened(name: str) -> str:
    """Return the name in at most so many characters, with its suffix, which decides the reader."""
    suffix = PurePosixPath(name).suffix if len(name) > _LONGEST_NAME else ""
    suffix = suffix if len(suffix) <= _LONGEST_SUFFIX else ""
    return name[: _LONGEST_NAME - len(suffix)] + suffix or "unnamed"


def assemble(file_name: str, media_type: str, parsed: Parsed) -> Document:
    """Return the document of the blocks; positions are those in its text. Raises UnreadableDocument when it has no
    text.
    """
    name = shown_name(parsed.name or file_name)
    parts: list[str] = []
    length = 0
    headings: list[Heading] = []
    boilerplate: list[Span] = []
    preformatted: list[Span] = []
    page_starts: dict[int, int] = {}
    running_heads: list[RunningHead] = []
    for block in parsed.blocks:
        text = _INDENT.sub("\n", clean(block.text)).strip()
        if not text.strip():
            continue
        if block.kind == "running head":
            running_heads.append(RunningHead(one_line(text), block.page, length, length))
            continue
        glue = "" if not parts else _glue(parts[-1], text) if block.joins else "\n\n"
        parts += [glue, text]
        before, start, length = length, length + len(glue), length + len(glue) + len(text)
        running_heads = [  # one at the top of this block's page stands before it, others after the block before
            replace(head, start=start, end=start) if (head.start, head.page) == (before, block.page) else head
            for head in running_heads
        ]
        if block.page:
            page_starts.setdefault(block.page, start)
        if block.kind == "heading":
            headings.append(Heading(one_line(text), block.level, start, length))
        if block.kind == "preformatted":
            preformatted.append(Span(start, length))
        if block.kind == "boilerplate" or _is_boilerplate(text):
            boilerplate.append(Span(start, length))
    text = "".join(parts)
    if not any(character.isalnum() for character in text):
        raise UnreadableDocument("file.no_text")
    title = _title(parsed.title, [] if parsed.title_first else headings, name)
    starts = sorted(page_starts.items())
    last_page = starts[-1][0] if starts else 0
    bounds = [page_starts.get(page) for page in range(1, last_page + 1)]
    return Document(
        id=document_id(text),
        name=name,
        title=title,
        media_type=media_type,
        text=text,
        language=detect_language(text),
        pages=_page_spans(bounds, length),
        headings=tuple(headings),
        boilerplate=tuple(boilerplate),
        notes=parsed.notes,
        running_heads=tuple(running_heads),
        preformatted=tuple(preformatted),
    )


def document_id(text: str, read_anyway: Sequence[str] = ()) -> str:
    """Return the id of a document with that text: the same content has the same id anywhere. read_anyway: keys of the
    asides that are read all the same, which give an index of its own.
    """
    content = "\0".join((text, *read_anyway))  # a text holds no such character
    return f"doc-{hashlib.sha256(content.encode()).hexdigest()[:16]}"


def _glue(before: str, after: str) -> str:
    """Return what separates two pieces of one paragraph: nothing between ideographs, else a space."""
    return "" if is_wide(before[-1]) and is_wide(after[0]) else " "


def is_wide(character: str) -> bool:
    """Return whether the character is an ideograph or kana, which take no space between lines."""
    return unicodedata.east_asian_width(character) in "WF" and not "가" <= character <= "힣"


def _page_spans(starts: list[int | None], length: int) -> tuple[Span, ...]:
    """Return the spans of pages 1, 2, ...; a page without text is an empty span where the next one starts."""
    spans: list[Span] = []
    following = length
    for start in reversed(starts):
        begin = following if start is None else start
        spans.append(Span(begin, following))
        following = begin
    return tuple(reversed(spans))


def _is_boilerplate(text: str) -> bool:
    lines = [line for line in text.split("\n") if line.strip()]
    if len(lines) >= 3 and sum(map(_ends_in_leader, lines)) >= 0.6 * len(lines):
        return True
    lone_leader = len(lines) == 1 and _ends_in_leader(text) and not text.rstrip().rstrip(_DIGITS).strip(". ")
    return len(text) < 400 and bool(_BOILERPLATE.match(text) or _CONTENTS.match(text) or lone_leader)


def _ends_in_leader(line: str) -> bool:
    """Return whether the line ends like one of a table of contents: dots or a gap, then a page number."""
    line = line.rstrip()
    before = line.rstrip(_DIGITS)
    if before == line:
        return False
    gap = len(before) - len(before.rstrip())
    leader = before[len(before.rstrip(". \t")) :]
    return gap >= 3 or leader.count(".") >= 4


def _title(stated: str, headings: list[Heading], name: str) -> str:
    stated = one_line(stated)
    if headings and headings[0].start < 400:
        return headings[0].title[:_MAX_TITLE]
    if stated and not re.search(
        r"\.(docx?|pdf|tex|html?)$|^\(?(untitled|anonymous)|^microsoft word", stated, re.IGNORECASE
    ):
        return stated[:_MAX_TITLE]
    stem = name.rsplit(".", 1)[0] if "." in name[1:] else name
    return re.sub(r"[_\s]+", " ", stem).strip()[:_MAX_TITLE] or name


def fold_lines(text: str) -> str:
    """Join the hard-wrapped lines of one paragraph: hyphenated words are mended, ideographs get no space."""
    joined = ""
    for line in (line.strip() for line in text.split("\n")):
        if not line:
            continue
        if joined.endswith("-") and len(joined) > 1 and joined[-2].isalpha() and line[0].islower():
            joined = joined[:-1] + line
        else:
            joined += (_glue(joined, line) if joined else "") + line
    return _SPACES.sub(" ", joined)


_SAMPLE = 8192  # characters


def delimiter_of(text: str, delimiters: str) -> str:
    """Return the delimiter that cuts most of the first rows into the same number of cells, more than one; else a comma.

    csv.Sniffer would take time that grows with the square of the text, and guesses at quotes too.
    """
    best, delimiter = (0, 0), ","
    for candidate in delimiters:
        lines = io.StringIO(text[:_SAMPLE], newline="")
        widths = Counter(map(len, csv.reader(lines, delimiter=candidate, skipinitialspace=True)))
        fit = max(((n, width) for width, n in widths.items() if width > 1), default=(0, 0))
        if fit > best:
            best, delimiter = fit, candidate
    return delimiter


def blocks_of_rows(rows: Iterable[Sequence[str]], page: int = 0) -> Iterator[Block]:
    """Yield a paragraph a row, the first row being the names of the columns. Empty rows are left out.

    A table of one row has no names.
    """
    filled = (row for row in rows if any(cell.strip() for cell in row))
    head = next(filled, None)
    first = next(filled, None)
    if head is None:
        return
    if first is None:
        yield Block(" | ".join(head), page=page)
        return
    names = [cell.strip() or f"column {number}" for number, cell in enumerate(head, 1)]
    for row in chain([first], filled):
        names += [f"column {number}" for number in range(len(names) + 1, len(row) + 1)]
        pairs = zip(names, row, strict=False)
        yield Block("\n".join(f"{name}: {cell.strip()}" for name, cell in pairs if cell.strip()), page=page)
