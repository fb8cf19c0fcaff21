"""What an answer cites, and which of its sentences are supported by what they cite: by shared words, without a model.

The rule: a sentence has no support when it cites nothing. It has weak support when less than half of its words that say
something occur in the items that it cites, or when it has a number that none of them has. Where sentence and items are
written in different scripts, words tell nothing.
"""

import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache

from leanrag_core.answering.asked import stem
from leanrag_core.answering.written import CUT_SHORT
from leanrag_core.messages.message import Message, message
from leanrag_core.text.sentences import split_sentences
from leanrag_core.text.words import FUNCTION_WORDS, lexical_tokens
from leanrag_core.types.trace import Answer, AnswerPart, Context, ContextItem

SUPPORTED, WEAK, UNCITED, UNKNOWN = "supported", "weak", "uncited", "unknown"
ENOUGH = 0.5  # share of a sentence's words
_LOOKED_AT = 400  # letters that tell a script
_EAST_ASIAN = ("CJK", "HIRAGANA", "KATAKANA", "HANGUL")


@dataclass(frozen=True)
class Support:
    """How far the items that a sentence cites support it. n_words: of the sentence that say something; n_held: of these
    in the items. numbers: of the sentence that no item has."""

    state: str
    n_words: int = 0
    n_held: int = 0
    numbers: tuple[str, ...] = ()

    @property
    def lacks(self) -> bool:
        """Whether the sentence is to be marked."""
        return self.state in (WEAK, UNCITED)


def doubt(support: Support) -> Message | None:
    """Say in a few words why a sentence is marked; None where it is not."""
    if not support.lacks:
        return None
    if support.state == UNCITED:
        return message("support.uncited")
    if support.numbers:
        numbers = tuple(message("plain", text=number) for number in support.numbers)
        return message("support.number", number=numbers)
    return message("support.weak", held=support.n_held, n=support.n_words)


def supports(answer: Answer) -> tuple[Support, ...]:
    """Measure how far each part of the answer is supported by what it cites."""
    return supports_in(answer.trace.context, answer.parts)


def supports_in(context: Context, parts: Iterable[AnswerPart]) -> tuple[Support, ...]:
    """Return supports() of those parts of an answer from that context."""
    items = {item.mark: item for item in context.items}
    return tuple(_support(part, items) for part in parts)


def citation_counts(answer: Answer) -> Counter[str]:
    """Count the sentences that cite each mark."""
    return Counter(mark for part in answer.parts for mark in dict.fromkeys(part.marks))


def best_sentence(sentence: str, text: str) -> str:
    """Return the sentence of the text that shares most words with that sentence; "" where none shares a third of
    them."""
    wanted = _words(sentence)
    shares = {each: len(wanted & _words(each)) for each in split_sentences(text)}
    best = max(shares, key=lambda each: shares[each], default="")
    return best if wanted and 3 * shares.get(best, 0) >= len(wanted) else ""


def _support(part: AnswerPart, items: Mapping[str, ContextItem]) -> Support:
    if part.text == CUT_SHORT:  # a remark, and no sentence of the answer
        return Support(SUPPORTED)
    cited = " ".join(items[mark].text for mark in part.marks if mark in items)
    if not cited:
        return Support(UNCITED)
    if _script(part.text) != _script(cited):
        return Support(UNKNOWN)
    words, cited_words = _words(part.text), _words(cited)
    n_held = len(words & cited_words)
    numbers = tuple(sorted(word for word in words - cited_words if any(letter.isdigit() for letter in word)))
    state = WEAK if numbers or n_held < ENOUGH * len(words) else SUPPORTED
    return Support(state, len(words), n_held, numbers)


@lru_cache(maxsize=4_096)  # a moved slider asks again for most of the context
def _words(text: str) -> frozenset[str]:
    """Return the words of the text that say something about its subject, without endings."""
    return frozenset(
        stem(word).removesuffix("e")  # "store" meets "stored"
        for word in lexical_tokens(text)
        if word not in FUNCTION_WORDS and (len(word) > 1 or not word.isascii() or word.isdigit())
    )


def _script(text: str) -> str:
    """Return the script of most letters, such as LATIN; those of East Asia count as one."""
    if text.isascii():
        return "LATIN" if any(map(str.isalpha, text)) else ""
    letters = [letter for letter in text if letter.isalpha()][:_LOOKED_AT]
    names = Counter(unicodedata.name(letter, "?").split()[0].split("-")[0] for letter in letters)
    script = max(sorted(names), key=lambda name: names[name], default="")
    return "EAST ASIAN" if script in _EAST_ASIAN else script
