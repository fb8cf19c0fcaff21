"""Context tokens: how long the context is, the paper's measure of redundancy (RQ2)."""

from leanrag_core.evaluation.base import CONTEXT, LOWER, TOKENS, Outcome
from leanrag_core.messages.message import message


class Measure:
    """Tokens (cl100k) of the context as it is sent."""

    name = "context-tokens"
    title = message("measure.context-tokens.title")
    help = message("measure.context-tokens.help")
    group = CONTEXT
    unit = TOKENS
    better = LOWER

    def score(self, outcome: Outcome) -> float:
        """Return the number of tokens."""
        return float(outcome.trace.context.tokens)
