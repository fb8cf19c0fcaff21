"""How often an answer declines because the context does not suffice."""

from leanrag_core.evaluation.answers import declines, plain_text
from leanrag_core.evaluation.base import ANSWER, Outcome
from leanrag_core.messages.message import message


class Measure:
    """1 where the answer declines, else 0; for an experiment in reject mode, and the built-in engine."""

    name = "answer-declined"
    title = message("measure.answer-declined.title")
    help = message("measure.answer-declined.help")
    group = ANSWER
    better = ""
    is_main = False

    def score(self, outcome: Outcome) -> float | None:
        """Return 0 or 1; None without an answer."""
        return None if outcome.answer is None else float(declines(plain_text(outcome.answer)))
