"""Answer in context: whether a gold answer string is in the context that a model would be given."""

from leanrag_core.evaluation.base import ANSWER, Outcome
from leanrag_core.evaluation.gold import normalised
from leanrag_core.messages.message import message

_YES_NO = frozenset(("yes", "no", "true", "false"))


class Measure:
    """1 where the context contains one of the gold answers as whole words, else 0."""

    name = "answer-in-context"
    title = message("measure.answer-in-context.title")
    help = message("measure.answer-in-context.help")
    group = ANSWER

    def score(self, outcome: Outcome) -> float | None:
        """Return 0 or 1; None for a question without gold answers, and for yes and no, which any text contains."""
        answers = [normalised(answer) for answer in outcome.question.answers]
        wanted = [answer for answer in answers if answer and answer not in _YES_NO]
        if not wanted:
            return None
        context = f" {normalised(outcome.trace.context.text)} "
        return float(any(f" {answer} " in context for answer in wanted))
