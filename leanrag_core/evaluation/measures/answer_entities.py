"""Entities of the answer: how much of a whole-corpus question's gold answer the context names."""

from leanrag_core.evaluation.base import Outcome
from leanrag_core.evaluation.gold import WHOLE_CORPUS, normalised
from leanrag_core.messages.message import message


class Measure:
    """Share of the gold answers of a whole-corpus question that are in the context as whole words, in any section."""

    name = "answer-entities"
    title = message("measure.answer-entities.title")
    help = message("measure.answer-entities.help")

    def score(self, outcome: Outcome) -> float | None:
        """In [0, 1]; None for questions of another kind, whose gold answers are several wordings of one answer."""
        answers = {normalised(answer) for answer in outcome.question.answers} - {""}
        if outcome.question.kind != WHOLE_CORPUS or not answers:
            return None
        context = f" {normalised(outcome.trace.context.text)} "
        return sum(f" {answer} " in context for answer in answers) / len(answers)
