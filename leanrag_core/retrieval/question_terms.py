"""Names and phrases of a question, without a model: what other systems ask a language model for.

A limit to state where it is used: a name is what begins with a capital letter inside the sentence or is in
quotation marks; a phrase is a run of words between function words. Themes that the question does not name are not
found.
"""

import re
from dataclasses import dataclass

from leanrag_core.function_words import FUNCTION_WORDS

_QUOTED = re.compile(r"[\"“”«»]([^\"“”«»]{2,80})[\"“”«»]")
_PIECE = re.compile(r"[\w’'\-]+|[^\w\s]", re.UNICODE)
_ASKING = {"compare", "describe", "discuss", "explain", "give", "kind", "kinds", "list", "name", "summarise", "tell"}
_JOINING = {"of", "the", "de", "la", "von", "van", "der", "du", "al"}  # inside a name: Bank of England


@dataclass(frozen=True)
class QuestionTerms:
    """names: capitalised or quoted. phrases: runs of content words, names among them. Both in the question's order."""

    names: tuple[str, ...]
    phrases: tuple[str, ...]


def question_terms(question: str) -> QuestionTerms:
    """The names and the content phrases of the question, each once."""
    pieces = _PIECE.findall(question)
    quoted = [match.strip() for match in _QUOTED.findall(question)]
    return QuestionTerms(_once([*quoted, *_names(pieces)]), _once([*quoted, *_phrases(pieces)]))


def _names(pieces: list[str]) -> list[str]:
    names: list[str] = []
    run: list[str] = []
    for place, piece in enumerate(pieces):
        capital = piece[0].isupper() and not (place == 0 and _empty(piece))
        if capital or (run and piece.lower() in _JOINING):
            run.append(piece)
            continue
        names += _name(run)
        run = []
    return [*names, *_name(run)]


def _name(run: list[str]) -> list[str]:
    while run and run[-1].lower() in _JOINING:
        run = run[:-1]
    while run and _empty(run[0]):
        run = run[1:]
    return [" ".join(run)] if run else []


def _phrases(pieces: list[str]) -> list[str]:
    phrases: list[str] = []
    run: list[str] = []
    for piece in pieces:
        if _empty(piece) or not (piece[0].isalnum() or piece[0] == "_"):
            phrases += [" ".join(run)] if run else []
            run = []
        else:
            run.append(piece)
    return [*phrases, " ".join(run)] if run else phrases


def _empty(word: str) -> bool:
    return word.lower() in FUNCTION_WORDS or word.lower() in _ASKING


def _once(terms: list[str]) -> tuple[str, ...]:
    by_key = {term.lower(): term for term in reversed(terms)}
    return tuple(term for term in dict.fromkeys(terms) if by_key[term.lower()] == term)
