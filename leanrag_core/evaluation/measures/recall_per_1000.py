"""Recall per 1,000 tokens: gold for the tokens that it costs."""

from leanrag_core.evaluation.base import EVIDENCE, RATIO, Outcome, Ratio
from leanrag_core.messages.message import message


class Measure:
    """Evidence recall over thousands of context tokens; of several questions, mean recall over mean tokens."""

    name = "recall-per-1000"
    title = message("measure.recall-per-1000.title")
    help = message("measure.recall-per-1000.help")
    group = EVIDENCE
    unit = RATIO
    is_main = False
    ratio = Ratio("evidence-recall", "context-tokens", 1000.0)

    def score(self, outcome: Outcome) -> float | None:
        """Return the value for one question; None where there is no ranking, and for an empty context."""
        tokens = outcome.trace.context.tokens
        return 1000 * outcome.ranking.recall / tokens if outcome.ranking and tokens else None
