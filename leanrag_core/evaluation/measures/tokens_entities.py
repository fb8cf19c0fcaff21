"""Tokens of entities: what the section of that name takes of the context."""

from leanrag_core.evaluation.base import CONTEXT, LOWER, TOKENS, Outcome
from leanrag_core.evaluation.context_sections import section_tokens
from leanrag_core.messages.message import message


class Measure:
    """Tokens of the context's section `entities`."""

    name = "tokens-entities"
    title = message("measure.tokens-entities.title")
    help = message("measure.tokens-entities.help")
    group = CONTEXT
    unit = TOKENS
    better = LOWER
    is_main = False

    def score(self, outcome: Outcome) -> float | None:
        """Return the section's tokens; None where the strategy's context has no such section."""
        return section_tokens(outcome.trace.context).get("entities")
