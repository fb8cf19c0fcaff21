"""Sentences that repeat another text, recognised by their runs of five words."""

import re
from collections.abc import Iterable

from leanrag_core.text.sentences import split_sentences

RUN = 5  # words
MOSTLY = 0.8  # of a sentence's runs
WORD = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]|[^\W\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]+")

_ASCII_WORD = re.compile(r"\w+", re.ASCII)  # finds what WORD does, in half the time


class SeenSentences:
    """Runs of words of the texts so far. A run is RUN words, or all words of a shorter sentence; a character of
    Chinese, Japanese or Korean is a word. Runs of each length are made when a sentence asks for them."""

    def __init__(self) -> None:
        self._texts: list[list[str]] = []
        self._runs: list[set[tuple[str, ...]]] = [set() for _ in range(RUN + 1)]  # by length
        self._n_read = [0] * (RUN + 1)  # texts whose runs of that length are there
        self.n_dropped = 0

    def add(self, texts: Iterable[str]) -> None:
        """Record that those texts are in the context."""
        self._texts += [words_of(text) for text in texts]

    def new(self, text: str, *, lines: bool = False, most: int | None = None) -> str:
        """Return the new sentences of the text, or its new lines, and record them; the text itself when all are kept. A
        sentence is a repeat when at least a share MOSTLY of its runs is recorded. most: how many are kept at most. What
        is dropped is counted in n_dropped."""
        parts = text.split("\n") if lines else split_sentences(text)
        worded = [(part, words_of(part)) for part in parts]
        kept = [(part, words) for part, words in worded if not self._repeats(words)][:most]
        self.n_dropped += len(parts) - len(kept)
        self._texts += [words for _, words in kept]
        return text if len(kept) == len(parts) else ("\n" if lines else " ").join(part for part, _ in kept)

    def _repeats(self, words: list[str]) -> bool:
        length = min(RUN, len(words))
        runs = list(_runs(words, length))
        if not runs:
            return False
        known_runs = self._runs[length]
        for text in self._texts[self._n_read[length] :]:
            known_runs.update(_runs(text, length))
        self._n_read[length] = len(self._texts)
        return sum(map(known_runs.__contains__, runs)) >= MOSTLY * len(runs)


def words_of(text: str) -> list[str]:
    """Return the words of a text in lower case, as WORD finds them."""
    lower = text.lower()
    return (_ASCII_WORD if lower.isascii() else WORD).findall(lower)


def _runs(words: list[str], length: int) -> Iterable[tuple[str, ...]]:
    """Return all runs of `length` words, in their order; none without words."""
    return zip(*(words[start:] for start in range(length)), strict=False)
