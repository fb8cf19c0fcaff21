"""A possible value of a setting of an index other than its default."""

from dataclasses import fields
from typing import Any

from leanrag_core.types.config import IndexConfig

_BY_NAME = {"tau": "3", "entity_types": ("bee",), "prompts": (("aggregate_entity", "Say {x}."),)}
_MODELS = {"model": "openai:chat", "embedding": "openai:embedder", "aggregation_model": "openai:writer"}


def other_value(name: str) -> Any:
    """Return a value that the setting may have and does not have by default."""
    [spec] = [each for each in fields(IndexConfig) if each.name == name]
    if name in _BY_NAME or name in _MODELS:
        return (_BY_NAME | _MODELS)[name]
    if spec.metadata["choices"]:
        return next(choice for choice in spec.metadata["choices"] if choice != spec.default)
    if isinstance(spec.default, bool):
        return not spec.default
    return spec.default - 1 if spec.default > spec.metadata["low"] else spec.default + 1
