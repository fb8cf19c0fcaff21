"""A document's running text as clean blocks (paragraphs, list items, table rows, turns of a conversation)."""

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from leanrag_core.indexing.parsing.asides import asides_of, left_out
from leanrag_core.types.corpus import Document

MAX_BLOCK = 20_000  # characters; the parser's memory grows with its input
_SHORT_LINE = 45
_NOISE = re.compile(
    r"(?P<mathematics>\$(?:[A-Za-z]|[^$\n]{0,300}[\\_^{}=][^$\n]{0,300})\$|\\(?:[a-z]*cite[a-z]*|[a-z]*ref|label)\*?\{[^{}\n]{0,300}\})"
    r"|(?P<soft>(?<=\w)\u2010[ \t]*\n\s*(?=[a-z]))"
    r"|(?P<image>!\[[^\[\]\n]{0,300}\]\([^()\n]{0,500}\))"
    r"|\[(?P<link>[^\[\]\n]{1,300})\]\([^()\n]{0,500}\)"
    r"|(?P<gone>https?://\S+|www\.\S+|\[\^?\d+\]|</?[A-Za-z][^<>\n]{0,80}>"
    r"|[\x00-\x08\u00ad\u200b-\u200f\u2060\ufeff\ud800-\udfff]"
    r"|\*{1,3}(?=\S)|(?<=\S)\*{1,3}|(?<!\w)_{1,3}(?=\w)|(?<=\w|[.,!?;:])_{1,3}(?!\w)|`+)"
    r"|(?P<hyphen>(?<=\w-)[ \t]*\n\s*(?=[a-z]))"
    r"|(?P<cell>\s*\|\s*)"
    r"|(?P<space>[\s\u2600-\u27bf\ufe0f\U0001f000-\U0001faff]+)"
    r"|(?P<dash>-{2,}|[—―])"
)
_RULE_LINE = re.compile(r"^[\s|:=*_~+\-.#]{3,}$")
_ITEM = re.compile(r"^\s*(?:[-*+•‣·▪◦]|o(?=\s+[A-Z])|\(?(?:\d{1,3}|[a-zA-Z]|[ivxIVX]{2,5})[.)])\s+")
_LEAD = re.compile(
    r"^\s*(?:#{1,6}\s+|>+\s*|\d+(?:\.\d+)+\.?\s+|(?:[-*+•‣·▪◦]|o(?=\s+[A-Z])|\(?(?:\d{1,3}|[a-zA-Z]|[ivxIVX]{2,5})[.)])\s+)+"
)
_FENCE = re.compile(r"^[ \t]*(```|~~~)[^\n]*\n.*?^[ \t]*\1[^\n]*$", re.M | re.S)
_SPEAKER = re.compile(r"^[ \t]*(?:\*\*)?([A-Z][\w.'’-]*(?: [A-Z][\w.'’-]*){0,3}):(?:\*\*)?\s+\S", re.M)
_NO_SPEAKER = frozenset(
    [
        "note",
        "notes",
        "example",
        "examples",
        "time",
        "date",
        "answer",
        "question",
        "source",
        "warning",
        "tip",
        "figure",
        "table",
        "remark",
        "hint",
        "summary",
        "title",
        "input",
        "output",
        "result",
        "results",
        "step",
        "subject",
        "from",
        "to",
        "cc",
        "definition",
        "theorem",
        "proof",
        "lemma",
        "keywords",
        "abstract",
    ]
)
_ENDS_SENTENCE = re.compile(r"[.!?:;…。！？][\"'”’)\]]*\s*$")


@dataclass(frozen=True)
class Block:
    """Clean text in one piece. starts: where runs of copied text begin in it; sources: the same in the document.

    speaker: who says it, when the block is a turn of a conversation ("Name: ..."); the name is not in the text.
    """

    text: str
    starts: tuple[int, ...]
    sources: tuple[int, ...]
    speaker: str = ""

    def source(self, position: int) -> int:
        """Return the place in the document of a character of the text."""
        run = max(0, bisect_right(self.starts, position) - 1)
        return self.sources[run] + position - self.starts[run]


def blocks_of(document: Document) -> Iterator[Block]:
    """Yield the document's blocks in order, without headings, asides and fenced code."""
    speakers = _speakers(document.text)
    for start, end in _free_spans(document):
        yield from _blocks_between(document.text, start, end, speakers)


def _speakers(text: str) -> frozenset[str]:
    """Return labels before a colon that open at least two lines; a label that occurs once may be any heading."""
    counted = Counter(match[1] for match in _SPEAKER.finditer(text))
    return frozenset(name for name, n in counted.items() if n > 1 and len(name) > 2 and not _is_label(name))


def _is_label(name: str) -> bool:
    return name.split()[0].lower() in _NO_SPEAKER


def _free_spans(document: Document) -> Iterator[tuple[int, int]]:
    closed = [(aside.start, aside.end) for aside in left_out(document, asides_of(document))]
    closed += [(heading.start, heading.end) for heading in document.headings]
    closed += [fence.span() for fence in _FENCE.finditer(document.text)]
    position = 0
    for start, end in sorted(closed):
        if start > position:
            yield position, start
        position = max(position, end)
    if position < len(document.text):
        yield position, len(document.text)


def _blocks_between(text: str, start: int, end: int, speakers: frozenset[str]) -> Iterator[Block]:
    """Yield blocks of text[start:end]; a block ends at a blank line, and before an item, a table row or a new
    speaker.
    """
    begin, speaker, previous = -1, "", ""
    position = start
    while position < end:
        newline = text.find("\n", position, end)
        stop = end if newline < 0 else newline
        line = text[position:stop]
        label = _SPEAKER.match(line)
        turn = label[1] if label and label[1] in speakers else ""
        row = line.count("|") > 1
        empty = not line.strip() or bool(_RULE_LINE.match(line))
        if begin >= 0 and (empty or turn or row or "|" in previous or _ITEM.match(line) or _broken_off(previous, line)):
            yield from _cut(text, begin, position, speaker)
            begin = -1
        if not empty and begin < 0:
            begin, speaker = position, turn
            if label and turn:
                begin = position + label.end(1) + 1
        previous = line
        position = stop + 1
    if begin >= 0:
        yield from _cut(text, begin, end, speaker)


def _broken_off(previous: str, line: str) -> bool:
    """Return whether the line is a block of its own: short, without a sentence end, before a capital (a verse, a
    caption).
    """
    short = 0 < len(previous.strip()) < _SHORT_LINE
    if short and previous.isupper() and previous.strip(" *#").isalpha() and not line.isupper():
        return True  # the name of a part of a manual
    return short and not _ENDS_SENTENCE.search(previous) and line.lstrip()[:1].isupper()


def _cut(text: str, start: int, end: int, speaker: str) -> Iterator[Block]:
    while end - start > MAX_BLOCK:
        space = max(text.rfind(". ", start, start + MAX_BLOCK), text.rfind("\n", start, start + MAX_BLOCK))
        stop = space + 1 if space > start else start + MAX_BLOCK
        yield from _clean(text, start, stop, speaker)
        start = stop
    yield from _clean(text, start, end, speaker)


def _clean(text: str, start: int, end: int, speaker: str) -> Iterator[Block]:
    """Yield the piece without markup, white space folded; nothing when no letter is left."""
    lead = _LEAD.match(text[start:end])
    position = start + lead.end() if lead else start
    pieces: list[str] = []
    starts: list[int] = []
    sources: list[int] = []
    length = 0

    def put(piece: str, source: int) -> None:
        nonlocal length
        if piece == " " and (not pieces or pieces[-1].endswith(" ")):
            return
        if piece:
            pieces.append(piece)
            starts.append(length)
            sources.append(source)
            length += len(piece)

    for match in _NOISE.finditer(text, position, end):
        put(text[position : match.start()], position)
        if match["link"]:
            put(" ".join(match["link"].replace("*", "").split()), match.start("link"))
        elif match["space"]:
            put(" ", match.start())
        elif match["dash"]:
            put(" ", match.start())
            put("– ", match.start())
        elif match["cell"] and pieces:
            put(", ", match.start())
        position = match.end()
    put(text[position:end], position)
    cleaned = "".join(pieces).rstrip(" ,")
    if any(letter.isalpha() for letter in cleaned):
        yield Block(cleaned, tuple(starts), tuple(sources), speaker)
