"""What entered and what left between two retrievals of the same question."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from leanrag_core.types.trace import RetrievedChunk, Trace


@dataclass(frozen=True)
class Difference:
    """Names of what is only in the later trace, and of what was only in the earlier one."""

    entered: tuple[str, ...]
    left: tuple[str, ...]


@dataclass(frozen=True)
class Changes:
    """settings: option -> (before, after). tokens: context tokens after less before. lca: names before and after, one
    of them empty where a strategy has none; None when it is the same."""

    settings: dict[str, tuple[Any, Any]]
    seeds: Difference
    aggregated: Difference
    relations: Difference
    chunks: Difference
    tokens: int
    lca: tuple[str, str] | None

    @property
    def any(self) -> bool:
        """Whether anything that was retrieved is another."""
        parts = (self.seeds, self.aggregated, self.relations, self.chunks)
        return bool(self.tokens or self.lca or any(part.entered or part.left for part in parts))


def changes(before: Trace, after: Trace) -> Changes:
    """What the later trace has and the earlier had not, and the other way round."""
    options = sorted({*before.parameters, *after.parameters})
    settings = {
        name: (before.parameters.get(name), after.parameters.get(name))
        for name in options
        if before.parameters.get(name) != after.parameters.get(name)
    }
    if before.strategy != after.strategy:
        settings = {"strategy": (before.strategy, after.strategy)}
    old_top, new_top = (trace.lca.name if trace.lca else "" for trace in (before, after))
    same_top = (before.lca.id if before.lca else None) == (after.lca.id if after.lca else None)
    return Changes(
        settings=settings,
        seeds=_difference([(one.id, one.name) for one in before.seeds], [(one.id, one.name) for one in after.seeds]),
        aggregated=_difference(_aggregated(before), _aggregated(after)),
        relations=_difference(_relations(before), _relations(after)),
        chunks=_difference([_chunk(one) for one in before.chunks], [_chunk(one) for one in after.chunks]),
        tokens=after.context.tokens - before.context.tokens,
        lca=None if same_top else (old_top, new_top),
    )


def _difference(old: Sequence[tuple[str, str]], new: Sequence[tuple[str, str]]) -> Difference:
    old_ids, new_ids = {id_ for id_, _ in old}, {id_ for id_, _ in new}
    return Difference(
        entered=tuple(name for id_, name in new if id_ not in old_ids),
        left=tuple(name for id_, name in old if id_ not in new_ids),
    )


def _aggregated(trace: Trace) -> list[tuple[str, str]]:
    return [(node.id, node.name) for node in trace.nodes if node.layer > 0 and node.role != "seed"]


def _relations(trace: Trace) -> list[tuple[str, str]]:
    name_of = {node.id: node.name for node in trace.nodes}
    inter = [one for one in trace.relations if one.kind == "inter-cluster"]
    return [(one.id, f"{name_of[one.source]}, {name_of[one.target]}") for one in inter]


def _chunk(chunk: RetrievedChunk) -> tuple[str, str]:
    page = f", p. {chunk.page}" if chunk.page else f", chunk {chunk.row + 1}"
    return chunk.id, f"{chunk.title}{page}"
