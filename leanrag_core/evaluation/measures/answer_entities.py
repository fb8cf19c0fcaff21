"""Entities of the answer: how much of a whole-corpus question's gold answer the context names."""

from leanrag_core.evaluation.base import ANSWER, Outcome
from leanrag_core.evaluation.gold import is_named, normalised
from leanrag_core.messages.message import message
from leanrag_core.types.question_set import WHOLE_CORPUS


class Measure:
    """Share of the entities of a whole-corpus question's gold answer that the context names, in any section.

    Entities are those that the question's file lists (`entities`), since a gold answer may be a sentence, which no
    context repeats word for word.
    """

    name = "answer-entities"
    title = message("measure.answer-entities.title")
    help = message("measure.answer-entities.help")
    group = ANSWER

    def score(self, outcome: Outcome) -> float | None:
        """Return a share in [0, 1]; None for questions of another kind, and for those whose file lists no entities."""
        question = outcome.question
        if question.kind != WHOLE_CORPUS or not question.entities:
            return None
        context = normalised(outcome.trace.context.text)
        return sum(is_named(names, context) for names in question.entities) / len(question.entities)
