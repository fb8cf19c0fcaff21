"""HTML: what a reader sees; scripts, styles, navigation and footers are left out."""

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
_BLOCKS = frozenset(
    [
        *("address", "article", "aside", "blockquote", "body", "dd", "details", "div", "dl", "dt", "fieldset", "form"),
        *("figcaption", "figure", "h1", "h2", "h3", "h4", "h5", "h6", "header", "hr", "html", "li", "main", "ol", "p"),
        *("pre", "section", "summary", "table", "tbody", "tfoot", "thead", "tr", "ul", "caption", "br"),
    ]
)
_HEADINGS = {f"h{level}": level for level in range(1, 7)}


def parse(name: str, content: bytes) -> FormatResult:
    """One document."""
    from bs4.dammit import EncodingDetector

    soup = _soup(_utf8(content))
    guessed = soup.original_encoding or "utf-8"
    known = guessed.startswith(("utf-", "ascii")) or EncodingDetector.find_declared_encoding(content, is_html=True)
    notes = () if known else (f"Read as {guessed.upper()}; the file does not say its encoding.",)
    title = one_line(soup.title.get_text()) if soup.title else ""
    return FormatResult((Parsed(tuple(_walk(soup)), title=title, notes=notes),))


def _utf8(content: bytes) -> str | bytes:
    """The text, where it is UTF-8; else the bytes, whose encoding is declared or to be guessed.

    Few texts in another encoding happen to be UTF-8, while guessing takes short UTF-8 pages for others.
    """
    if b"\x1b$" in content or b"\x00" in content:
        return content
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        return content


def blocks_of(markup: str) -> list[Block]:
    """The blocks of a piece of HTML."""
    return _walk(_soup(markup))


def _soup(markup: str | bytes) -> Any:
    from bs4 import BeautifulSoup

    return BeautifulSoup(markup, "lxml")


def _walk(soup: Any) -> list[Block]:
    from bs4.element import NavigableString, PreformattedString

    for element in soup(_SILENT):
        element.decompose()
    found: list[Block] = []
    line: list[str] = []
    cell_depth = 0

    def flush(kind: str = "paragraph", level: int = 0, prefix: str = "") -> None:
        text = one_line("".join(line))
        line.clear()
        if text:
            found.append(Block(prefix + text, kind, level))

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
    return found
