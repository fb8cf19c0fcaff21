"""Items of an extraction reply as models write them: other keys, numbers as text, scales of their own.

What can be read is taken, what cannot becomes a ReplyError that says why.
"""

import json
import math
import re
from collections.abc import Iterable, Mapping
from typing import Any

from leanrag_core.errors import ReplyError

LONGEST_NAME = 200  # characters
_FAR = 10**6  # beyond every scale
_WORD = re.compile(r"\w")
_SEPARATOR = re.compile(r"[\s_-]+")
_BETWEEN_KEYWORDS = re.compile(r"[,，、;；|\n]")
_STRENGTH = re.compile(r"^\s*(-?\d+(?:[.,]\d+)?)\s*(?:(?:/|out of|of)\s*(\d+(?:\.\d+)?)|(%))?\s*$", re.IGNORECASE)
_IN_WORDS = {"very low": 1.0, "low": 2.0, "weak": 2.0, "medium": 5.0, "moderate": 5.0, "high": 8.0, "strong": 8.0,
             "very high": 9.0, "very strong": 9.0}  # fmt: skip
LISTS = {
    "entities": ("entities", "entity", "nodes", "entity_list", "extracted_entities"),
    "relations": ("relations", "relationships", "relation", "relationship", "edges", "links", "triples"),
}
ENTITY = {
    "name": ("name", "entity_name", "entity", "title"),
    "type": ("type", "entity_type", "category", "kind"),
    "description": ("description", "entity_description", "desc", "summary"),
}
RELATION = {
    "source": ("source", "source_entity", "source_name", "src", "from", "head", "subject", "entity1"),
    "target": ("target", "target_entity", "target_name", "tgt", "to", "tail", "object", "entity2"),
    "description": ("description", "relationship_description", "relation_description", "desc", "relation", "predicate"),
    "keywords": ("keywords", "relationship_keywords", "keyword", "tags"),
    "strength": ("strength", "relationship_strength", "weight", "score"),
}


def renamed(cells: dict[str, Any], names: Mapping[str, tuple[str, ...]]) -> dict[str, Any]:
    """Return the cells under the names that we use; null is nothing. Of two with one meaning the usual name counts."""
    given = {_SEPARATOR.sub("_", str(key).strip().lower()): value for key, value in cells.items() if value is not None}
    meant = ((name, next((other for other in others if other in given), None)) for name, others in names.items())
    return {name: given[other] for name, other in meant if other is not None}


def items_of(value: Any) -> list[Any] | None:
    """Return the items of a list, or of an object whose keys are their names; None for anything else."""
    if isinstance(value, dict) and value and all(isinstance(item, dict) for item in value.values()):
        return [{"name": name, **item} for name, item in value.items()]
    return value if isinstance(value, list) else None


def name_of(value: Any, what: str) -> str:
    """Return a name in one line. Raises ReplyError for what cannot be a name."""
    if value is None:
        raise ReplyError("reply.field_missing", field=what)
    if not isinstance(value, str):
        raise ReplyError("reply.field_not_text", field=what, value=repr(value))
    if not _WORD.search(value):
        raise ReplyError("reply.field_empty", field=what)
    if len(value) > LONGEST_NAME:
        raise ReplyError("reply.field_too_long", field=what)
    return folded(value)


def text_of(value: Any) -> str:
    """Return a text in one line; a number or a list of texts is taken as one."""
    if isinstance(value, list):
        return folded("; ".join(str(part) for part in value if isinstance(part, str | int | float)))
    return folded(str(value)) if isinstance(value, str | int | float) else ""


def keywords_of(value: Any) -> tuple[str, ...]:
    """Return keywords from a list or from a text that separates them."""
    parts: Iterable[Any] = value if isinstance(value, list) else _BETWEEN_KEYWORDS.split(text_of(value))
    return tuple(word for word in map(text_of, parts) if word)


def strength_of(value: Any) -> float:
    """Return a strength as the model gives it, 7 for 7, "7", "7/10", "70 %" and 5 for "medium". Raises ReplyError."""
    if isinstance(value, int) and not isinstance(value, bool):
        return float(max(-_FAR, min(_FAR, value)))  # one of hundreds of digits is too large for a float
    if isinstance(value, float) and math.isfinite(value):
        return value
    text = folded(value).lower() if isinstance(value, str) else ""
    match = _STRENGTH.match(text)
    if match is None:
        if text in _IN_WORDS:
            return _IN_WORDS[text]
        raise ReplyError("reply.strength_not_number", value=json.dumps(value, ensure_ascii=False, default=str)[:60])
    number = float(match[1].replace(",", "."))
    if match[3]:
        return number / 10
    return number * 10 / float(match[2]) if match[2] and float(match[2]) else number


def on_scale(strengths: list[float]) -> list[float]:
    """Scale the strengths to 0 ... 10. Where most of a reply's are above 10, the model counts to 100."""
    above = sum(strength > 10 for strength in strengths)
    scale = 10 if 2 * above > len(strengths) and max(strengths, default=0) <= 100 else 1
    return [min(10.0, max(0.0, strength / scale)) for strength in strengths]


def folded(text: str) -> str:
    """Return the text in one line."""
    return " ".join(text.split())
