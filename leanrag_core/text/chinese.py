"""Words of Chinese text, which has no spaces: jieba's dictionary and hidden Markov model, by the library rjieba."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

CHINESE = "zh"
"""The code of the language, as documents have it."""

HAN = "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
"""The inside of a character class: Chinese characters."""

_KANA = re.compile("[\u3040-\u30ff]")
_HAN_RUN = re.compile(f"[{HAN}]+")


@dataclass(frozen=True)
class ChineseWord:
    """A word in its text. start: its first character. tag: part of speech as jieba writes it, such as n, ns, v."""

    text: str
    start: int
    tag: str

    @property
    def end(self) -> int:
        """Return where the word ends, exclusive."""
        return self.start + len(self.text)


@cache
def segmenter_version() -> str:
    """Return the name and version of the library that cuts words."""
    from importlib.metadata import version

    return f"rjieba-{version('rjieba')}"


class Segmenter:
    """Cuts Chinese text into words. new_words: words that the dictionary may lack, as a corpus shows them."""

    def __init__(self, new_words: Sequence[str] = ()) -> None:
        from rjieba import Jieba

        self._jieba = Jieba()
        for word in new_words:
            self._jieba.add_word(word, None, "nz")

    def knows(self, word: str) -> bool:
        """Return whether the dictionary has the word."""
        return bool(self._jieba.has_word(word))

    def known_words(self, text: str) -> list[str]:
        """Return the words of the dictionary that make up the text; a character that is in none stands alone."""
        return list(self._jieba.cut(text, hmm=False))

    def words(self, text: str) -> list[ChineseWord]:
        """Return all words in order; together they are the text."""
        words: list[ChineseWord] = []
        position = 0
        for word, tag in self._jieba.tag(text):
            words.append(ChineseWord(word, position, tag))
            position += len(word)
        return words


@cache
def dictionary_segmenter() -> Segmenter:
    """Return the segmenter that knows the dictionary alone, which takes a tenth of a second to read."""
    return Segmenter()


def is_chinese(text: str) -> bool:
    """Return whether at least half of the letters are Chinese characters, and none is Japanese kana."""
    runs = () if text.isascii() else han_runs(text)  # most texts have none
    return bool(runs) and 0 < sum(map(str.isalpha, text)) <= 2 * sum(map(len, runs)) and not _KANA.search(text)


def han_runs(text: str) -> list[str]:
    """Return the runs of Chinese characters in order."""
    return _HAN_RUN.findall(text)
