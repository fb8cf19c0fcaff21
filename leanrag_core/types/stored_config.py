"""Configurations read back from their JSON values, of a job or of an index."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from leanrag_core.errors import InvalidConfig
from leanrag_core.types.config import IndexConfig

OTHER_VERSION = "these settings are of another version of the program: build with new ones"


def stored_config(values: Mapping[str, Any]) -> IndexConfig:
    """The configuration of its JSON values. Raises InvalidConfig for those of another version."""
    try:
        tuples = {"entity_types": tuple(values["entity_types"]), "prompts": stored_prompts(values)}
        return replace(IndexConfig(), **{**values, **tuples})
    except (KeyError, TypeError, ValueError) as error:
        raise InvalidConfig(OTHER_VERSION) from error


def stored_prompts(values: Mapping[str, Any]) -> tuple[tuple[str, str], ...]:
    """The edited prompts among the values of a configuration, as (task, text)."""
    return tuple((str(task), str(text)) for task, text in values.get("prompts", ()))
