"""JSONL: a document for each line; a line that cannot be read is reported by its number."""

import json

from leanrag_core.errors import UnreadableDocument
from leanrag_core.indexing.parsing.blocks import FormatResult
from leanrag_core.indexing.parsing.encoding import decode
from leanrag_core.indexing.parsing.formats.json import TOO_DEEP, records
from leanrag_core.messages.message import message
from leanrag_core.types.corpus import Refusal

SUFFIXES = ("jsonl", "ndjson")
MEDIA_TYPE = "jsonl"


def parse(name: str, content: bytes) -> FormatResult:
    """Return a document a line. Raises UnreadableDocument when no line is JSON."""
    decoded = decode(content)
    items, refusals = [], []
    for number, line in enumerate(decoded.text.split("\n"), start=1):
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
    if not items and all(refusal.reason.code == "file.line_not_json" for refusal in refusals):
        raise UnreadableDocument("file.no_json_line")
    result = records(name, items, decoded.notes, "line")
    return FormatResult(result.parsed, (*refusals, *result.refusals))
