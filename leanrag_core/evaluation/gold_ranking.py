"""Where a retrieval has the gold quotes of a question: in its ranking of passages, and in its context.

A quote counts for a passage of its document that holds it whole; in the context, where the passage as the context holds
it does, which may have been trimmed to a budget.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from leanrag_core.evaluation.chunk_texts import ChunkTexts
from leanrag_core.evaluation.gold import GoldQuestion, normalised
from leanrag_core.types.trace import Source, Trace

DEPTH = 50  # places of a ranking that are looked at
_RECALL_AT = 5
_ALL_GOLD_AT = 8

Quotes = frozenset[int]  # numbers of the question's gold quotes


@dataclass(frozen=True)
class RankingScores:
    """Ranking measures of one question, as ir_measures computes them.

    recall_5, all_gold_8: of the ranking, over the gold quotes. reciprocal_rank: of the ranking. precision, ndcg: of the
    passages of the context, to their number. A passage is relevant that holds a quote which none before it holds; a
    quote that no passage holds counts as a relevant passage that was missed. precision: None for an empty context.
    """

    recall_5: float
    all_gold_8: float
    reciprocal_rank: float
    precision: float | None
    ndcg: float


@dataclass(frozen=True)
class GoldRanking:
    """n: how many gold quotes the question has. ranked: of each of the first DEPTH ranked passages the quotes that it
    holds. context: the same of each passage of the context, in the order of their rank."""

    n: int
    ranked: tuple[Quotes, ...]
    context: tuple[Quotes, ...]

    @property
    def recall(self) -> float:
        """Share of the quotes that the context holds."""
        return len(_united(self.context)) / self.n

    def scores(self) -> RankingScores:
        """Compute the ranking measures; the question must have gold quotes."""
        import ir_measures
        from ir_measures import RR, P, R, nDCG

        cutoff = max(len(self.context), 1)
        quotes = {_id(number): 1 for number in range(self.n)}
        relevant = {
            "five": quotes,
            "eight": quotes,
            "ranking": _relevant(self.ranked, self.n),
            "context": _relevant(self.context, self.n),
        }
        returned = {
            "five": _in_order(sorted(_united(self.ranked[:_RECALL_AT]))),
            "eight": _in_order(sorted(_united(self.ranked[:_ALL_GOLD_AT]))),
            "ranking": _in_order(range(len(self.ranked))),
            "context": _in_order(range(len(self.context))),
        }
        values = {
            (metric.query_id, str(metric.measure)): float(metric.value)
            for metric in ir_measures.iter_calc(
                [R @ self.n, RR @ DEPTH, P @ cutoff, nDCG @ cutoff], relevant, {k: v for k, v in returned.items() if v}
            )
        }
        return RankingScores(
            recall_5=values["five", f"R@{self.n}"],
            all_gold_8=float(values["eight", f"R@{self.n}"] == 1),
            reciprocal_rank=values["ranking", f"RR@{DEPTH}"],
            precision=values["context", f"P@{cutoff}"] if self.context else None,
            ndcg=values["context", f"nDCG@{cutoff}"],
        )


def gold_ranking(question: GoldQuestion, trace: Trace, chunks: ChunkTexts | None) -> GoldRanking:
    """Find the gold quotes in the trace. chunks: of the index; without them passages beyond those of the trace are
    unknown, and the ranking ends with these."""
    gold = [(evidence.document, normalised(evidence.quote)) for evidence in question.evidence]

    def held(names: frozenset[str], text: str) -> Quotes:
        return Quotes(number for number, (document, quote) in enumerate(gold) if document in names and quote in text)

    if chunks is None or not trace.ranked_chunks:
        passages = [(_names(item.source), normalised(item.text)) for item in trace.passages if item.source]
    else:
        passages = [(chunks.names(row), chunks.text(row)) for row in trace.ranked_chunks[:DEPTH]]
    ranked = tuple(held(*passage) for passage in passages[:DEPTH])
    return GoldRanking(len(gold), ranked, tuple(held(*passage) for passage in context_passages(trace)))


def context_passages(trace: Trace) -> tuple[tuple[frozenset[str], str], ...]:
    """Return for each passage of the context, in the order of rank, the names of its document and the normalised text
    that the context holds of it."""
    texts: dict[str, list[str]] = {}
    for section in trace.context.sections:
        for item in section.items:
            texts.setdefault(item.ref, []).append(item.text[item.lead :])
    return tuple(
        (_names(item.source), normalised(" ".join(texts[item.id])))
        for item in trace.passages
        if item.source is not None and item.id in texts
    )


def _names(source: Source) -> frozenset[str]:
    return frozenset((source.document, source.title))


def _relevant(passages: Sequence[Quotes], n: int) -> dict[str, int]:
    seen: set[int] = set()
    relevant: dict[str, int] = {}
    for place, quotes in enumerate(passages):
        if quotes - seen:
            relevant[_id(place)] = 1
            seen |= quotes
    return relevant | {f"missed {number}": 1 for number in range(n - len(seen))}


def _in_order(ids: Sequence[int]) -> dict[str, float]:
    return {_id(id_): -float(place) for place, id_ in enumerate(ids)}


def _id(number: int) -> str:
    return f"{number:03d}"


def _united(passages: Sequence[Quotes]) -> Quotes:
    return Quotes().union(*passages)
