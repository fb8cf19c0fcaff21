"""nDCG@C: how near to the beginning of the context's passages those with gold are."""

from leanrag_core.evaluation.base import EVIDENCE, Outcome
from leanrag_core.messages.message import message


class Measure:
    """Normalised discounted cumulative gain of the context's passages, to their number (see RankingScores)."""

    name = "ndcg"
    title = message("measure.ndcg.title")
    help = message("measure.ndcg.help")
    group = EVIDENCE
    is_main = False

    def score(self, outcome: Outcome) -> float | None:
        """Return a value in [0, 1]; None where there is no ranking."""
        return outcome.ranking_scores.ndcg if outcome.ranking_scores else None
