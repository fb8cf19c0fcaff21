"""Names of aggregated entities: two terms of one kind that are central to the cluster and set it apart."""

import re
from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations, count

from leanrag_core.indexing.aggregation.phrases import folded, words
from leanrag_core.indexing.extraction.language_neutral import is_latin

_LONGEST = 60  # characters
_LONGEST_ACRONYM = 6
_SMALL_WORDS = frozenset(("a", "an", "and", "at", "by", "for", "from", "in", "of", "on", "or", "the", "to", "with"))
_POSSESSIVE = re.compile(r"['’]s?$")
_JOINT = " and "
_OTHER_JOINT = " · "  # between terms of another script, where an English word would be odd
_TERMS_TRIED = 14
_SECOND = 0.7  # weight of the second term's score beside the first one's
_SAME_KIND, _OTHER_CASE = 0.25, -0.35
_GIVEN_BEFORE = 0.25  # taken off for each sibling that is named with the term


@dataclass(frozen=True)
class Term:
    """A term that may stand in a cluster's name. kind: what it denotes (person, location, ...); "" for common nouns."""

    surface: str
    score: float
    kind: str = ""


@dataclass(frozen=True)
class ClusterName:
    """A cluster's name and the terms it is made of."""

    text: str
    terms: tuple[str, ...]


def cluster_name(
    terms: Sequence[Term],
    *,
    forbidden: Container[str],
    used: Mapping[str, int] | None = None,
    numbered: dict[str, int] | None = None,
) -> ClusterName:
    """Choose the best pair of terms that share no word, of one kind where there is a choice, at most about 60
    characters.

    terms: best first. forbidden: casefolded names that must not come out (the members' own and those of siblings).
    used: how many siblings are named with each casefolded term. numbered: the last number that each name was given
    apart by, kept from call to call so that many equal names take no longer.
    """
    used = {} if used is None else used
    numbered = {} if numbered is None else numbered
    tried = [Term(shown(term.surface), term.score, term.kind) for term in terms[:_TERMS_TRIED]]
    forms = [folded_words(term.surface) for term in tried]
    pairs = [(tried[a], tried[b]) for a, b in combinations(range(len(tried)), 2) if not forms[a] & forms[b]]
    if not pairs:  # few words, or a script without spaces: two members, else the one of several
        pairs = [(first, second) for first, second in combinations(tried, 2) if first.surface != second.surface]
    if not pairs:
        pairs = [(Term("Group", 0.0), tried[0] if tried else Term("", 0.0))]
    pairs.sort(key=lambda pair: -_fit(pair[0], pair[1], used))  # stable: ties in the order of the terms
    for first, second in pairs:
        text = _joined(first, second)
        if text.casefold() not in forbidden:
            return ClusterName(text, (first.surface.casefold(), second.surface.casefold()))
    plain = _joined(*pairs[0])
    for number in count(numbered.get(plain, 1) + 1):
        numbered[plain] = number
        text = f"{plain} ({number})"
        if text.casefold() not in forbidden:
            break
    return ClusterName(text, (pairs[0][0].surface.casefold(), pairs[0][1].surface.casefold()))


def _fit(first: Term, second: Term, used: Mapping[str, int]) -> float:
    """Score how well two terms name a cluster together: both good ones, of one kind, and no sibling has them."""
    score = first.score + _SECOND * second.score
    if first.kind == second.kind:
        score += _SAME_KIND
    elif not first.kind or not second.kind:
        score += _OTHER_CASE
    taken = used.get(first.surface.casefold(), 0) + used.get(second.surface.casefold(), 0)
    return round(score - _GIVEN_BEFORE * taken, 9)


def overlap(first: str, second: str) -> bool:
    """Return whether two terms share a word, so that joining them would repeat it."""
    return bool(folded_words(first) & folded_words(second))


@lru_cache(maxsize=65_536)
def folded_words(term: str) -> frozenset[str]:
    """Return the words of a term in the form in which they are compared."""
    return frozenset(folded(word) for word in words(term))


def shown(phrase: str) -> str:
    """Return the term with single spaces and no possessive ending.

    The rest stays as the documents write it, but for several words in capitals or one long one, which are set in title
    case (acronyms are shorter).
    """
    phrase = _POSSESSIVE.sub("", " ".join(phrase.split()))
    if phrase.isupper() and (" " in phrase or len(phrase) > _LONGEST_ACRONYM):
        phrase = title_case(phrase)
    return phrase


def title_case(phrase: str) -> str:
    """Give each word a capital first letter, but for small words inside."""
    parts = phrase.lower().split()
    return " ".join(
        word if place and word in _SMALL_WORDS else word[:1].upper() + word[1:] for place, word in enumerate(parts)
    )


def _joined(first: Term, second: Term) -> str:
    """Join both terms in sentence case; a second one that is too long is cut."""
    start = first.surface[:1].upper() + first.surface[1:]
    joint = _JOINT if is_latin(first.surface + second.surface) else _OTHER_JOINT
    room = max(_LONGEST - len(start) - len(joint), 16)
    end = second.surface
    if len(end) > room:
        cut = end[: room - 1]
        end = (cut.rsplit(" ", 1)[0] if " " in cut else cut).rstrip(",;:- ") + "…"
    return f"{start}{joint}{end}"
