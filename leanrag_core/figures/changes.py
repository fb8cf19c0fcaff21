"""What entered and what left between two retrievals of the same question."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from leanrag_core.types.trace import Trace, TraceItem


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
    (old_id, old_top), (new_id, new_top) = _top(before), _top(after)
    return Changes(
        settings=settings,
        seeds=_difference(_seeds(before), _seeds(after)),
        aggregated=_difference(_aggregated(before), _aggregated(after)),
        relations=_difference(_relations(before), _relations(after)),
        chunks=_difference(list(map(_passage, before.passages)), list(map(_passage, after.passages))),
        tokens=after.context.tokens - before.context.tokens,
        lca=None if old_id == new_id else (old_top, new_top),
    )


def _difference(old: Sequence[tuple[str, str]], new: Sequence[tuple[str, str]]) -> Difference:
    old_ids, new_ids = {id_ for id_, _ in old}, {id_ for id_, _ in new}
    return Difference(
        entered=tuple(name for id_, name in new if id_ not in old_ids),
        left=tuple(name for id_, name in old if id_ not in new_ids),
    )


def _top(trace: Trace) -> tuple[str, str]:
    top = next(iter(trace.with_role("lca")), None)
    return (top.id, top.name) if top else ("", "")


def _seeds(trace: Trace) -> list[tuple[str, str]]:
    return [(seed.id, seed.name) for seed in trace.with_role("seed")]


def _aggregated(trace: Trace) -> list[tuple[str, str]]:
    return [(node.id, node.name) for node in trace.nodes if node.layer and node.role != "seed"]


def _relations(trace: Trace) -> list[tuple[str, str]]:
    name_of = {node.id: node.name for node in trace.nodes}
    inter = [relation for relation in trace.relations if relation.role == "inter-cluster"]
    return [(relation.id, f"{name_of[relation.source]}, {name_of[relation.target]}") for relation in inter]


def _passage(passage: TraceItem) -> tuple[str, str]:
    if passage.source and passage.source.page:
        return passage.id, f"{passage.name}, p. {passage.source.page}"
    return passage.id, passage.name if passage.row is None else f"{passage.name}, chunk {passage.row + 1}"
