"""Repeated share: how much of the context says again what it has said."""

from leanrag_core.evaluation.base import CONTEXT, LOWER, Outcome
from leanrag_core.evaluation.context_sections import repeated_tokens
from leanrag_core.messages.message import message


class Measure:
    """Share of the context's tokens that are in runs of five words seen earlier in the same context."""

    name = "repeated-share"
    title = message("measure.repeated-share.title")
    help = message("measure.repeated-share.help")
    group = CONTEXT
    better = LOWER
    is_main = False

    def score(self, outcome: Outcome) -> float | None:
        """Return a share in [0, 1]; None for an empty context."""
        context = outcome.trace.context
        return repeated_tokens(context.text) / context.tokens if context.tokens else None
