"""Evidence recall: which share of the gold quotes is in the passages of the context."""

from leanrag_core.evaluation.base import EVIDENCE, Outcome
from leanrag_core.messages.message import message


class Measure:
    """Share of a question's gold quotes that a passage of the context holds whole (recall@C)."""

    name = "evidence-recall"
    title = message("measure.evidence-recall.title")
    help = message("measure.evidence-recall.help")
    group = EVIDENCE

    def score(self, outcome: Outcome) -> float | None:
        """Return a share in [0, 1]; None where there is no ranking."""
        return outcome.ranking.recall if outcome.ranking else None
