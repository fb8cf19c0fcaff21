"""Documents touched: over how many of the gold documents of a whole-corpus question the context reaches."""

from leanrag_core.evaluation.base import EVIDENCE, Outcome
from leanrag_core.messages.message import message
from leanrag_core.types.question_set import WHOLE_CORPUS


class Measure:
    """Share of a whole-corpus question's gold documents of which a passage is in the context."""

    name = "documents-touched"
    title = message("measure.documents-touched.title")
    help = message("measure.documents-touched.help")
    group = EVIDENCE

    def score(self, outcome: Outcome) -> float | None:
        """Return a share in [0, 1]; None for questions of another kind, of which evidence recall says more, and where
        a strategy retrieves no passages."""
        gold = {evidence.document for evidence in outcome.question.evidence}
        if outcome.question.kind != WHOLE_CORPUS or not gold or not outcome.trace.gives_passages:
            return None
        kept = {item.ref for section in outcome.trace.context.sections for item in section.items}
        touched = {item.source.document for item in outcome.trace.passages if item.source and item.id in kept}
        return len(gold & touched) / len(gold)
