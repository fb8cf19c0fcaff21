"""Accuracy by match: whether an answer holds a gold answer, or declines where there is none."""

from leanrag_core.evaluation.answers import RIGHT, grade, plain_text
from leanrag_core.evaluation.base import ANSWER, Outcome
from leanrag_core.messages.message import message


class Measure:
    """1 where the answer has a gold answer as whole words; unanswerable: where it declines; else 0."""

    name = "answer-right"
    title = message("measure.answer-right.title")
    help = message("measure.answer-right.help")
    group = ANSWER
    is_main = False

    def score(self, outcome: Outcome) -> float | None:
        """Return 0 or 1; None without an answer, and for a question without short gold answers."""
        if outcome.answer is None:
            return None
        given = grade(outcome.question, plain_text(outcome.answer))
        return None if given is None else float(given == RIGHT)
