"""Asides: parts of a document that are no prose. They stay in text and passages; the built-in engine skips them.

They are recognised by shape, in any language: rows of tables, lists of references and of links, formulas, code; and
preformatted text is code unless it is prose.
repeats.py adds what the documents of a corpus repeat. A person can have a piece read all the same
(Document.read_anyway).
"""

import hashlib
import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from leanrag_core.indexing.parsing.blocks import document_id, is_wide
from leanrag_core.indexing.parsing.running_heads import is_sentence
from leanrag_core.types.corpus import Document, Heading

CODE, FORMULA, LINKS, NOTICE, REFERENCES, REPEATED, TABLE = (
    "code", "formula", "links", "notice", "references", "repeated", "table",
)  # fmt: skip
STRUCTURED = frozenset(["csv", "json", "xlsx"])  # records of labelled values: nothing in them is an aside


@dataclass(frozen=True)
class Aside:
    """A piece of a document's text that is no prose: [start, end). reason: one of the constants of this module."""

    start: int
    end: int
    reason: str


@dataclass(frozen=True)
class Line:
    """A line without the space around it. above: the empty lines before it."""

    text: str
    start: int
    above: bool

    @property
    def end(self) -> int:
        return self.start + len(self.text)


def asides_of(document: Document) -> tuple[Aside, ...]:
    """Return what the document's own text shows to be no prose, in order, none overlapping.

    It includes boilerplate that the format's reader marked, and pieces that the document has read all the same.
    """
    asides = [Aside(span.start, span.end, NOTICE) for span in document.boilerplate]
    if document.media_type not in STRUCTURED:
        text = document.text
        spans = ((span.start, span.end) for span in document.preformatted)
        asides += (Aside(start, end, CODE) for start, end in spans if not _is_prose(text[start:end]))
        lines = list(lines_of(document.text))
        headings = [(heading.start, heading.end) for heading in document.headings]
        kinds = _kinds(lines, headings)
        asides += (Aside(line.start, line.end, kind) for line, kind in zip(lines, kinds, strict=True) if kind)
        asides += (Aside(*match.span(), FORMULA) for match in _DISPLAYED.finditer(document.text))
    return joined(asides, document.text)


def key_of(text: str) -> str:
    """Return the key of an aside with that text, whatever its white space and case."""
    return hashlib.sha256(" ".join(text.split()).casefold().encode()).hexdigest()[:16]


def toggled(document: Document, keys: Iterable[str]) -> Document:
    """Return the document with the asides of those keys read from now on, or left out again where all of them are read.
    The text stays the same; the id changes.
    """
    keys = frozenset(keys)
    before = frozenset(document.read_anyway)
    read_anyway = tuple(sorted(before - keys if keys <= before else before | keys))
    return replace(document, read_anyway=read_anyway, id=document_id(document.text, read_anyway))


def outside(asides: Sequence[Aside], start: int, end: int) -> bool:
    """Return whether less than half of [start, end) lies in the asides, which are in order and do not overlap."""
    covered = 0
    for place in range(bisect_right(asides, start, key=lambda each: each.start) - 1, len(asides)):
        if place >= 0:
            covered += max(0, min(end, asides[place].end) - max(start, asides[place].start))
        if place + 1 < len(asides) and asides[place + 1].start >= end:
            break
    return 2 * covered < max(1, end - start)


_DIGITS = re.compile(r"\d+")
_SENTENCE_END = re.compile(r"[.!?…。！？؟।][\"'”’)\]»]*$")
_SENTENCE_WORDS, _SENTENCE_IDEOGRAPHS = 6, 8


def lines_of(text: str) -> Iterator[Line]:
    """Yield the lines that are not empty."""
    position, above = 0, True
    for line in text.split("\n"):
        stripped = line.strip()
        if stripped:
            yield Line(stripped, position + len(line) - len(line.lstrip()), above)
        above = not stripped
        position += len(line) + 1


_WORD = re.compile(r"[^\W\d_]{2,}")
_NUMERIC = re.compile(r"^[^\w]*[\d][\d.,:%/’'–-]*[^\w]*$|^(?:[-–—.*†‡]{1,3}|n/a)$", re.I)
_GAP = re.compile(r"\s{2,}|\t|\s*\|\s*")
_ADDRESS = re.compile(r"(?:[a-z][a-z\d+.-]{1,12}://|www\.)\S+|\S+@\S+\.\w+", re.I)
_TARGET = re.compile(r"\]\([^()\s]*\)")
_LABEL = re.compile(r"!?\[[^\[\]]*\]")
_SEPARATORS = re.compile(r"\s*[|·•»›→]\s*|\s+/\s+|\s+>\s+")
_OPERATOR = re.compile(r"[=+−×÷∑∏∫√≤≥≈≠≡∈∉⊂⊆∪∩∀∃∂∇±∞^\\→⇒⟨⟩]|\\[a-z]+")
_DISPLAYED = re.compile(
    r"\\begin\{(equation|align|eqnarray|gather|multline)\*?\}.{0,4000}?\\end\{\1\*?\}|\$\$[^$]{1,2000}\$\$", re.DOTALL
)
_COMMAND = re.compile(r"^\\[a-z]+\*?[{\[]", re.I)
_CODE_TOKEN = re.compile(
    r"[_\\={}<>`]|\(\)|::|->|^--?[a-z]|^\$[a-z{(]|\.\w+\(|\w\(\S*[,=]|^\[\W|^[~.]?/\w|/.*/|/\*|\w/\S*\.\w|\*\*?/", re.I
)
_DECLARED = re.compile(
    r"^(?:import \w[\w., ]*$|from \S+ import |(?:def|function)\s+\w+\(|#include\b|"
    r"(?:const|unsigned|static|extern|void|int|char|struct|typedef|enum)\b.*[(;{*])"
)
_CODE_LINE = re.compile(r"^(?:\$|>>>|%|#!|//|/\*|\*/)\s*\S|[{};]$|^[}\])]+;?$")
_TRAILING = re.compile(r"[^\w)\]}>*/]+$")
_LITERATURE_HEADINGS = """
references, bibliography, literature cited, works cited, literatur, literaturverzeichnis, références, bibliographie,
referencias, bibliografía, referências, bibliografia, riferimenti, literatuur, литература, 参考文献, 參考文獻, 参考资料,
참고문헌, المراجع
"""
_LITERATURE = frozenset(" ".join(_LITERATURE_HEADINGS.split()).split(", "))
_NUMBERING = re.compile(r"^(?:[\d.]+\s+|[#*_\s]+)|[*_:\s]+$")
_MARKED = re.compile(r"^(?:\[\w{1,12}\]|\(\d{1,3}\)|\d{1,3}\.|[-•*^])\s+")
_OF_REFERENCE = (
    re.compile(r"\b(?:1[6-9]|20)\d\d[a-z]?\b"),
    re.compile(r"\b[A-Z]\.(?:\s?-?[A-Z]\.)*\s+[^\W\d_]{2,}|[^\W\d_]{2,},\s+[A-Z]\.|[^\W\d_]{2,}\s+[A-Z]{1,3}[,;.]"),
    re.compile(r"\bpp?\.\s*\d|\d{1,5}\s*[–-]+\s*\d{1,5}\b|:\s?\d{2,5}\b"),
    re.compile(
        r"\b(?:vol|no|eds?|trans)\.|\bet al\b|\bIn(?:\s+Proc|:)|\bProceedings\b|\bUniversity Press\b|\d+\s?\(\d+\)",
        re.I,
    ),
    re.compile(r"\bdoi\b|arxiv|\bisbn\b|\bissn\b|retrieved|accessed|archived", re.I),
)
_LONGEST_REFERENCE = 700  # characters


def _kinds(lines: Sequence[Line], headings: Sequence[tuple[int, int]]) -> list[str]:
    """Return the reason of each line, "" for prose."""
    starts = [start for start, _ in headings]
    of_heading = [_within(line, starts, headings) for line in lines]
    barred = [False, *("|" in line.text for line in lines), False]  # a menu has bars too, but no row below or above
    kinds = [
        _kind(line.text, of_heading=heading, in_table=barred[place] or barred[place + 2])
        for place, (line, heading) in enumerate(zip(lines, of_heading, strict=True))
    ]
    _mark_tables(lines, kinds, of_heading)
    _mark_literature(lines, kinds, of_heading)
    _mark_between(lines, kinds, of_heading)
    return kinds


def _within(line: Line, starts: Sequence[int], headings: Sequence[tuple[int, int]]) -> bool:
    place = bisect_right(starts, line.start) - 1
    return place >= 0 and line.end <= headings[place][1]


def _kind(text: str, *, of_heading: bool, in_table: bool) -> str:
    """Return the reason of a line, "" for prose; a heading is prose unless it is a row of numbers."""
    text = _MARKED.sub("", text) if text[:1] in "-•*" else text
    tokens = text.split()
    words = _WORD.findall(text)
    small = sum(word[0].islower() for word in words)
    if of_heading:
        return TABLE if _is_numbers(text, tokens, small) else ""
    if _is_links(text, words, in_table=in_table):
        return LINKS
    if _is_formula(tokens, words):
        return FORMULA
    if _is_code(text, tokens, words):
        return CODE
    if _is_numbers(text, tokens, small) or _is_row(text):
        return TABLE
    return REFERENCES if _is_reference(text) else ""


def _is_links(text: str, words: Sequence[str], *, in_table: bool) -> bool:
    """Return whether addresses take most of the line, or it lists short items between separators, as menus do."""
    without_targets = _TARGET.sub("]", text)
    if (
        without_targets != text
        and len(_WORD.findall(_LABEL.sub(" ", without_targets))) <= 2
        and len(_WORD.findall(without_targets)) <= _SHORT_LINKS
    ):
        return True
    addresses = sum(len(match[0]) for match in _ADDRESS.finditer(without_targets))
    if addresses and 2 * addresses >= len(without_targets):
        return True
    if in_table and "|" in text:
        return False
    items = [item for item in _SEPARATORS.split(text) if item]
    short = len(items) >= 3 and all(len(item.split()) <= 3 and not _DIGITS.search(item) for item in items)
    return short and len(words) >= len(items) and not _SENTENCE_END.search(text) and not any(map(is_wide, text))


_SHORT_LINKS = 12  # words


def _is_numbers(text: str, tokens: Sequence[str], small: int) -> bool:
    """Return whether most of the line is numbers."""
    numeric = sum(bool(_NUMERIC.match(token)) for token in tokens)
    enough = 4 if _SENTENCE_END.search(text) else 3
    if numeric < enough or 2 * numeric < len(tokens) or numeric < 2 * small:
        return False
    return sum(map(is_wide, text)) < _SENTENCE_IDEOGRAPHS


def _is_row(text: str) -> bool:
    """Return whether the line is a row of a table that has words in less than half of its cells; others are read."""
    cells = [cell for cell in text.strip("|").split("|") if cell.strip()]
    return len(cells) > 2 and 2 * sum(bool(_WORD.search(cell)) for cell in cells) < len(cells)


_SHORT_CELL = 4  # words
_PROSE_WORDS = 0.4  # share of words among the tokens of a line, from which on it may be prose


def _is_formula(tokens: Sequence[str], words: Sequence[str]) -> bool:
    """Return whether signs, numbers and single letters make most of the line, an operator among them."""
    operators = sum(bool(_OPERATOR.search(token)) for token in tokens)
    long = sum(len(word) > 3 for word in words)
    signs = sum(len(token) == 1 or bool(_OPERATOR.search(token)) or bool(_NUMERIC.match(token)) for token in tokens)
    return operators >= 1 and len(tokens) >= 3 and 2 * signs >= len(tokens) and long < _PROSE_WORDS * len(tokens)


def _is_code(text: str, tokens: Sequence[str], words: Sequence[str]) -> bool:
    """Return whether the line is a command, markup or part of a program, and no prose that names some."""
    if (_COMMAND.match(text) and len(words) < _SENTENCE_WORDS) or (
        _DECLARED.match(text) and not _SENTENCE_END.search(text)
    ):
        return True
    prose = sum(token.strip(_AROUND).isalpha() and token[0].islower() and len(token) > 2 for token in tokens)
    if prose >= 4 and prose >= _PROSE_WORDS * len(tokens):
        return False
    marked = sum(bool(_CODE_TOKEN.search(_TRAILING.sub("", token))) for token in tokens)
    if marked and _CODE_LINE.search(text):
        return True
    return marked >= 1 and 2 * marked >= len(tokens) and not is_sentence(text)


_AROUND = ".,;:!?()[]\"'"
_EMPTY_LINE = re.compile(r"\n\s*\n")
_PLAIN_WORDS = 0.8  # share of the tokens of a preformatted paragraph, from which on it is prose


def _is_prose(preformatted: str) -> bool:
    """Return whether paragraphs of sentences, whose lines may be broken anywhere, make half of the text."""
    prose = length = 0
    for paragraph in _EMPTY_LINE.split(preformatted):
        tokens = [token.strip(_AROUND).replace("-", "").replace("'", "") for token in paragraph.split()]
        is_plain = sum(map(str.isalpha, tokens)) >= _PLAIN_WORDS * len(tokens)
        is_plain = is_plain or 2 * sum(map(is_wide, paragraph)) >= len(paragraph)
        prose += len(paragraph) * (is_plain and is_sentence(" ".join(paragraph.split())))
        length += len(paragraph)
    return 2 * prose >= length


def _is_reference(text: str) -> bool:
    if len(text) > _LONGEST_REFERENCE or any(map(is_wide, text[:80])):
        return False
    marks = sum(bool(pattern.search(text)) for pattern in _OF_REFERENCE)
    return marks >= (3 if _MARKED.match(text) else 4)


def _mark_tables(lines: Sequence[Line], kinds: list[str], of_heading: Sequence[bool]) -> None:
    """Mark runs of three lines and more that have columns: gaps of two spaces, short cells, no sentence."""
    run: list[int] = []
    for place, line in enumerate([*lines, Line("", 0, True)]):
        cells = [cell for cell in _GAP.split(line.text) if cell]
        row = (
            len(cells) >= 3
            and not of_heading[place]
            and all(len(cell.split()) <= _SHORT_CELL for cell in cells)
            and not _SENTENCE_END.search(line.text)
        )
        if row and not (run and line.above):
            run.append(place)
            continue
        if len(run) >= 3:
            for member in run:
                kinds[member] = kinds[member] or TABLE
        run = [place] if row else []


def _mark_literature(lines: Sequence[Line], kinds: list[str], of_heading: Sequence[bool]) -> None:
    """Mark what follows the heading of a list of references, as far as lines of references go on."""
    inside, prose = False, 0
    for place, line in enumerate(lines):
        if of_heading[place] or len(line.text) <= _LONGEST_TITLE:
            title = _NUMBERING.sub("", _NUMBERING.sub("", line.text)).casefold()
            if title in _LITERATURE:
                inside, prose = True, 0
                continue
        if inside and of_heading[place]:
            inside = False
        if inside:
            marks = sum(bool(pattern.search(line.text)) for pattern in _OF_REFERENCE)
            prose = 0 if marks or kinds[place] or _MARKED.match(line.text) else prose + len(line.text)
            inside = prose <= _LONGEST_REFERENCE
            if inside:
                kinds[place] = REFERENCES


_LONGEST_TITLE = 40  # characters


def _mark_between(lines: Sequence[Line], kinds: list[str], of_heading: Sequence[bool]) -> None:
    """Mark a short line between two lines of one table, list of references or piece of code as these are."""
    for place in range(1, len(lines) - 1):
        around = kinds[place - 1]
        short = len(lines[place].text.split()) <= _SHORT_CELL and not _SENTENCE_END.search(lines[place].text)
        if around and around == kinds[place + 1] and not kinds[place] and short and not of_heading[place]:
            kinds[place] = around


def joined(asides: Iterable[Aside], text: str) -> tuple[Aside, ...]:
    """Return the pieces in order, those of one reason joined where white space alone parts them; overlaps go to the
    one that begins first.
    """
    joined: list[Aside] = []
    for aside in sorted(asides, key=lambda each: (each.start, -each.end)):
        last = joined[-1] if joined else None
        if last and aside.start < last.end:
            if aside.end > last.end:
                joined[-1] = replace(last, end=aside.end)
        elif last and aside.reason == last.reason and not text[last.end : aside.start].strip():
            joined[-1] = replace(last, end=aside.end)
        else:
            joined.append(aside)
    return tuple(joined)


def left_out(document: Document, asides: tuple[Aside, ...]) -> tuple[Aside, ...]:
    """Return the asides without those that the document has read all the same."""
    if not document.read_anyway:
        return asides
    return tuple(each for each in asides if key_of(document.text[each.start : each.end]) not in document.read_anyway)


def headings_left(document: Document, asides: Sequence[Aside]) -> tuple[Heading, ...]:
    """Return the document's headings that do not lie in the asides."""
    return tuple(each for each in document.headings if outside(asides, each.start, each.end))
