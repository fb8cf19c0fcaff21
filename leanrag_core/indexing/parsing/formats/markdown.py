"""Markdown: its text without the markup, headings and table rows kept."""

import re
from typing import Any

from leanrag_core.indexing.parsing.blocks import Block, FormatResult, Parsed
from leanrag_core.indexing.parsing.encoding import decode

SUFFIXES = ("md", "markdown")
MEDIA_TYPE = "markdown"
TITLE = "Markdown"
_FRONT_MATTER = re.compile(
    r"\A---\n(?=[\w-]+\s*:)(.*?)\n---(?:\n|\Z)", re.DOTALL
)  # without a key, --- is a horizontal rule
_FRONT_TITLE = re.compile(r"^title:\s*[\"']?(.+?)[\"']?\s*$", re.MULTILINE)


def parse(name: str, content: bytes) -> FormatResult:
    """Return one document."""
    from markdown_it import MarkdownIt

    decoded = decode(content)
    text = decoded.text.replace("\r\n", "\n")
    front = _FRONT_MATTER.match(text)
    title = ""
    if front:
        stated = _FRONT_TITLE.search(front[1])
        title, text = (stated[1] if stated else ""), text[front.end() :]
    tokens = MarkdownIt("commonmark").enable("table").parse(text)
    return FormatResult((Parsed(tuple(_blocks(tokens)), title=title, notes=decoded.notes),))


def _blocks(tokens: list[Any]) -> list[Block]:
    blocks: list[Block] = []
    row: list[str] = []
    open_tags: list[str] = []
    for place, token in enumerate(tokens):
        if token.nesting == 1:
            open_tags.append(token.type)
        elif token.nesting == -1:
            open_tags.pop()
        if token.type == "tr_close":
            blocks.append(Block(" | ".join(row)))
            row = []
        elif token.type == "inline":
            text = _inline(token.children or [])
            if open_tags[-1] in ("th_open", "td_open"):
                row.append(text)
            elif open_tags[-1] == "heading_open":
                blocks.append(Block(text, "heading", int(tokens[place - 1].tag[1])))
            else:
                blocks.append(Block(f"- {text}" if "list_item_open" in open_tags else text))
        elif token.type in ("fence", "code_block"):
            blocks.append(Block(token.content, "preformatted"))
        elif token.type == "html_block":
            from leanrag_core.indexing.parsing.formats.html import blocks_of

            blocks += blocks_of(token.content)
    return blocks


def _inline(children: list[Any]) -> str:
    parts = []
    for child in children:
        if child.type in ("text", "code_inline"):
            parts.append(child.content)
        elif child.type == "softbreak" or (child.type == "html_inline" and child.content.lower().startswith("<br")):
            parts.append(" ")
        elif child.type == "hardbreak":
            parts.append("\n")
        elif child.type == "image":
            parts.append(child.content)
    return "".join(parts)
