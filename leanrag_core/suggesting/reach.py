"""top-N and top-C: what more seeds and more chunks find, and how many tokens they take."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from leanrag_core.evaluation.gold import GoldQuestion, gold_ranking
from leanrag_core.types.suggestion import ReachEvidence
from leanrag_core.types.trace import Trace

N_VALUES, C_VALUES = (3, 5, 8, 10, 15, 20, 30), (1, 2, 3, 5, 8, 10, 15, 20)
DEFAULT_C = 5
_ENOUGH = 0.95  # of what the largest value finds

Retrieve = Callable[[str, int, int], Trace]  # question, top-N, top-C


@dataclass(frozen=True)
class Asked:
    """A question and what its context should hold: its gold quotes, or any of these chunks, by row."""

    question: GoldQuestion
    chunks: frozenset[int] = frozenset()


def tried_seeds(
    asked: Sequence[Asked], n_entities: int, retrieve: Retrieve, *, out_of_time: Callable[[], bool]
) -> tuple[ReachEvidence, ...]:
    """Return for each top-N the tokens of the context, and the share of the evidence in it, until the time is over;
    at least one top-N is tried. n_entities: of layer 0."""
    rows: list[ReachEvidence] = []
    for n_seeds in N_VALUES:
        if rows and (n_seeds > n_entities or out_of_time()):
            break
        traces = [retrieve(each.question.question, n_seeds, DEFAULT_C) for each in asked]
        tokens = float(np.mean([trace.context.tokens for trace in traces]))
        shares = [_in_context(each, trace) for each, trace in zip(asked, traces, strict=True)]
        rows.append(ReachEvidence(n_seeds, round(tokens, 1), round(float(np.mean(shares)), 4)))
    return tuple(rows)


def tried_chunks(asked: Sequence[Asked], n_seeds: int, retrieve: Retrieve) -> tuple[ReachEvidence, ...]:
    """Return for each top-C the tokens of the context, and the share of the evidence in so many chunks."""
    traces = [retrieve(each.question.question, n_seeds, C_VALUES[-1]) for each in asked]
    rows = []
    for n_chunks in C_VALUES:
        tokens = float(np.mean([_tokens(trace, n_chunks) for trace in traces]))
        shares = [_in_chunks(each, trace, n_chunks) for each, trace in zip(asked, traces, strict=True)]
        rows.append(ReachEvidence(n_chunks, round(tokens, 1), round(float(np.mean(shares)), 4)))
    return tuple(rows)


def fewest_with_enough(tried: Sequence[ReachEvidence]) -> ReachEvidence:
    """Return the smallest value that finds nearly as much as any does. tried: at least one."""
    most = max(row.found for row in tried)
    return next(row for row in tried if row.found >= _ENOUGH * most)


def _tokens(trace: Trace, n_chunks: int) -> float:
    """Return tokens of the context with so many of its chunks."""
    chunks = [item.tokens for section in trace.context.sections if section.letter == "C" for item in section.items]
    return trace.context.tokens - sum(chunks[n_chunks:])


def _in_context(asked: Asked, trace: Trace) -> float:
    if asked.question.evidence:
        return gold_ranking(asked.question, trace, None).recall
    return float(any(item.row in asked.chunks for item in trace.passages))


def _in_chunks(asked: Asked, trace: Trace, n_chunks: int) -> float:
    if asked.question.evidence:
        ranking = gold_ranking(asked.question, trace, None)
        return len(frozenset().union(*ranking.ranked[:n_chunks])) / ranking.n
    return float(any(item.row in asked.chunks for item in trace.passages[:n_chunks]))
