"""Evidence recall: which share of the gold quotes is in the passages of the context."""

from leanrag_core.evaluation.base import Outcome
from leanrag_core.evaluation.gold import normalised
from leanrag_core.messages.message import message


class Measure:
    """Share of a question's gold quotes that lie whole in a passage of their document."""

    name = "evidence-recall"
    title = message("measure.evidence-recall.title")
    help = message("measure.evidence-recall.help")

    def score(self, outcome: Outcome) -> float | None:
        """In [0, 1]; None for a question without gold evidence."""
        evidence = outcome.question.evidence
        if not evidence:
            return None
        texts: dict[str, list[str]] = {}
        for passage in outcome.trace.passages:
            if passage.source is not None:
                texts.setdefault(passage.source.document, []).append(normalised(passage.text))
        hits = sum(any(normalised(gold.quote) in text for text in texts.get(gold.document, ())) for gold in evidence)
        return hits / len(evidence)
