"""Questions with gold answers and gold evidence, and how texts are compared."""

import re
import unicodedata
from dataclasses import dataclass

_ARTICLES = re.compile(r"\b(?:a|an|the)\b")
_NO_WORD = re.compile(r"[\W_]+")


@dataclass(frozen=True)
class Evidence:
    """A passage that supports the answer. document: its file name, or its title. quote: its words, exactly; "" for any
    passage of the document."""

    document: str
    quote: str


@dataclass(frozen=True)
class GoldQuestion:
    """A question with what is known of its answer. answers: short strings that a right answer contains, any of them.

    kind: such as single-hop, multi-hop or unanswerable; "" where the file says nothing. entities: those of the
    answer that the question does not name, each with all its names; empty without a reference graph beside the file.
    answer: the gold answer in a sentence, "" where the file has none.
    """

    id: str
    question: str
    answers: tuple[str, ...] = ()
    evidence: tuple[Evidence, ...] = ()
    kind: str = ""
    entities: tuple[tuple[str, ...], ...] = ()
    answer: str = ""


def is_named(names: tuple[str, ...], text: str) -> bool:
    """Return whether a normalised text has one of the normalised names as whole words."""
    return any(f" {name} " in f" {text} " for name in names)


def normalised(text: str) -> str:
    """Return the text for comparison: NFKC, lower case, no articles, no punctuation, single spaces (as in SQuAD's
    scorer)."""
    folded = unicodedata.normalize("NFKC", text).casefold()
    return " ".join(_ARTICLES.sub(" ", _NO_WORD.sub(" ", folded)).split())
