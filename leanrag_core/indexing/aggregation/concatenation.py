"""The description of a weak aggregated relation: its members' own descriptions, within a token budget."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from leanrag_core.text.tokens import count_many, trim_to_tokens

# Short words join others and say little; in scripts without spaces each sign is taken for a word.
_WORD = re.compile(r"[\u3040-\u30ff\u4e00-\u9fff\uac00-\ud7af]|\w{4,}")
Words = frozenset[str]


@dataclass(frozen=True)
class Concatenation:
    """Joined text. cut: distinct descriptions that were shortened or left out."""

    text: str
    cut: int


def words_of(text: str) -> Words:
    """Return the words by which texts are compared."""
    return frozenset(_WORD.findall(text.casefold()))


def _about_nothing(_: int) -> tuple[Words, Words]:
    return frozenset(), frozenset()


def concatenate(
    groups: Sequence[Iterable[str]],
    *,
    max_tokens: int,
    about: Callable[[int], tuple[Words, Words]] = _about_nothing,
) -> list[Concatenation]:
    """Join the distinct descriptions of each group by spaces, in their order, at most max_tokens long.

    When they do not all fit, those stay that share most words with both of the entities that the relation joins, of
    equals the first; when not even one fits, the best is shortened. about: the words of these two, by the place of the
    group.
    """
    distinct = [
        list(dict.fromkeys(text for text in (description.strip() for description in group) if text)) for group in groups
    ]
    joined = [" ".join(texts) for texts in distinct]
    # A token is a byte or more, and a text a token or more.
    long = [row for row, text in enumerate(joined) if len(text) > max_tokens or len(text.encode()) > max_tokens]
    totals = dict(zip(long, count_many([joined[row] for row in long]).tolist(), strict=True))
    over = [row for row in long if totals[row] > max_tokens]
    ranked = [_most_relevant(distinct[row], *about(row))[: max_tokens + 1] for row in over]
    texts = [distinct[row][place] for row, places in zip(over, ranked, strict=True) for place in places]
    costs = zip(count_many(texts).tolist(), count_many([f" {text}" for text in texts]).tolist(), strict=True)
    cut = {}
    for row, places in zip(over, ranked, strict=True):
        kept = _fitting({place: next(costs) for place in places}, max_tokens)
        text = " ".join(distinct[row][place] for place in kept)
        cut[row] = Concatenation(
            text or trim_to_tokens(distinct[row][places[0]], max_tokens), len(distinct[row]) - len(kept)
        )
    return [cut.get(row) or Concatenation(text, 0) for row, text in enumerate(joined)]


def _fitting(costs: Mapping[int, tuple[int, int]], max_tokens: int) -> list[int]:
    """Return the places of the texts that fit, taken in the order of the costs, ascending.

    costs: tokens of a text alone, and with the space before it. No token reaches from one text over the space before
    the next, so that the tokens of a join are those of its parts.
    """
    kept: list[int] = []
    used = 0
    for place, (alone, spaced) in costs.items():
        cost, first = spaced if kept else alone, min(kept, default=place)
        if place < first:  # the one that was first gets a space before it
            cost = alone + costs[first][1] - costs[first][0]
        if used + cost <= max_tokens:
            kept.append(place)
            used += cost
    return sorted(kept)


def _most_relevant(texts: Sequence[str], left: Words, right: Words) -> list[int]:
    """Return the places of the texts, the most relevant first.

    First come those whose words have the largest product of cosines to both sides, then those with the largest share of
    words of either side; else they keep their order.
    """
    if not left and not right:
        return list(range(len(texts)))
    keys = []
    for place, text in enumerate(texts):
        words = words_of(text)
        in_left, in_right, n = len(words & left), len(words & right), max(len(words), 1)
        keys.append((-in_left * in_right / n, -(in_left + in_right) / n, place))
    return [key[2] for key in sorted(keys)]
