"""Whether a passage mentions a name that a language model returned for it, or the name comes from elsewhere."""

import re
import unicodedata
from collections.abc import Iterable
from functools import cached_property

_WORD = re.compile(r"[^\W_]+")
_NAME_IN_PROMPT = re.compile(r'"name":\s*"([^"]*\w[^"]*)"')
_EASTERN = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\u0e00-\u0e7f]")
_ACCENT = re.compile(r"[\u0300-\u036f]")
_SHORTEST_STEM = 4  # characters
_STEM = 0.6  # of the shorter word that must be alike from its beginning
_LETTERS_LOOKED_AT = 600
_ACRONYM = re.compile(r"^[^\W\d_]{2,8}$")


def plain(text: str) -> str:
    """Return the text without accents, case and kinds of letters that look alike."""
    if text.isascii():
        return text.lower()
    return _ACCENT.sub("", unicodedata.normalize("NFKD", text)).casefold()


def words_of(text: str) -> list[str]:
    """Return the words of a text in plain form; of a script without spaces, pairs of neighbouring signs."""
    words: list[str] = []
    runs = _WORD.findall(plain(text))
    if text.isascii():
        return runs
    for word in runs:
        if _EASTERN.search(word):
            words += [word[at : at + 2] for at in range(max(1, len(word) - 1))]
        else:
            words.append(word)
    return words


class Passage:
    """The words of a passage, in which names are looked up."""

    def __init__(self, text: str) -> None:
        self._ordered = words_of(text)
        self._words = frozenset(self._ordered)
        self._text = text
        self._by_stem: dict[str, list[str]] = {}
        for word in self._words:
            if len(word) >= _SHORTEST_STEM:
                self._by_stem.setdefault(word[:_SHORTEST_STEM], []).append(word)

    @cached_property
    def _joined(self) -> str:
        return "".join(_WORD.findall(plain(self._text)))

    @cached_property
    def _initials(self) -> str:
        return "".join(word[0] for word in self._ordered)

    @cached_property
    def _script(self) -> str:
        return script_of(self._text)

    def has_word(self, word: str) -> bool:
        """Return whether the word occurs, in this form or another with the same stem."""
        if word in self._words:
            return True
        return any(_alike(word, other) for other in self._by_stem.get(word[:_SHORTEST_STEM], ()))

    def has_all(self, name: str) -> bool:
        """Return whether every word of the name occurs."""
        return all(self.has_word(word) for word in words_of(name))

    def speaks_of(self, name: str) -> bool:
        """Return whether the passage can mean the name: a word of it occurs, it is an acronym, or another script is
        used.
        """
        words = words_of(name)
        if not words or any(self.has_word(word) for word in words if len(word) > 2 or not word.isascii()):
            return True
        if "".join(_WORD.findall(plain(name))) in self._joined:
            return True
        if script_of(name) not in ("", self._script):
            return True  # a transcription or translation cannot be distinguished from an invention
        if len(words) == 1 and _ACRONYM.match(words[0]) and words[0] in self._initials:
            return True
        initials = "".join(word[0] for word in words)
        return len(initials) > 1 and initials in self._words


def script_of(text: str) -> str:
    """Return the script of most letters: "LATIN", "CYRILLIC", "CJK", ...; "" without letters."""
    if text.isascii():
        return "LATIN" if any(map(str.isalpha, text)) else ""
    counted: dict[str, int] = {}
    for sign in text[:_LETTERS_LOOKED_AT]:
        if sign.isalpha():
            name = unicodedata.name(sign, "").split(" ")[0].removesuffix("-FULLWIDTH")
            counted[name] = counted.get(name, 0) + 1
    return max(counted, key=lambda name: (counted[name], name), default="")


class ExampleNames:
    """The names in a prompt's example; a small model copies them into its reply."""

    def __init__(self, prompt: str) -> None:
        names = [name for name in _NAME_IN_PROMPT.findall(prompt) if name != "..."]
        self._names = frozenset(plain(name) for name in names)
        self._words = frozenset(word for name in names for word in words_of(name))
        self._own = frozenset(word for name in names for word in words_of(" ".join(_capitalised(name))))

    def copied(self, names: Iterable[str], passage: Passage) -> frozenset[str]:
        """Return those of the names that are the example's and not the passage's."""
        return frozenset(name for name in names if self._has(name) and not passage.has_all(name))

    def _has(self, name: str) -> bool:
        words = words_of(name)
        of_example = bool(words) and self._words.issuperset(words) and not self._own.isdisjoint(words)
        return of_example or plain(name) in self._names


def _alike(word: str, other: str) -> bool:
    shorter = min(len(word), len(other))
    needed = max(_SHORTEST_STEM, round(_STEM * shorter))
    return word[:needed] == other[:needed]


def _capitalised(name: str) -> list[str]:
    return [word for word in name.split() if word[:1].isupper()]
