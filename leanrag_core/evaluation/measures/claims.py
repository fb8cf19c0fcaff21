"""Claims: how many different things the answer says."""

from leanrag_core.evaluation.base import CLAIMS, COUNT, Outcome
from leanrag_core.evaluation.claims import claims_of
from leanrag_core.messages.message import message


class Measure:
    """Distinct claims of the answer: those that a language model listed, else its sentences."""

    name = "claims"
    title = message("measure.claims.title")
    help = message("measure.claims.help")
    group = CLAIMS
    unit = COUNT
    is_main = False

    def score(self, outcome: Outcome) -> float | None:
        """Return a count, 0 for an answer that declines; None without an answer."""
        return float(len(claims_of(outcome))) if outcome.answer else None
