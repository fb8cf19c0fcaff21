"""From a language model's reply to mentions: strict JSON first, then repaired, every item judged by itself."""

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from leanrag_core.errors import ReplyError
from leanrag_core.indexing.extraction.reply_items import (
    ENTITY,
    LISTS,
    RELATION,
    items_of,
    keywords_of,
    name_of,
    on_scale,
    renamed,
    strength_of,
    text_of,
)
from leanrag_core.models.asking import read_json
from leanrag_core.types.calls import JsonSchema
from leanrag_core.types.extraction import Drop, Mention, RelationMention

T = TypeVar("T", Mention, RelationMention)
_ITEM_SHOWN = 120  # characters of a useless item that are kept with its loss

_ENTITY: JsonSchema = {
    "type": "object",
    "properties": {"name": {"type": "string"}, "type": {"type": "string"}, "description": {"type": "string"}},
    "required": ["name", "type", "description"],
    "additionalProperties": False,
}
_RELATION: JsonSchema = {
    "type": "object",
    "properties": {
        "source": {"type": "string"},
        "target": {"type": "string"},
        "description": {"type": "string"},
        "keywords": {"type": "array", "items": {"type": "string"}},
        "strength": {"type": "number"},
    },
    "required": ["source", "target", "description", "keywords", "strength"],
    "additionalProperties": False,
}
GRAPH_SCHEMA: JsonSchema = {
    "type": "object",
    "properties": {
        "entities": {"type": "array", "items": _ENTITY},
        "relations": {"type": "array", "items": _RELATION},
    },
    "required": ["entities", "relations"],
    "additionalProperties": False,
}
ENTITIES_SCHEMA: JsonSchema = {
    "type": "object",
    "properties": {"entities": {"type": "array", "items": _ENTITY}},
    "required": ["entities"],
    "additionalProperties": False,
}
GLEAN_SCHEMA: JsonSchema = {
    **GRAPH_SCHEMA,
    "properties": {**GRAPH_SCHEMA["properties"], "done": {"type": "boolean"}},
    "required": ["entities", "relations", "done"],
}


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
    read = read_json(text, tuple(LISTS.values()))
    cells = renamed(read.cells, {**LISTS, "done": ("done",)})
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
    return Reply(tuple(mentions), tuple(related), tuple(drops), cells.get("done") is True, read.breaks_off)


def _read(
    items: list[Any], what: str, read: Callable[[dict[str, Any], str, list[Drop]], T], chunk_id: str, drops: list[Drop]
) -> Iterator[T]:
    """Yield the items that can be read; the others become drops."""
    for item in items:
        try:
            if not isinstance(item, dict):
                raise ReplyError("reply.item_not_object")
            yield read(item, chunk_id, drops)
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
    return RelationMention(source, target, description, chunk_id, keywords_of(cells.get("keywords")), strength)
