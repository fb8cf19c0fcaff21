"""What would have found lost evidence: one or two options are changed, and the retrieval is really run again."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, fields
from typing import Any

from leanrag_core.comparing.gold_passages import Gold
from leanrag_core.comparing.lost_evidence import BUDGET, CONTEXT, RANKED, REACHED, TAKEN, Lane, lane
from leanrag_core.errors import LeanRAGError
from leanrag_core.retrieval.base import MAX_TOKENS, TOP_C, StrategyInfo
from leanrag_core.types.index import Index
from leanrag_core.types.trace import Parameter, Trace

TOP_N, CHUNK_TOKENS, ENTITY_TOKENS = "top_n", "chunk_tokens", "entity_tokens"
MOST_OFFERS = 4
_NOT_TRIED = ("search", "budgets")  # how vectors are searched and budgets are counted answers no loss
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
    """Find the smallest change of the strategy's own options that was tried and finds the evidence; None where no
    tried one does, or where no change is known that could.

    retrieve: runs the strategy with options over those of the trace.
    """
    tries = (attempt(trace, index, gold, lost, info, retrieve, options) for options in _tries(trace, gold, lost, info))
    return next((tried for tried in tries if tried is not None), None)


def attempt(
    trace: Trace,
    index: Index,
    gold: Gold,
    lost: Lane,
    info: StrategyInfo,
    retrieve: Retrieve,
    options: Mapping[str, Parameter],
) -> Remedy | None:
    """Run the retrieval with those options, raising numbers further where a later stage then loses the evidence.
    Returns None where that does not find it. See remedy()."""
    chosen, reached = dict(options), lost
    for _ in range(_MORE_ROUNDS):
        try:
            tried = retrieve(chosen)
        except LeanRAGError:  # such as options that exclude each other; the next try may be possible
            return None
        reached = lane(tried, index, gold)
        if reached.is_found:
            defaults: dict[str, Any] = {spec.name: spec.default for spec in fields(info.config)}
            before = defaults | dict(trace.parameters)
            changes = tuple(
                Change(name, before.get(name), value) for name, value in chosen.items() if before.get(name) != value
            )
            return Remedy(changes, tried.context.tokens - trace.context.tokens, reached)
        more = _next(tried, gold, reached, info)
        if not more or more.items() <= chosen.items():
            return None
        chosen |= more
    return None


def _tries(trace: Trace, gold: Gold, lost: Lane, info: StrategyInfo) -> Iterator[dict[str, int]]:
    """Yield changes of options that may help with evidence that was lost at that stage, the smallest first."""
    bounds = _bounds(info)
    if lost.lost_at in (TAKEN, BUDGET, CONTEXT):
        first = _next(trace, gold, lost, info)
        if first:
            yield first
    if lost.lost_at in (REACHED, RANKED, TAKEN) and TOP_N in bounds:
        now, high = _number(trace, TOP_N), bounds[TOP_N]
        for factor in _WIDER:
            wider = min(high, round(now * factor))
            if now < wider:
                yield {TOP_N: wider}


def offers(
    trace: Trace, index: Index, gold: Gold, lost: Lane, info: StrategyInfo, retrieve: Retrieve, *, top_n: int = 0
) -> tuple[Remedy, ...]:
    """Return changes that were tried and find the evidence: a number that is raised first, then switches and choices
    by the tokens that they add; at most MOST_OFFERS. top_n: the number of seeds that should be just enough, where
    that is known; see remedy() for the rest."""
    if lost.is_found:
        return ()
    known = {TOP_N: top_n} if _number(trace, TOP_N) < top_n <= _bounds(info).get(TOP_N, 0) else {}
    first = attempt(trace, index, gold, lost, info, retrieve, known) if known else None
    first = first or remedy(trace, index, gold, lost, info, retrieve)
    others = (
        attempt(trace, index, gold, lost, info, retrieve, {name: value}) for name, value in _other_values(trace, info)
    )
    switched = sorted((tried for tried in others if tried is not None), key=lambda tried: tried.tokens)
    offered: list[Remedy] = [first] if first else []
    for tried in switched:
        # A remedy with all options of an offered one, and more, says nothing new.
        if not any(set(other.options) <= set(tried.options) for other in offered):
            offered.append(tried)
    return tuple(offered[:MOST_OFFERS])


def _other_values(trace: Trace, info: StrategyInfo) -> Iterator[tuple[str, Parameter]]:
    """Yield each switch of the strategy that is off turned on, and each other choice of an option."""
    for spec in fields(info.config):
        now = trace.parameters.get(spec.name, spec.default)
        values = (True,) if isinstance(spec.default, bool) else spec.metadata.get("choices") or ()
        yield from ((spec.name, value) for value in values if value != now and spec.name not in _NOT_TRIED)


def _next(trace: Trace, gold: Gold, lost: Lane, info: StrategyInfo) -> dict[str, int]:
    """Return the change that the stage of the loss asks for; empty where there is none, or where it is at its bound."""
    bounds = _bounds(info)
    if lost.lost_at == TAKEN and lost.place and _number(trace, TOP_C) < lost.place <= bounds.get(TOP_C, 0):
        return {TOP_C: lost.place}
    if lost.lost_at in (BUDGET, CONTEXT):
        section = ENTITY_TOKENS if gold.kind == "entity" else CHUNK_TOKENS
        name = section if section in bounds else MAX_TOKENS
        now = _number(trace, name)
        # An item takes at most half of its section's budget, so that a section that is twice as large holds it.
        wanted = max(now + lost.short + lost.short // 10 + 16, now * 5 // 4, 2 * now if gold.kind == "entity" else 0)
        raised = {name: min(bounds.get(name, 0), wanted)}
        if name == section and MAX_TOKENS in bounds:
            raised[MAX_TOKENS] = min(bounds[MAX_TOKENS], _number(trace, MAX_TOKENS) + wanted - now)
        return raised if raised[name] > now else {}
    return {}


def _number(trace: Trace, name: str) -> int:
    value = trace.parameters.get(name)
    return value if isinstance(value, int) else 0


def _bounds(info: StrategyInfo) -> dict[str, int]:
    """Return the greatest value of each whole number among the strategy's options."""
    return {
        spec.name: int(spec.metadata["high"])
        for spec in fields(info.config)
        if isinstance(spec.default, int) and not isinstance(spec.default, bool) and spec.metadata.get("high")
    }
