"""Recall@5: which share of the gold quotes is in the first five passages of the ranking."""

from leanrag_core.evaluation.base import EVIDENCE, Outcome
from leanrag_core.messages.message import message


class Measure:
    """Share of a question's gold quotes that the first five ranked passages hold, taken into the context or not."""

    name = "recall-5"
    title = message("measure.recall-5.title")
    help = message("measure.recall-5.help")
    group = EVIDENCE
    is_main = False

    def score(self, outcome: Outcome) -> float | None:
        """Return a share in [0, 1]; None where there is no ranking."""
        return outcome.ranking_scores.recall_5 if outcome.ranking_scores else None
