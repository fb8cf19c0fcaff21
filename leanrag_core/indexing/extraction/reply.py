"""From a language model's reply to mentions: strict JSON first, then repaired, every item judged by itself."""

import json
import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from leanrag_core.errors import ReplyError
from leanrag_core.indexing.extraction.denials import require_tie
from leanrag_core.models.asking import read_json
from leanrag_core.text.sentences import in_one_line
from leanrag_core.types.calls import JSON_NUMBER, JSON_TEXT, JSON_TEXTS, JsonSchema, json_list, json_object
from leanrag_core.types.extraction import Drop, Mention, RelationMention

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
    """Return the cells under the names that we use, without nulls. Of several cells with one meaning the usual name
    counts.
    """
    cell_of = {
        _SEPARATOR.sub("_", str(key).strip().lower()): value for key, value in cells.items() if value is not None
    }
    meant = ((name, next((other for other in others if other in cell_of), None)) for name, others in names.items())
    return {name: cell_of[other] for name, other in meant if other is not None}


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
    return in_one_line(value)


def text_of(value: Any) -> str:
    """Return a text in one line; a number or a list of texts is taken as one."""
    if isinstance(value, list):
        return in_one_line("; ".join(str(part) for part in value if isinstance(part, str | int | float)))
    return in_one_line(str(value)) if isinstance(value, str | int | float) else ""


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
    text = in_one_line(value).lower() if isinstance(value, str) else ""
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


T = TypeVar("T", Mention, RelationMention)
_ITEM_SHOWN = 120  # characters of a useless item that its Drop shows

_ENTITY = json_object(name=JSON_TEXT, type=JSON_TEXT, description=JSON_TEXT)
_RELATION = json_object(
    source=JSON_TEXT, target=JSON_TEXT, description=JSON_TEXT, keywords=JSON_TEXTS, strength=JSON_NUMBER
)
_LISTS = {"entities": json_list(_ENTITY), "relations": json_list(_RELATION)}
GRAPH_SCHEMA = json_object(**_LISTS)
_MOST_OF_A_SHORT_REPLY = 12  # entities, and relations


def _bounded(properties: dict[str, int]) -> JsonSchema:
    """Return the schema of a list of objects with those texts, each with its longest length in characters."""
    texts = {name: {"type": "string", "maxLength": length} for name, length in properties.items()}
    cells: dict[str, JsonSchema] = {**texts, **({"strength": JSON_NUMBER} if "source" in texts else {})}
    return {**json_list(json_object(**cells)), "maxItems": _MOST_OF_A_SHORT_REPLY}


SHORT_GRAPH_SCHEMA = json_object(
    entities=_bounded({"name": 80, "type": 30, "description": 200}),
    relations=_bounded({"source": 80, "target": 80, "description": 200}),
)
ENTITIES_SCHEMA = json_object(entities=_LISTS["entities"])
GLEAN_SCHEMA = json_object(**_LISTS, done={"type": "boolean"})


@dataclass(frozen=True)
class Reply:
    """What one reply holds. done: the model says that nothing more is missing. breaks_off: its end is missing."""

    mentions: tuple[Mention, ...]
    relations: tuple[RelationMention, ...]
    drops: tuple[Drop, ...]
    done: bool
    breaks_off: bool = False


def parse_reply(text: str, chunk_id: str) -> Reply:
    """Return the mentions and relations of a reply; an item that cannot be read becomes a Drop, not a lost chunk.

    Raises ReplyError when the reply holds no JSON object with a list of entities or relations.
    """
    reply_json = read_json(text, tuple(LISTS.values()))
    cells = renamed(reply_json.cells, {**LISTS, "done": ("done",)})
    entities, relations = items_of(cells.get("entities")), items_of(cells.get("relations"))
    if entities is None and relations is None:
        raise ReplyError("reply.no_lists")
    drops: list[Drop] = []
    lists = (("entities", entities), ("relations", relations))
    drops += [
        _drop(chunk_id, f"the list of {name} is not a list", chunk=chunk_id)
        for name, items in lists
        if items is None and name in cells
    ]
    mentions = list(_read(entities or [], "entity", _mention, chunk_id, drops))
    related = list(_read(relations or [], "relation", _relation, chunk_id, drops))
    scaled = on_scale([relation.strength for relation in related])
    related = [replace(relation, strength=strength) for relation, strength in zip(related, scaled, strict=True)]
    return Reply(tuple(mentions), tuple(related), tuple(drops), cells.get("done") is True, reply_json.breaks_off)


def _read(
    items: list[Any], what: str, parse: Callable[[dict[str, Any], str, list[Drop]], T], chunk_id: str, drops: list[Drop]
) -> Iterator[T]:
    """Yield the items that can be read; the others become drops."""
    for item in items:
        try:
            if not isinstance(item, dict):
                raise ReplyError("reply.item_not_object")
            yield parse(item, chunk_id, drops)
        except ReplyError as error:
            drops.append(_drop(f"{chunk_id}: {what} {_shown(item)}", str(error)))


def _drop(item: str, reason: str, chunk: str = "") -> Drop:
    return Drop("extract", f"chunk {item}", reason, chunk=chunk)


def _shown(item: Any) -> str:
    return json.dumps(item, ensure_ascii=False)[:_ITEM_SHOWN]


def _mention(item: dict[str, Any], chunk_id: str, drops: list[Drop]) -> Mention:
    cells = renamed(item, ENTITY)
    name = name_of(cells.get("name"), "name")
    return Mention(name, text_of(cells.get("type")).lower() or "unknown", text_of(cells.get("description")), chunk_id)


def _relation(item: dict[str, Any], chunk_id: str, drops: list[Drop]) -> RelationMention:
    cells = renamed(item, RELATION)
    source, target = name_of(cells.get("source"), "source"), name_of(cells.get("target"), "target")
    strength = 1.0
    try:
        strength = strength_of(cells.get("strength", 1.0))
    except ReplyError as error:
        drops.append(_drop(f"{chunk_id}: relation {_shown(item)}", str(error)))
    description = text_of(cells.get("description")) or f"{source} – {target}"
    require_tie(description)
    return RelationMention(source, target, description, chunk_id, keywords_of(cells.get("keywords")), strength)
