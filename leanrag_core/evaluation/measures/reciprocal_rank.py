"""Reciprocal rank: how far up the ranking the first passage with gold is; its mean is the MRR."""

from leanrag_core.evaluation.base import EVIDENCE, Outcome
from leanrag_core.messages.message import message


class Measure:
    """1 over the place of the first ranked passage that holds a gold quote; 0 where none of the first 50 does."""

    name = "reciprocal-rank"
    title = message("measure.reciprocal-rank.title")
    help = message("measure.reciprocal-rank.help")
    group = EVIDENCE
    is_main = False

    def score(self, outcome: Outcome) -> float | None:
        """Return a value in [0, 1]; None where there is no ranking."""
        return outcome.ranking_scores.reciprocal_rank if outcome.ranking_scores else None
