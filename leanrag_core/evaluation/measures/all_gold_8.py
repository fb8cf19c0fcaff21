"""All gold@8: whether all gold quotes are in the first eight passages of the ranking."""

from leanrag_core.evaluation.base import EVIDENCE, Outcome
from leanrag_core.messages.message import message


class Measure:
    """1 where the first eight ranked passages hold every gold quote of the question, else 0."""

    name = "all-gold-8"
    title = message("measure.all-gold-8.title")
    help = message("measure.all-gold-8.help")
    group = EVIDENCE
    is_main = False

    def score(self, outcome: Outcome) -> float | None:
        """Return 0 or 1; None where there is no ranking."""
        return outcome.ranking_scores.all_gold_8 if outcome.ranking_scores else None
