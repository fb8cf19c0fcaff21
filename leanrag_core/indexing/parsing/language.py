"""Which language a document is in, by lingua; decided on its first 2,000 characters."""

from collections.abc import Mapping
from functools import cache
from typing import Any

SEVERAL = "mul"  # languages, none of which most of a text is in (ISO 639-2)
UNKNOWN = "und"
_SAMPLE = 2000
_LANGUAGES = [
    "ARABIC",
    "CHINESE",
    "CZECH",
    "DANISH",
    "DUTCH",
    "ENGLISH",
    "FINNISH",
    "FRENCH",
    "GERMAN",
    "GREEK",
    "HEBREW",
    "HINDI",
    "HUNGARIAN",
    "INDONESIAN",
    "ITALIAN",
    "JAPANESE",
    "KOREAN",
    "LATIN",
    "PERSIAN",
    "POLISH",
    "PORTUGUESE",
    "ROMANIAN",
    "RUSSIAN",
    "SPANISH",
    "SWEDISH",
    "TURKISH",
    "UKRAINIAN",
    "VIETNAMESE",
]
_COMMON_ENGLISH = frozenset(["the", "of", "and", "to", "in", "is", "a", "for", "that", "was", "by", "on", "with"])
_SHORT, _SURE = 100, 0.9  # letters; a shorter text, such as the cells of a small table, has to be this clear
_ENGLISH_SHARE = 0.1  # of words that are the most common English ones; other languages stay below .07


@cache
def _detector() -> Any:
    from lingua import Language, LanguageDetectorBuilder

    chosen = [getattr(Language, name) for name in _LANGUAGES]
    return LanguageDetectorBuilder.from_languages(*chosen).with_low_accuracy_mode().build()


def detect_language(text: str) -> str:
    """Return the ISO 639-1 code of the text's language, "und" when it cannot be detected: too few letters, or a short
    text that reads as one language hardly better than as another.
    """
    sample = text[:_SAMPLE]
    words = sample.lower().split()
    if len(words) >= 20 and sum(word in _COMMON_ENGLISH for word in words) > _ENGLISH_SHARE * len(words):
        return "en"  # clear without loading the language models
    letters = [character for character in sample if character.isalpha()]
    if not letters or (len(letters) < 20 and all(character < "\u2000" for character in letters)):
        return "und"  # too little to tell, but for scripts that only a few languages use
    best = _detector().compute_language_confidence_values(sample)[0]
    if len(letters) < _SHORT and best.value < _SURE:
        return "und"
    return best.language.iso_code_639_1.name.lower() if best.value else "und"


def mostly_foreign(amounts: Mapping[str, int]) -> str:
    """Return the language that most of some text is in, where that is not English (ISO 639-1), SEVERAL where it is in
    several such languages; empty where half or more is English.

    amounts: characters or tokens in each language; an unknown language does not count.
    """
    known = {language: n for language, n in amounts.items() if language not in ("", UNKNOWN)}
    half = sum(known.values()) / 2
    if known.get("en", 0) >= half:
        return ""
    return next((language for language, n in known.items() if n > half), SEVERAL)
