"""Recall per 1,000 tokens: gold for the tokens that it costs."""

from leanrag_core.evaluation.base import EVIDENCE, RATIO, Outcome
from leanrag_core.messages.message import message


class Measure:
    """Evidence recall over thousands of context tokens."""

    name = "recall-per-1000"
    title = message("measure.recall-per-1000.title")
    help = message("measure.recall-per-1000.help")
    group = EVIDENCE
    unit = RATIO
    is_main = False

    def score(self, outcome: Outcome) -> float | None:
        """None where there is no ranking, and for an empty context.

        The mean of these ratios is not the ratio of the means, which docs/comparison.md lists.
        """
        tokens = outcome.trace.context.tokens
        return 1000 * outcome.ranking.recall / tokens if outcome.ranking and tokens else None
