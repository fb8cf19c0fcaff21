"""The description of a weak aggregated relation: its members' own descriptions, within a token budget."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from leanrag_core.tokens import count_many, trim_to_tokens


@dataclass(frozen=True)
class Concatenation:
    """Joined text. cut: distinct descriptions that were shortened or left out."""

    text: str
    cut: int


def concatenate(groups: Sequence[Iterable[str]], *, max_tokens: int) -> list[Concatenation]:
    """For each group its distinct descriptions, joined by spaces in their order, at most max_tokens long.

    Descriptions are taken whole while they fit; when not even the first one fits, it is shortened.
    """
    distinct = [list(dict.fromkeys(text for text in (one.strip() for one in group) if text)) for group in groups]
    joined = [" ".join(texts) for texts in distinct]
    # A token is a byte or more, and a text a token or more.
    long = [row for row, text in enumerate(joined) if len(text) > max_tokens or len(text.encode()) > max_tokens]
    looked_at = [distinct[row][: max_tokens + 1] for row in long]
    costs = iter(count_many([text for texts in looked_at for text in _as_joined(texts)]).tolist())
    cut = {}
    for row, texts in zip(long, looked_at, strict=True):
        fitting, room = 0, max_tokens
        for cost in [next(costs) for _ in texts]:
            room -= cost
            fitting += room >= 0
        if fitting < len(distinct[row]):
            kept = " ".join(texts[:fitting]) or trim_to_tokens(texts[0], max_tokens)
            cut[row] = Concatenation(kept, len(distinct[row]) - fitting)
    return [cut.get(row) or Concatenation(text, 0) for row, text in enumerate(joined)]


def _as_joined(texts: list[str]) -> list[str]:
    """The texts as they stand in their join. No token reaches from one over the space before the next, so that the
    tokens of a join are those of its parts."""
    return [text if place == 0 else f" {text}" for place, text in enumerate(texts)]
