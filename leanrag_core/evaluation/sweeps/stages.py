"""Which stages of a build a setting changes, and so which indexes of a sweep share their base graph."""

from collections.abc import Sequence
from dataclasses import replace

from leanrag_core.jobs.kinds import BUILD
from leanrag_core.types.config import CHUNK, EMBED, EXTRACT, IndexConfig, settings_of_stages
from leanrag_core.types.sweep import INDEX, Axis

# What decides chunks and base graph; every other setting changes the hierarchy alone.
BASE_SETTINGS = settings_of_stages(CHUNK, EXTRACT, EMBED)
_HIERARCHY = ("cluster", "aggregate entities", "aggregate relations")
# Texts of the hierarchy are new where its clusters are; vectors of chunks and entities are kept.
_PARTLY = "embed"
STAGES = tuple(stage.name for stage in BUILD.stages)


def base_of(config: IndexConfig) -> IndexConfig:
    """Return a value that is equal for settings whose indexes have the same chunks and the same base graph."""
    defaults = IndexConfig(chunk_tokens=config.chunk_tokens, overlap_tokens=config.overlap_tokens)
    return replace(defaults, **{name: getattr(config, name) for name in BASE_SETTINGS})


def rebuilt_stages(axes: Sequence[Axis]) -> tuple[str, ...]:
    """Return the stages that the axes change, in the order of a build; those of the vectors are computed for new texts
    alone.

    Empty where every axis is one of the retrieval.
    """
    names = {axis.name for axis in axes if axis.level == INDEX}
    if not names:
        return ()
    if names & set(BASE_SETTINGS):
        return STAGES
    return tuple(stage for stage in STAGES if stage in (*_HIERARCHY, _PARTLY, "index"))


def kept_stages(rebuilt: Sequence[str]) -> tuple[str, ...]:
    """Return the stages of a build that are not among those."""
    return tuple(stage for stage in STAGES if stage not in rebuilt)
