"""Joins the terms that name a cluster: the best pair, perhaps a third, and how they are written."""

import re
from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import combinations, count

from leanrag_core.indexing.aggregation.phrases import Phrase, folded, words
from leanrag_core.indexing.extraction.language_neutral import is_latin

_LONGEST = 60  # characters
_LONGEST_ACRONYM = 6
_SMALL_WORDS = frozenset(("a", "an", "and", "at", "by", "for", "from", "in", "of", "on", "or", "the", "to", "with"))
_POSSESSIVE = re.compile(r"['’]s?$")
_CODE = re.compile(r"\w[_.:]+\w|^[a-z]+[A-Z]")  # of identifiers, whose capitals mean something: first_word, zWal
_JOINT = " and "
_OTHER_JOINT = " · "  # between terms of another script, where an English word would be odd
_TERMS_TRIED = 14
_SECOND = 0.7  # weight of the second term's score beside the first one's
_THIRD = 0.8  # least score of a third term, as a share of the second one's
_SAME_KIND, _OTHER_CASE = 0.25, -0.35
_GIVEN_BEFORE = 0.25  # taken off for each sibling that is named with the term


@dataclass(frozen=True)
class Term:
    """A term that may stand in a cluster's name. kind: what it denotes (person, location, ...); "" for common nouns.
    recurs: whether several passages mention it."""

    surface: str
    score: float
    kind: str = ""
    recurs: bool = True


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
    with_third: bool = False,
) -> ClusterName:
    """Choose the best pair of terms that share no word, of one kind where there is a choice, at most about 60
    characters. with_third: a third one that recurs is added where one of nearly as good a score fits in.

    terms: best first. forbidden: casefolded names that must not come out (the members' own and those of siblings).
    used: how many siblings are named with each casefolded term. numbered: the last number that was added to each name
    to make it unique, kept from call to call so that many equal names take no longer.
    """
    used = {} if used is None else used
    numbered = {} if numbered is None else numbered
    candidates = [replace(term, surface=shown(term.surface)) for term in terms[:_TERMS_TRIED]]
    forms = [folded_words(term.surface) for term in candidates]
    pairs = [
        (candidates[a], candidates[b]) for a, b in combinations(range(len(candidates)), 2) if not forms[a] & forms[b]
    ]
    if not pairs:  # few words, or a script without spaces: two members, else the one of several
        pairs = [(first, second) for first, second in combinations(candidates, 2) if first.surface != second.surface]
    if not pairs:
        pairs = [(Term("Group", 0.0), candidates[0] if candidates else Term("", 0.0))]
    pairs.sort(key=lambda pair: -_fit(pair[0], pair[1], used))  # stable: ties in the order of the terms
    third = _third(candidates, *pairs[0]) if with_third else None
    if third and _joined(*pairs[0], third).casefold() not in forbidden:
        chosen = (*pairs[0], third)
        return ClusterName(_joined(*chosen), tuple(term.surface.casefold() for term in chosen))
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
    n_siblings = used.get(first.surface.casefold(), 0) + used.get(second.surface.casefold(), 0)
    return round(score - _GIVEN_BEFORE * n_siblings, 9)


def _third(candidates: Sequence[Term], first: Term, second: Term) -> Term | None:
    """Return the best third term for the pair: it recurs, shares no word with them, is cased like them, scores nearly
    as well, and fits in; a person joins persons alone.
    """
    for term in filter(lambda term: term.recurs, candidates):
        alike = bool(term.kind) == bool(first.kind) == bool(second.kind)
        alike = alike and (term.kind == "person") == (first.kind == "person") == (second.kind == "person")
        apart = term not in (first, second) and not (
            overlap(term.surface, first.surface) or overlap(term.surface, second.surface)
        )
        good = second.score > 0 and round(term.score - _THIRD * second.score, 9) >= 0
        if alike and apart and good and len(f"{first.surface}, {second.surface}{_JOINT}{term.surface}") <= _LONGEST:
            return term
    return None


def folded_form(term: str) -> Phrase:
    """Return the words of a term in their order, in the form in which they are compared."""
    return tuple(folded(word) for word in words(term))


def terms_in(name: str) -> list[str]:
    """Return the terms that a cluster's name joins."""
    return re.split(rf", |{_JOINT}|{_OTHER_JOINT}", name)


def overlap(first: str, second: str) -> bool:
    """Return whether two terms share a word, so that joining them would repeat it."""
    return bool(folded_words(first) & folded_words(second))


@lru_cache(maxsize=65_536)
def folded_words(term: str) -> frozenset[str]:
    """Return the words of a term in the forms in which they are compared: also without a plural's ending that folded()
    leaves, as in "menus", and the parts of a compound.
    """
    parts = {part.casefold() for word in words(term) for part in (word, *word.split("-")) if len(part) > 1}
    singular = {part[: -len(end)] for part in parts for end in ("s", "es") if len(part) > 3 and part.endswith(end)}
    return frozenset(map(folded, parts)) | parts | singular


def shown(phrase: str) -> str:
    """Return the term with single spaces and no possessive ending.

    It is spelled as in the documents, except that several words in capitals, or one long one, are set in title case
    (acronyms are shorter).
    """
    phrase = _POSSESSIVE.sub("", " ".join(phrase.split()))
    if phrase.isupper() and (" " in phrase or len(phrase) > _LONGEST_ACRONYM):
        phrase = title_case(phrase)
    return phrase


def title_case(phrase: str) -> str:
    """Give each word a capital first letter, except small words inside."""
    parts = phrase.lower().split()
    return " ".join(
        word if place and word in _SMALL_WORDS else word[:1].upper() + word[1:] for place, word in enumerate(parts)
    )


def _joined(first: Term, second: Term, third: Term | None = None) -> str:
    """Join the terms in sentence case, except identifiers; a second one that is too long is cut."""
    is_code = bool(_CODE.search(first.surface))
    start = first.surface if is_code else first.surface[:1].upper() + first.surface[1:]
    latin = is_latin(first.surface + second.surface)
    joint = _JOINT if latin else _OTHER_JOINT
    if third:
        return f"{start}{', ' if latin else joint}{second.surface}{joint}{third.surface}"
    room = max(_LONGEST - len(start) - len(joint), 16)
    end = second.surface
    if len(end) > room:
        cut = end[: room - 1]
        end = (cut.rsplit(" ", 1)[0] if " " in cut else cut).rstrip(",;:- ") + "…"
    return f"{start}{joint}{end}"
