"""HTML: what a reader sees; scripts, styles, navigation and footers are left out. Preformatted text keeps its lines."""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import groupby
from typing import Any

from leanrag_core.indexing.parsing.blocks import Block, FormatResult, Parsed, clean, one_line
from leanrag_core.indexing.parsing.notes import note

SUFFIXES = ("html", "htm", "xhtml")
MEDIA_TYPE = "html"
_SILENT = (
    "script",
    "style",
    "noscript",
    "template",
    "nav",
    "footer",
    "iframe",
    "svg",
    "button",
    "select",
    "textarea",
    "label",
    "head",
    "object",
)
# What is in these is never text, whether they are closed or not.
_NEVER_TEXT = frozenset(["script", "style", "head", "template"])
_OF_A_DRAWING = ("title", "desc", "text", "metadata", "foreignobject")
_CONTENT = ["p", "h1", "h2", "h3", "h4", "h5", "h6", "table", "ul", "ol", "dl", "article", "main", "blockquote", "pre"]
_MOST_OF_A_LABEL = 200  # characters on a button, in a label
_BLOCKS = frozenset(
    [
        *("address", "article", "aside", "blockquote", "body", "dd", "details", "div", "dl", "dt", "fieldset", "form"),
        *("figcaption", "figure", "h1", "h2", "h3", "h4", "h5", "h6", "header", "hr", "html", "li", "main", "ol", "p"),
        *("pre", "section", "summary", "table", "tbody", "tfoot", "thead", "tr", "ul", "caption", "br"),
    ]
)
_START_TAG = re.compile(rf"<({'|'.join(_SILENT)})\b([^>]*)>", re.IGNORECASE)
_END_TAG = re.compile(rf"</({'|'.join(_SILENT)})\s*>", re.IGNORECASE)
_NEIGHBOURS = frozenset(["next", "prev", "previous", "up"])  # what a link's `rel` says of another page of a manual
_WORD = re.compile(r"\w+")
_HEADINGS = {f"h{level}": level for level in range(1, 7)}


def parse(name: str, content: bytes) -> FormatResult:
    """Return one document."""
    from bs4.dammit import EncodingDetector

    text = utf8_or_bytes(content)
    soup = _soup(text)
    guessed = soup.original_encoding or "utf-8"
    known = guessed.startswith(("utf-", "ascii")) or EncodingDetector.find_declared_encoding(content, is_html=True)
    notes = () if known else (note("guessed", encoding=guessed.upper()),)
    title = one_line(soup.title.get_text()) if soup.title else ""
    markup = text if isinstance(text, str) else content.decode(guessed, errors="replace")
    return FormatResult((Parsed(tuple(_walk(soup, _unclosed(markup))), title=title, notes=notes),))


def utf8_or_bytes(content: bytes) -> str | bytes:
    """Return the text, where it is UTF-8; else the bytes, whose encoding is declared or to be guessed.

    Few texts in another encoding happen to be UTF-8, while guessing takes short UTF-8 pages for others.
    """
    if b"\x1b$" in content or b"\x00" in content:
        return content
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        return content


def blocks_of(markup: str | bytes) -> list[Block]:
    """Return the blocks of a piece of HTML."""
    soup = _soup(markup)
    text = markup if isinstance(markup, str) else markup.decode(soup.original_encoding or "utf-8", errors="replace")
    return _walk(soup, _unclosed(text))


def _unclosed(markup: str) -> frozenset[str]:
    """Return the names of silent elements that are opened more often than closed. The parser ends such a one with its
    parent or the file, so that it swallows what follows.
    """
    opened = Counter(name.lower() for name, end in _START_TAG.findall(markup) if not end.endswith("/"))
    closed = Counter(name.lower() for name in _END_TAG.findall(markup))
    return frozenset(name for name in opened if opened[name] > closed[name]) - _NEVER_TEXT


def _swallows(element: Any) -> bool:
    """Return whether an element that is never closed holds more than such an element does."""
    if element.name == "svg":  # what it draws is no text either
        return True
    return element.find(_CONTENT) is not None or len(element.get_text()) > _MOST_OF_A_LABEL


def _soup(markup: str | bytes) -> Any:
    from bs4 import BeautifulSoup

    return BeautifulSoup(markup, "lxml")


def _remove_silent(soup: Any, unclosed: frozenset[str]) -> None:
    """Remove elements whose content is no text of the page; of one that is never closed, what is not of the page."""
    for element in soup(_SILENT):
        if element.name not in unclosed or not _swallows(element):
            element.decompose()
        elif element.name == "svg":
            for part in element(_OF_A_DRAWING):
                if part.find(_CONTENT) is None:
                    part.decompose()


def _walk(soup: Any, unclosed: frozenset[str]) -> list[Block]:
    from bs4.element import NavigableString, PreformattedString

    _remove_silent(soup, unclosed)
    reader = _Reader()
    # An explicit stack: documents nest deeper than Python's recursion limit allows.
    stack: list[tuple[Any, bool]] = [(soup, False)]
    while stack:
        node, leaving = stack.pop()
        if isinstance(node, NavigableString):
            if not isinstance(node, PreformattedString):
                reader.read(str(node))
        elif leaving:
            reader.leave(node.name)
        elif node.name == "br":
            reader.break_line()
        elif not _is_permalink(node):
            if reader.enter(node):
                stack.append((node, True))
            stack += [(child, False) for child in reversed(list(node.children))]
    reader.flush()
    return _menus_marked(reader.blocks, reader.links_of)


class _Reader:
    """Makes blocks of a page whose elements are entered and left in order. links_of: for each block how many links it
    is, 0 where it is something else."""

    def __init__(self) -> None:
        self.blocks: list[Block] = []
        self.links_of: list[int] = []
        self._line: list[str] = []
        self._links: list[str] = []  # texts of the line that are in links
        self._to_neighbours = 0  # links of the line that lead to the page's neighbours
        self._cell_depth = self._link_depth = self._pre_depth = 0

    def read(self, text: str) -> None:
        """Add the text to the line."""
        self._line.append(text)
        if self._link_depth and text.strip():
            self._links.append(text)

    def break_line(self) -> None:
        """Begin another line of preformatted text; elsewhere lines are folded."""
        self._line.append("\n" if self._pre_depth else " ")

    def enter(self, element: Any) -> bool:
        """Enter the element; return whether to leave it will mean something."""
        tag = element.name
        if tag in _BLOCKS and (self._cell_depth or self._pre_depth):
            self.break_line()
            return False
        if tag in _BLOCKS:
            if self._line:
                self.flush()
            self._pre_depth += tag == "pre"
        elif tag in ("td", "th"):
            self._cell_depth += 1
        elif tag == "a" and element.get("href"):
            self._link_depth += 1
            self._to_neighbours += not _NEIGHBOURS.isdisjoint(element.get("rel") or ())
        else:
            return False
        return True

    def leave(self, tag: str) -> None:
        """Leave an element that enter() said to leave."""
        if tag == "a":
            self._link_depth -= 1
        elif tag in ("td", "th"):
            self._cell_depth -= 1
            self._line.append(" | ")
        elif tag in _HEADINGS:
            self.flush("heading", _HEADINGS[tag])
        elif tag == "pre":
            self._pre_depth -= 1
            self.flush("preformatted")
        elif tag == "tr":
            self._line[:] = ["".join(self._line).strip().strip("|").strip()]
            self.flush()
        else:
            self.flush(prefix="- " if tag == "li" else "")

    def flush(self, kind: str = "paragraph", level: int = 0, prefix: str = "") -> None:
        """Make a block of the line, unless it is blank."""
        line, links = self._line, self._links
        text = clean("".join(line)) if kind == "preformatted" else one_line("".join(line))
        if text.strip():
            is_paragraph = kind == "paragraph"
            if is_paragraph and self._to_neighbours and _words(line) - _words(links) <= 2 * self._to_neighbours:
                kind = "boilerplate"
            self.blocks.append(Block(prefix + text, kind, level))
            mostly = _letters(links) >= _MOSTLY * _letters(line)
            self.links_of.append(len(links) if mostly and kind == "paragraph" else 0)
        self._line, self._links, self._to_neighbours = [], [], 0


def _is_permalink(element: Any) -> bool:
    """Return whether it is a link beside a heading that leads to the heading itself, such as "¶" or "#"."""
    if element.name != "a":
        return False
    text = element.get_text().strip()
    return str(element.get("href", "")).startswith("#") and 0 < len(text) <= 2 and not any(map(str.isalnum, text))


_MOSTLY = 0.8  # share of the letters of a block
_MENU_LINKS = 4


def _words(texts: Iterable[str]) -> int:
    return len(_WORD.findall(" ".join(texts)))


def _letters(texts: Iterable[str]) -> int:
    return sum(character.isalpha() for text in texts for character in text)


def _menus_marked(blocks: list[Block], of_links: Sequence[int]) -> list[Block]:
    """Return the blocks, those of a menu as boilerplate: four links and more, one after another, and little else."""
    for linked, members in groupby(range(len(blocks)), key=lambda place: of_links[place] > 0):
        run = list(members)
        if linked and sum(of_links[place] for place in run) >= _MENU_LINKS:
            for place in run:
                blocks[place] = replace(blocks[place], kind="boilerplate")
    return blocks
