"""The description of a weak aggregated relation: its members' own descriptions, within a token budget."""

from collections.abc import Iterable
from dataclasses import dataclass

from leanrag_core.tokens import count_tokens, trim_to_tokens


@dataclass(frozen=True)
class Concatenation:
    """Joined text. cut: distinct descriptions that were shortened or left out."""

    text: str
    cut: int


def concatenate(descriptions: Iterable[str], *, max_tokens: int) -> Concatenation:
    """Distinct descriptions joined by spaces in their order, at most max_tokens long.

    Descriptions are taken whole while they fit; when not even the first one fits, it is shortened.
    """
    distinct = list(dict.fromkeys(text for text in (one.strip() for one in descriptions) if text))
    joined = " ".join(distinct)
    if len(joined.encode()) <= max_tokens or count_tokens(joined) <= max_tokens:  # a token is a byte or more
        return Concatenation(joined, 0)
    kept = ""
    for position, description in enumerate(distinct):
        longer = f"{kept} {description}" if kept else description
        if count_tokens(longer) > max_tokens:
            return Concatenation(kept or trim_to_tokens(description, max_tokens), len(distinct) - position)
        kept = longer
    return Concatenation(kept, 0)
