"""F1: how many words a short answer shares with the nearest gold answer (F1 of SQuAD)."""

from leanrag_core.evaluation.base import ANSWER, Outcome
from leanrag_core.evaluation.short_answers import f1
from leanrag_core.messages.message import message


class Measure:
    """Harmonic mean of precision and recall of the answer's words beside the nearest gold answer."""

    name = "f1"
    title = message("measure.f1.title")
    help = message("measure.f1.help")
    group = ANSWER
    is_main = False

    def score(self, outcome: Outcome) -> float | None:
        """Return a value in [0, 1]; None without an answer or a gold answer. Unanswerable: 1 for a refusal, else 0."""
        return f1(outcome.question, outcome.answer) if outcome.answer else None
