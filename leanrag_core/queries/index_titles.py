"""Titles of indexes: the name, and for indexes of the same name the settings that differ."""

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from leanrag_core.figures import numbers
from leanrag_core.types.config import BUILTIN, REFERENCE, model_title
from leanrag_core.types.summary import IndexSummary

_SHORTEST_NAME = 5  # characters that a shortened title keeps of the name


def _model(name: Any) -> str:
    own = {BUILTIN: "built-in engine", REFERENCE: "reference graph"}
    return own.get(str(name)) or model_title(str(name))


# In the order in which they are tried; other settings follow.
_SETTING_TEXTS: Mapping[str, Callable[[Any], str]] = {
    "model": _model,
    "cluster_size": lambda value: f"clustersize {value}",
    "tau": lambda value: f"tau {value or 'auto'}",
    "chunk_tokens": lambda value: f"chunks of {value:,} tokens",
    "overlap_tokens": lambda value: f"overlap {value:,}",
    "embedding": lambda value: f"embedded by {_model(value)}",
    "aggregation_model": lambda value: f"aggregated by {_model(value)}" if value else "aggregated by the same model",
    "gleaning_rounds": lambda value: numbers.counted(value, "gleaning round"),
    "prompts": lambda value: "own prompts" if value else "the catalog's prompts",
    "entity_types": lambda value: f"types {', '.join(map(str, value))}",
    "size_cap": lambda value: "size cap" if value else "no size cap",
    "smoothing": lambda value: numbers.counted(value, "smoothing round"),
    "seed": lambda value: f"seed {value}",
}


def with_titles(indexes: Sequence[IndexSummary]) -> tuple[IndexSummary, ...]:
    """Give each index a unique title: the name, and where others have it too, the settings that differ."""
    by_name: dict[str, list[IndexSummary]] = defaultdict(list)
    for index in indexes:
        by_name[index.name].append(index)
    differences = {id_: text for group in by_name.values() for id_, text in _differences(group).items()}
    return tuple(replace(index, apart=differences[index.id]) for index in indexes)


def _differences(group: Sequence[IndexSummary]) -> dict[str, str]:
    """Return for each index of the group the fewest settings that distinguish it; its date where no setting does."""
    if len(group) == 1:
        return {group[0].id: ""}
    configs = [index.config.by_name() for index in group]
    names = dict.fromkeys([*_SETTING_TEXTS, *sorted(name for config in configs for name in config)])
    parts: list[list[str]] = [[] for _ in group]
    for name in names:
        texts = [_setting_text(name, config.get(name)) for config in configs]
        longer = [[*part, text] for part, text in zip(parts, texts, strict=True)]
        if _distinct(longer) > _distinct(parts):
            parts = longer
    if _distinct(parts) < len(group):
        parts = [[*part, f"built {numbers.day(index.created)}"] for part, index in zip(parts, group, strict=True)]
    return {index.id: ", ".join(part) for index, part in zip(group, parts, strict=True)}


def _distinct(parts: Sequence[Sequence[str]]) -> int:
    return len({tuple(part) for part in parts})


def _setting_text(name: str, value: Any) -> str:
    try:
        return _SETTING_TEXTS[name](value)
    except (KeyError, TypeError, ValueError):  # a setting, or a value, of another version
        return f"{name.replace('_', ' ')} {value}"


def short_title(index: IndexSummary, max_characters: int) -> str:
    """Cut the title to about max_characters: the settings that differ stay whole, the name is cut."""
    if not index.apart or len(index.title) <= max_characters:
        return index.title
    room = max(_SHORTEST_NAME, max_characters - len(index.apart) - 2)
    name = index.name if len(index.name) <= room else f"{index.name[: room - 1].rstrip(' ,.;:')}…"
    return f"{name}, {index.apart}"
