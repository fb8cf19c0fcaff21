"""From a language model's reply to mentions: strict JSON first, then repaired, every item judged by itself."""

import json
from dataclasses import dataclass
from typing import Any

from leanrag_core.errors import ReplyError
from leanrag_core.types.extraction import Drop, Mention, RelationMention

_ENTITY: dict[str, Any] = {
    "type": "object",
    "properties": {"name": {"type": "string"}, "type": {"type": "string"}, "description": {"type": "string"}},
    "required": ["name", "type", "description"],
    "additionalProperties": False,
}
_RELATION: dict[str, Any] = {
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
GRAPH_SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "entities": {"type": "array", "items": _ENTITY},
        "relations": {"type": "array", "items": _RELATION},
    },
    "required": ["entities", "relations"],
    "additionalProperties": False,
}
ENTITIES_SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {"entities": {"type": "array", "items": _ENTITY}},
    "required": ["entities"],
    "additionalProperties": False,
}
GLEAN_SCHEMA: dict[str, Any] = {
    **GRAPH_SCHEMA,
    "properties": {**GRAPH_SCHEMA["properties"], "done": {"type": "boolean"}},
    "required": ["entities", "relations", "done"],
}
# What must be right for an item to be kept; what is merely missing beside it is filled in.
_LONGEST_NAME = 200  # characters
_NAMED = {"type": "string", "pattern": r"\w", "maxLength": _LONGEST_NAME}
_USABLE_ENTITY = {
    "type": "object",
    "properties": {"name": _NAMED, "type": {"type": "string"}, "description": {"type": "string"}},
    "required": ["name"],
}
_USABLE_RELATION = {
    "type": "object",
    "properties": {
        "source": _NAMED,
        "target": _NAMED,
        "description": {"type": "string"},
        "keywords": {"type": "array", "items": {"type": "string"}},
        "strength": {"type": "number", "minimum": 0, "maximum": 10},
    },
    "required": ["source", "target"],
}


@dataclass(frozen=True)
class Reply:
    """What one reply holds. done: the model says that nothing more is missing."""

    mentions: tuple[Mention, ...]
    relations: tuple[RelationMention, ...]
    drops: tuple[Drop, ...]
    done: bool


def parse_reply(text: str, chunk_id: str) -> Reply:
    """Mentions and relations of a reply; an item that is not as asked for becomes a Drop, not a lost chunk.

    Raises ReplyError when the reply holds no JSON object with a list of entities or relations.
    """
    cells = _json_object(text)
    entities, relations = cells.get("entities"), cells.get("relations")
    if not isinstance(entities, list) and not isinstance(relations, list):
        raise ReplyError('the reply has no list "entities" and no list "relations"')
    drops: list[Drop] = []
    mentions = [_mention(item, chunk_id) for item in _usable(entities, _USABLE_ENTITY, "entity", chunk_id, drops)]
    related = [_relation(item, chunk_id) for item in _usable(relations, _USABLE_RELATION, "relation", chunk_id, drops)]
    return Reply(tuple(mentions), tuple(related), tuple(drops), cells.get("done") is True)


def _json_object(text: str) -> dict[str, Any]:
    try:
        value = json.loads(text)
    except ValueError:
        import json_repair

        value = json_repair.loads(text)
    if isinstance(value, list):  # a remark or a fence beside the object
        value = next(
            (one for one in value if isinstance(one, dict) and ("entities" in one or "relations" in one)), None
        )
    if not isinstance(value, dict):
        raise ReplyError("the reply is not a JSON object")
    return value


def _usable(items: Any, schema: dict[str, Any], what: str, chunk_id: str, drops: list[Drop]) -> list[dict[str, Any]]:
    """The items that fit the schema, numbers written as text being numbers; the others are told in drops."""
    import jsonschema

    if items is None:
        return []
    if not isinstance(items, list):
        drops.append(Drop("extract", f"chunk {chunk_id}", f"the list of {what} items is no list"))
        return []
    validator = jsonschema.Draft202012Validator(schema)
    kept = []
    for item in items:
        if isinstance(item, dict):
            item = {name: value for name, value in item.items() if value is not None}
            item = {**item, **_strength(item.get("strength"))}
        wrong = jsonschema.exceptions.best_match(validator.iter_errors(item))
        if wrong is None:
            kept.append(item)
        else:
            place = "/".join(map(str, wrong.absolute_path)) or what
            shown = json.dumps(item, ensure_ascii=False)[:120]
            told = "the text is too long" if wrong.validator == "maxLength" else wrong.message[:120]
            drops.append(Drop("extract", f"chunk {chunk_id}: {what} {shown}", f"{place}: {told}"))
    return kept


def _strength(value: Any) -> dict[str, float]:
    """A strength written as "7" or "7/10" is meant as 7."""
    if not isinstance(value, str):
        return {}
    try:
        return {"strength": float(value.split("/")[0])}
    except ValueError:
        return {}


def _mention(item: dict[str, Any], chunk_id: str) -> Mention:
    name = _folded(item["name"])
    kind = _folded(item.get("type", "")).lower() or "unknown"
    return Mention(name, kind, _folded(item.get("description", "")), chunk_id)


def _relation(item: dict[str, Any], chunk_id: str) -> RelationMention:
    source, target = _folded(item["source"]), _folded(item["target"])
    keywords = tuple(word for word in map(_folded, item.get("keywords", [])) if word)
    description = _folded(item.get("description", "")) or f"{source} – {target}"
    return RelationMention(source, target, description, chunk_id, keywords, float(item.get("strength", 1.0)))


def _folded(text: str) -> str:
    return " ".join(text.split())
