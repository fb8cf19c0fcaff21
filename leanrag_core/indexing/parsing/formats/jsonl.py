"""JSONL: a document for each line; a line that cannot be read is reported by its number."""

import json
from collections.abc import Callable, Iterator
from functools import partial

from leanrag_core.errors import UnreadableDocument
from leanrag_core.indexing.parsing.blocks import FormatResult, joined_portions
from leanrag_core.indexing.parsing.encoding import decode
from leanrag_core.indexing.parsing.formats.json import TOO_DEEP, in_portions, records
from leanrag_core.messages.message import message
from leanrag_core.types.corpus import Refusal

SUFFIXES = ("jsonl", "ndjson")
MEDIA_TYPE = "jsonl"


def parse(name: str, content: bytes) -> FormatResult:
    """Return a document a line. Raises UnreadableDocument when no line is JSON, or all are empty."""
    return _checked(joined_portions(_readers(name, content)))


def portions(name: str, content: bytes) -> Iterator[Callable[[], FormatResult]]:
    """Yield functions, each of which reads some thousand lines and raises UnreadableDocument when none of them is
    JSON."""
    yield from (partial(_read_checked, read) for read in _readers(name, content))


def _read_checked(read: Callable[[], FormatResult]) -> FormatResult:
    return _checked(read())


def _checked(result: FormatResult) -> FormatResult:
    codes = {refusal.reason.code for refusal in result.refusals}
    if not result.parsed and codes == {"file.line_not_json"}:
        raise UnreadableDocument("file.no_json_line")
    return result


def _readers(name: str, content: bytes) -> Iterator[Callable[[], FormatResult]]:
    decoded = decode(content)
    if not decoded.text.strip():
        raise UnreadableDocument("file.no_text")
    number = 1
    for part in in_portions(_lines(decoded.text), len):
        yield partial(_read, name, part, number, decoded.notes)
        number += len(part)


def _lines(text: str) -> Iterator[str]:
    """Yield the lines one after another: a list of a million of them would take more than the text."""
    start = 0
    while start <= len(text):
        end = text.find("\n", start)
        end = len(text) if end < 0 else end
        yield text[start:end]
        start = end + 1


def _read(name: str, lines: list[str], first: int, notes: tuple[str, ...]) -> FormatResult:
    """Return a document a line. first: the number of the first of them."""
    items, refusals = [], []
    for number, line in enumerate(lines, start=first):
        if not line.strip():
            continue
        try:
            value = json.loads(line)
        except ValueError as error:
            refusals.append(Refusal(f"{name}, line {number}", message("file.line_not_json", reason=str(error))))
            continue
        except RecursionError:
            refusals.append(Refusal(f"{name}, line {number}", TOO_DEEP))
            continue
        if isinstance(value, dict):
            items.append((number, value))
        else:
            refusals.append(Refusal(f"{name}, line {number}", message("file.line_not_object")))
    result = records(name, items, notes, "line")
    return FormatResult(result.parsed, (*refusals, *result.refusals))
