"""What the kind of a relation is called on the page."""

from leanrag_core.queries.schema import RULE_KINDS
from pages.common.messages import say

_NAMED = (*RULE_KINDS, "stated", "summarised", "concatenated")  # the others are words of the documents


def kind_title(kind: str) -> str:
    """The kind in words: a rule's from the catalog, any other as the documents have it."""
    return say(f"explore.inspect.kind.{kind}") if kind in _NAMED else kind
