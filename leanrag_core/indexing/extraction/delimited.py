"""Replies in the delimited form of GraphRAG, nano-graphrag and LightRAG, read record by record.

("entity"<|>name<|>type<|>description)##("relationship"<|>source<|>target<|>description<|>strength)<|COMPLETE|>
LightRAG puts keywords before the strength. Models keep to this only loosely: what can be understood is taken, what
cannot becomes a Drop.
"""

import html
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from leanrag_core.errors import ReplyError
from leanrag_core.indexing.extraction.denials import require_tie
from leanrag_core.indexing.extraction.reply import Reply
from leanrag_core.types.extraction import Drop, Mention, RelationMention

_DOUBLE, _SINGLE = '"“”„', "'‘’`"
_QUOTES = _DOUBLE + _SINGLE
_FIELD = re.compile(r"</?\|/?>")
_START = re.compile(rf"\(?[ \t]*[{_QUOTES}]?\b([a-z_]+)\b[{_QUOTES}]?[ \t]*<\|>", re.IGNORECASE)
_KINDS = {"entity": "entity", "relationship": "relation", "relation": "relation"}
_PASSED_OVER = ("content_keywords",)  # LightRAG's keywords of the whole chunk: no place in a graph
_RECORD_END = re.compile(r"##(?=[\s(*]|$)|<\|complete\|>", re.IGNORECASE)
_COMPLETE = re.compile(r"<\|complete\|>", re.IGNORECASE)
_CLOSED = re.compile(r"\)[ \t*`,;.]*(?=\n|$)")
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")
_WHOLE = re.compile(rf"[{_QUOTES}.!?。！？\d][ \t]*$")
_NUMBER = re.compile(r"^[-+]?\d+(?:\.\d+)?(?=$|\s*/\s*10$)")
_SHOWN = 120  # characters of a broken record that its Drop shows


@dataclass(frozen=True)
class _Record:
    """One record. closed: it ended with a parenthesis, or something came behind it."""

    kind: str
    text: str
    closed: bool


def parse_delimited(text: str, chunk_id: str) -> Reply:
    """Return the mentions and relations of a delimited reply; a record that is not as it must be becomes a Drop.

    done: the reply says that it is complete. Strengths are limited to 0 ... 10. Raises ReplyError when there is neither
    a record nor the mark of completion.
    """
    mentions: list[Mention] = []
    relations: list[RelationMention] = []
    drops: list[Drop] = []
    for record in _records(text):
        try:
            if record.kind in _PASSED_OVER:
                continue
            if record.kind not in _KINDS:
                raise ReplyError("reply.unknown_record", kind=record.kind)
            fields = _fields(record)
            if _KINDS[record.kind] == "entity":
                mentions.append(_mention(fields, chunk_id))
            else:
                relations.append(_relation(fields, chunk_id))
        except ReplyError as error:
            shown = " ".join(record.text.split())[:_SHOWN]
            drops.append(Drop("extract", f"chunk {chunk_id}: {record.kind} {shown}", str(error)))
    complete = _COMPLETE.search(text) is not None
    if not (mentions or relations or drops or complete):
        raise ReplyError("reply.no_records")
    return Reply(tuple(mentions), tuple(relations), tuple(drops), complete)


def _records(text: str) -> Iterator[_Record]:
    """Yield the records in their order. One begins with its kind and a delimiter, and ends where the next begins, at a
    closing parenthesis at the end of a line, or at a mark.
    """
    starts = [match for match in _START.finditer(text) if _begins(text, match)]
    for place, start in enumerate(starts):
        last = place + 1 == len(starts)
        body = text[start.end() : len(text) if last else starts[place + 1].start()]
        mark = _RECORD_END.search(body)
        body = body[: mark.start()] if mark else body
        behind = max(
            (match.end() for match in _FIELD.finditer(body)), default=0
        )  # a parenthesis in a name closes no record
        brace = _CLOSED.search(body, behind)
        closed = not last or mark is not None or brace is not None
        yield _Record(start[1].lower(), body[: brace.start()] if brace else body, closed)


def _begins(text: str, match: re.Match[str]) -> bool:
    """Return whether a word before a delimiter begins a record; it may also be a field: a type can be called
    "entity".
    """
    known = match[1].lower() in _KINDS or match[1].lower() in _PASSED_OVER
    bracketed = match[0].startswith("(")
    is_field = text[: match.start()].rstrip(" \t").endswith("|>")
    return (known and bracketed) or (not is_field and (known or bracketed))


def _fields(record: _Record) -> list[str]:
    """Return the fields without quotes. Raises ReplyError for a record that broke off in the middle."""
    if not record.closed and not _WHOLE.search(record.text):
        raise ReplyError("reply.record_broken_off")
    return [_cleaned(field) for field in _FIELD.split(record.text)]


def _cleaned(field: str) -> str:
    """Return the field in one line, out of its quotes; a lone double quote at an end was never closed or opened."""
    text = _CONTROL.sub("", " ".join(html.unescape(field).split()))
    while len(text) > 1 and any(text[0] in pair and text[-1] in pair for pair in (_DOUBLE, _SINGLE)):
        text = text[1:-1].strip()
    if sum(text.count(mark) for mark in _DOUBLE) == 1:
        text = text.strip(_DOUBLE).strip()
    return text


def _mention(fields: Sequence[str], chunk_id: str) -> Mention:
    if len(fields) < 3:
        raise ReplyError("reply.entity_fields", n=len(fields))
    name, kind, description = fields[:3]
    return Mention(_named(name), kind.lower() or "unknown", description, chunk_id)


def _relation(fields: Sequence[str], chunk_id: str) -> RelationMention:
    if len(fields) < 3:
        raise ReplyError("reply.relation_fields", n=len(fields))
    source, target = _named(fields[0]), _named(fields[1])
    number = _NUMBER.match(fields[-1])
    strength = min(10.0, max(0.0, float(number[0]))) if number else 1.0
    texts = list(fields[2:-1] if number else fields[2:])
    keywords = tuple(word for word in map(str.strip, re.split(r"[,，、;]", texts[1])) if word) if len(texts) > 1 else ()
    description = texts[0] if texts and texts[0] else f"{source} – {target}"
    require_tie(description)
    return RelationMention(source, target, description, chunk_id, keywords, strength)


def _named(name: str) -> str:
    if not re.search(r"\w", name):
        raise ReplyError("reply.empty_name")
    return name
