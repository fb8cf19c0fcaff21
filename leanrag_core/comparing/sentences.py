"""Which sentences are in one answer alone, by the share of their words that a sentence of another answer has."""

import re
from collections.abc import Mapping

from leanrag_core.text.words import FUNCTION_WORDS
from leanrag_core.types.trace import Answer

SAME = 0.6  # share of a sentence's words that a sentence of another answer has when it says the same
_WORD = re.compile(r"[^\W_]+")
_ENDING = re.compile(r"(?:ies|es|s|ed|ing)$")


def said_alone(answers: Mapping[str, Answer]) -> dict[str, frozenset[int]]:
    """Return for each column the places of its answer's parts that no other column's answer says. An answer that
    says that nothing answers the question has none, and is not compared with the others."""
    words = {
        letter: [_words(part.text) for part in answer.parts] if answer.grounded else []
        for letter, answer in answers.items()
    }
    alone = {}
    for letter, parts in words.items():
        others = [part for other, theirs in words.items() if other != letter for part in theirs]
        alone[letter] = frozenset(place for place, part in enumerate(parts) if others and not _is_said(part, others))
    return alone


def say_the_same(answers: Mapping[str, Answer]) -> bool:
    """Return whether there are several answers, and none says more or less than the others."""
    return (
        len(answers) > 1
        and all(answer.grounded for answer in answers.values())
        and not any(said_alone(answers).values())
        and len({len(answer.parts) for answer in answers.values()}) == 1
    )


def same_sentence(left: str, right: str) -> bool:
    """Return whether both say the same: most words of each are in the other."""
    first, second = _words(left), _words(right)
    return bool(first and second) and len(first & second) >= SAME * max(len(first), len(second))


def _is_said(part: frozenset[str], others: list[frozenset[str]]) -> bool:
    return not part or any(len(part & other) >= SAME * len(part) for other in others)


def _words(text: str) -> frozenset[str]:
    """Return the words of the text that say something about its subject, without endings."""
    words = (word for word in _WORD.findall(text.casefold()) if word not in FUNCTION_WORDS)
    return frozenset(_ENDING.sub("", word) if len(word) > 4 else word for word in words)
