"""JSON: a list of objects with a text is a document each; anything else is one document of its values."""

import json
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any, TypeVar

from leanrag_core.errors import UnreadableDocument
from leanrag_core.indexing.parsing.blocks import Block, FormatResult, Parsed, joined_portions, one_line
from leanrag_core.indexing.parsing.encoding import decode
from leanrag_core.indexing.parsing.formats.text import blocks_of
from leanrag_core.messages.message import message
from leanrag_core.types.corpus import Refusal

T = TypeVar("T")
SUFFIXES = ("json",)
MEDIA_TYPE = "json"
_TEXT = ("text", "content", "body", "contents", "passage", "context", "page_content", "document", "abstract")
_TITLE = ("title", "name", "headline", "heading", "subject")
TOO_DEEP = message("file.nested_too_deeply")
_ID = ("id", "_id", "hash_code", "doc_id", "chunk_id")


RECORDS, CHARACTERS = 5_000, 4_000_000  # a portion, which takes a few seconds: whichever is reached first


def parse(name: str, content: bytes) -> FormatResult:
    """Return one document or several. Raises UnreadableDocument for what is no JSON."""
    return joined_portions(portions(name, content))


def portions(name: str, content: bytes) -> Iterator[Callable[[], FormatResult]]:
    """Yield what reads some thousand entries of a list, or the one document. Raises as parse() does."""
    decoded = decode(content)
    try:
        value = json.loads(decoded.text)
    except ValueError as error:
        raise UnreadableDocument("file.not_json", reason=str(error)) from error
    if isinstance(value, list) and any(text_of(item) for item in value):
        for items in in_portions(enumerate(value, start=1), lambda item: len(text_of(item[1]))):
            yield partial(records, name, items, decoded.notes, "entry")
    elif text_of(value):
        yield lambda: FormatResult((record(value, decoded.notes, name),))
    else:
        yield lambda: FormatResult((Parsed(tuple(Block(line) for line in _lines(value)), notes=decoded.notes),))


def in_portions(items: Iterable[T], characters_of: Callable[[T], int]) -> Iterator[list[T]]:
    """Yield the items in lists of a portion each."""
    part: list[T] = []
    n_characters = 0
    for item in items:
        part.append(item)
        n_characters += characters_of(item)
        if len(part) >= RECORDS or n_characters >= CHARACTERS:
            yield part
            part, n_characters = [], 0
    if part:
        yield part


def records(name: str, items: list[tuple[int, Any]], notes: tuple[str, ...], unit: str) -> FormatResult:
    """Return a document for each numbered item that has a text; the others are refused by their number."""
    parsed, refusals = [], []
    for number, item in items:
        if text_of(item):
            try:
                parsed.append(record(item, notes, f"{name} #{number}"))
            except RecursionError:  # in the title, for example, which is used unchanged
                refusals.append(Refusal(f"{name}, {unit} {number}", TOO_DEEP))
        else:
            refusals.append(
                Refusal(f"{name}, {unit} {number}", message("file.item_without_text", fields=", ".join(_TEXT[:4])))
            )
    return FormatResult(tuple(parsed), tuple(refusals))


def text_of(item: Any) -> str:
    """Return the text of an object; empty when it has none."""
    if isinstance(item, str):
        return item if item.strip() else ""
    if not isinstance(item, dict):
        return ""
    return next((item[key] for key in _TEXT if isinstance(item.get(key), str) and item[key].strip()), "")


def record(item: Any, notes: tuple[str, ...], shown: str) -> Parsed:
    """Return the document of an object: its title as a heading above its text, its id in the name and a note. shown:
    the name of an object without an id."""
    fields = item if isinstance(item, dict) else {}
    title = next((one_line(str(fields[key])) for key in _TITLE if fields.get(key)), "")
    key = next((key for key in _ID if fields.get(key) not in (None, "")), "")
    id_note = (f"{key}: {fields[key]}",) if key else ()
    label = one_line(str(fields[key]))[:120].replace("/", "\u2215") if key else shown
    heading = (Block(title, "heading", 1),) if title else ()
    return Parsed((*heading, *blocks_of(text_of(item))), title=title or label, name=label, notes=(*notes, *id_note))


def _lines(value: Any, path: str = "") -> list[str]:
    if isinstance(value, dict):
        return [line for key, inner in value.items() for line in _lines(inner, f"{path}.{key}" if path else str(key))]
    if isinstance(value, list):
        return [line for inner in value for line in _lines(inner, path)]
    if value is None or not str(value).strip():
        return []
    return [f"{path}: {value}" if path else str(value)]
