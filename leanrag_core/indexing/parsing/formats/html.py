"""HTML: what a reader sees; scripts, styles, navigation and footers are left out."""

import re
from collections import Counter
from typing import Any

from leanrag_core.indexing.parsing.blocks import Block, FormatResult, Parsed, one_line

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
_HEADINGS = {f"h{level}": level for level in range(1, 7)}


def parse(name: str, content: bytes) -> FormatResult:
    """Return one document."""
    from bs4.dammit import EncodingDetector

    text = utf8_or_bytes(content)
    soup = _soup(text)
    guessed = soup.original_encoding or "utf-8"
    known = guessed.startswith(("utf-", "ascii")) or EncodingDetector.find_declared_encoding(content, is_html=True)
    notes = () if known else (f"Read as {guessed.upper()}; the file does not say its encoding.",)
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
    if element.name == "svg":  # what it draws is silent all the same
        return True
    return element.find(_CONTENT) is not None or len(element.get_text()) > _MOST_OF_A_LABEL


def _soup(markup: str | bytes) -> Any:
    from bs4 import BeautifulSoup

    return BeautifulSoup(markup, "lxml")


def _walk(soup: Any, unclosed: frozenset[str]) -> list[Block]:
    from bs4.element import NavigableString, PreformattedString

    for element in soup(_SILENT):
        if element.name not in unclosed or not _swallows(element):
            element.decompose()
        elif element.name == "svg":
            for part in element(_OF_A_DRAWING):
                if part.find(_CONTENT) is None:
                    part.decompose()
    blocks: list[Block] = []
    line: list[str] = []
    cell_depth = 0

    def flush(kind: str = "paragraph", level: int = 0, prefix: str = "") -> None:
        text = one_line("".join(line))
        line.clear()
        if text:
            blocks.append(Block(prefix + text, kind, level))

    # An explicit stack: documents nest deeper than Python's recursion limit allows.
    stack: list[tuple[Any, bool]] = [(soup, False)]
    while stack:
        node, leaving = stack.pop()
        if isinstance(node, NavigableString):
            if not isinstance(node, PreformattedString):
                line.append(str(node))
            continue
        tag = node.name
        if leaving:
            if tag in ("td", "th"):
                cell_depth -= 1
            if tag in _HEADINGS:
                flush("heading", _HEADINGS[tag])
            elif tag in ("td", "th"):
                line.append(" | ")
            elif tag == "tr":
                cells = "".join(line).strip().strip("|").strip()
                line[:] = [cells]
                flush()
            else:
                flush(prefix="- " if tag == "li" else "")
            continue
        if tag in _BLOCKS and cell_depth:
            line.append(" ")
        elif tag in _BLOCKS:
            if line and tag != "br":
                flush()
            elif tag == "br":
                line.append(" ")
                continue
            stack.append((node, True))
        elif tag in ("td", "th"):
            cell_depth += 1
            stack.append((node, True))
        stack += [(child, False) for child in reversed(list(node.children))]
    flush()
    return blocks
