"""Exact match: whether a short answer is one of the gold answers (EM of SQuAD)."""

from leanrag_core.evaluation.base import ANSWER, Outcome
from leanrag_core.evaluation.short_answers import exact_match
from leanrag_core.messages.message import message


class Measure:
    """1 where the answer is a gold answer, in lower case without articles and punctuation, else 0."""

    name = "exact-match"
    title = message("measure.exact-match.title")
    help = message("measure.exact-match.help")
    group = ANSWER
    is_main = False

    def score(self, outcome: Outcome) -> float | None:
        """Return 0 or 1; None without an answer or a gold answer. Unanswerable: 1 for a refusal, else 0."""
        return exact_match(outcome.question, outcome.answer) if outcome.answer else None
