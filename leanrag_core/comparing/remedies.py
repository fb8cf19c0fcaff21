"""What would have found lost evidence: one or two options are changed, and the retrieval is really run again."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import Field, dataclass
from typing import Any

from leanrag_core.comparing.gold_passages import Gold
from leanrag_core.comparing.lost_evidence import BUDGET, CONTEXT, RANKED, REACHED, TAKEN, Lane, lane
from leanrag_core.errors import LeanRAGError
from leanrag_core.retrieval.base import MAX_TOKENS, TOP_C, StrategyInfo
from leanrag_core.types.index import Index
from leanrag_core.types.trace import Parameter, Trace

TOP_N, CHUNK_TOKENS = "top_n", "chunk_tokens"
_WIDER = (1.5, 2, 3, 5, 10)  # times the number of seeds, tried in this order
WIDER_SET = (1.5, 2)  # the same over a whole set, where each is a run of all questions
_MORE_ROUNDS = 3  # how often options are raised after a try that was not enough
Retrieve = Callable[[Mapping[str, Any]], Trace]


@dataclass(frozen=True)
class Change:
    """An option that was given another value."""

    option: str
    before: Parameter
    after: Parameter


@dataclass(frozen=True)
class Remedy:
    """A change that was tried and finds the evidence. tokens: context tokens after less before; lane: how far the
    evidence comes then."""

    changes: tuple[Change, ...]
    tokens: int
    lane: Lane

    @property
    def options(self) -> dict[str, Parameter]:
        """The changed options."""
        return {change.option: change.after for change in self.changes}


def remedy(trace: Trace, index: Index, gold: Gold, lost: Lane, info: StrategyInfo, retrieve: Retrieve) -> Remedy | None:
    """The smallest change of the strategy's own options that was tried and finds the evidence; None where no tried one
    does, or where none is known that could.

    retrieve: runs the strategy with options over those of the trace.
    """
    for options in _tries(trace, lost, info):
        chosen, reached = dict(options), lost
        for _ in range(_MORE_ROUNDS):
            try:
                tried = retrieve(chosen)
            except LeanRAGError:  # such as options that exclude each other; the next try may be possible
                break
            reached = lane(tried, index, gold)
            if reached.is_found:
                changes = tuple(
                    Change(name, trace.parameters.get(name), value)
                    for name, value in chosen.items()
                    if trace.parameters.get(name) != value
                )
                return Remedy(changes, tried.context.tokens - trace.context.tokens, reached)
            more = _next(tried, reached, info)
            if not more or more.items() <= chosen.items():
                break
            chosen |= more
    return None


def _tries(trace: Trace, lost: Lane, info: StrategyInfo) -> Iterator[dict[str, int]]:
    """Changes of options that may help with evidence that was lost there, the smallest first."""
    bounds = _bounds(info)
    if lost.lost_at in (TAKEN, BUDGET, CONTEXT):
        first = _next(trace, lost, info)
        if first:
            yield first
    if lost.lost_at in (REACHED, RANKED, TAKEN) and TOP_N in bounds:
        now, high = _number(trace, TOP_N), bounds[TOP_N]
        for factor in _WIDER:
            wider = min(high, round(now * factor))
            if now < wider:
                yield {TOP_N: wider}


def _next(trace: Trace, lost: Lane, info: StrategyInfo) -> dict[str, int]:
    """The change that the stage of the loss asks for; empty where there is none, or where it is at its bound."""
    bounds = _bounds(info)
    if lost.lost_at == TAKEN and lost.place and _number(trace, TOP_C) < lost.place <= bounds.get(TOP_C, 0):
        return {TOP_C: lost.place}
    if lost.lost_at in (BUDGET, CONTEXT):
        name = CHUNK_TOKENS if CHUNK_TOKENS in bounds else MAX_TOKENS
        now = _number(trace, name)
        # An item takes at most half of its section's budget, so that a section that is twice as large holds it.
        wanted = max(now + lost.short + lost.short // 10 + 16, now * 5 // 4)
        raised = {name: min(bounds.get(name, 0), wanted)}
        if name == CHUNK_TOKENS and MAX_TOKENS in bounds:
            raised[MAX_TOKENS] = min(bounds[MAX_TOKENS], _number(trace, MAX_TOKENS) + wanted - now)
        return raised if raised[name] > now else {}
    return {}


def _number(trace: Trace, name: str) -> int:
    value = trace.parameters.get(name)
    return value if isinstance(value, int) else 0


def _bounds(info: StrategyInfo) -> dict[str, int]:
    """The greatest value of each whole number among the strategy's options."""
    fields: Mapping[str, Field[Any]] = info.config.__dataclass_fields__  # type: ignore[attr-defined]
    return {
        name: int(spec.metadata["high"])
        for name, spec in fields.items()
        if isinstance(spec.default, int) and not isinstance(spec.default, bool) and spec.metadata.get("high")
    }
