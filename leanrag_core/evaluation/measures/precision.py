"""Precision@C: which share of the passages in the context holds gold."""

from leanrag_core.evaluation.base import EVIDENCE, Outcome
from leanrag_core.messages.message import message


class Measure:
    """Share of the context's passages that hold a gold quote which none before them holds."""

    name = "precision"
    title = message("measure.precision.title")
    help = message("measure.precision.help")
    group = EVIDENCE
    is_main = False

    def score(self, outcome: Outcome) -> float | None:
        """Return a share in [0, 1]; None where there is no ranking, and for a context without passages."""
        return outcome.ranking_scores.precision if outcome.ranking_scores else None
