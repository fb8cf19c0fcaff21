"""Names of aggregated entities: a phrase that sets the cluster apart, joined with what stands at its centre."""

import re
from collections.abc import Container, Iterable, Sequence
from itertools import count

from leanrag_core.indexing.aggregation.cluster_terms import Candidate
from leanrag_core.indexing.aggregation.phrases import folded, words

_LONGEST = 60  # characters
_LONGEST_ACRONYM = 5
_SMALL_WORDS = frozenset(("a", "an", "and", "at", "by", "for", "from", "in", "of", "on", "or", "the", "to", "with"))
_POSSESSIVE = re.compile(r"['’]s?$")
_PHRASES_TRIED = 6
_PARTNERS_TRIED = 5


def cluster_name(
    candidates: Sequence[Candidate],
    partners: Iterable[str],
    *,
    forbidden: Container[str],
    joint: str,
    numbered: dict[str, int] | None = None,
) -> str:
    """The best phrase joined with the first partner that says something else, at most about 60 characters.

    candidates: phrases, best first. partners: names for the second half, best first. forbidden: casefolded names that
    must not come out (the members' own and those of siblings); avoided whenever there is another pair. numbered: the
    last number that each name was told apart by, kept from call to call so that many equal names take no longer.
    """
    numbered = {} if numbered is None else numbered
    halves = [written(partner) for partner in partners][:_PARTNERS_TRIED]
    firsts = [written(candidate.surface) for candidate in candidates[:_PHRASES_TRIED]]
    pairs = [(first, second) for first in firsts for second in halves if not overlap(first, second)]
    if not pairs:  # no phrases at all (few words, or a script without spaces): two members, else the one of several
        pairs = [(name_half, other) for name_half in halves for other in halves if name_half != other] or [
            ("Group", half) for half in halves or [""]
        ]
    for first, second in pairs:
        name = _joined(first, second, joint)
        if name.casefold() not in forbidden:
            return name
    plain = _joined(*pairs[0], joint)
    for number in count(numbered.get(plain, 1) + 1):
        numbered[plain] = number
        name = f"{plain} ({number})"
        if name.casefold() not in forbidden:
            break
    return name


def overlap(first: str, second: str) -> bool:
    """Whether two phrases share a word, so that joining them would repeat it."""
    return bool({folded(word) for word in words(first)} & {folded(word) for word in words(second)})


def written(phrase: str) -> str:
    """The phrase with a capital first letter, single spaces and no possessive ending; the rest stays as the documents
    write it, but for several words in capitals or one long one, which are set in title case (acronyms are shorter)."""
    phrase = _POSSESSIVE.sub("", " ".join(phrase.split()))
    if phrase.isupper() and (" " in phrase or len(phrase) > _LONGEST_ACRONYM):
        phrase = title_case(phrase)
    return phrase[:1].upper() + phrase[1:]


def title_case(phrase: str) -> str:
    """Each word with a capital first letter, but for small words inside."""
    parts = phrase.lower().split()
    return " ".join(
        word if place and word in _SMALL_WORDS else word[:1].upper() + word[1:] for place, word in enumerate(parts)
    )


def _joined(first: str, second: str, joint: str) -> str:
    room = max(_LONGEST - len(first) - len(joint), 16)
    if len(second) > room:
        cut = second[: room - 1]
        second = (cut.rsplit(" ", 1)[0] if " " in cut else cut).rstrip(",;:- ") + "…"
    return f"{first}{joint}{second}"
