"""Which of many descriptions an entity or a relation keeps."""

import re
from collections.abc import Sequence
from functools import lru_cache

MAX_WORDS = 60
_CLAUSE = re.compile(r"[;:,–—.!?)](?=\s)")


@lru_cache(maxsize=50_000)
def trim_sentence(text: str, max_words: int = MAX_WORDS) -> str:
    """Return the sentence, cut at the last clause that ends within max_words (or there, when none does), with an
    ellipsis.
    """
    words = list(re.finditer(r"\S+", text))
    if len(words) <= max_words:
        return text
    limit = words[max_words - 1].end()
    clauses = [match.start() for match in _CLAUSE.finditer(text, words[max_words // 2].start(), limit)]
    return f"{text[: clauses[-1] if clauses else limit].rstrip(' ,;:–—')} …"


def most_telling(candidates: Sequence[tuple[float, int, str]], count: int) -> list[str]:
    """Return the texts of most weight, each text once and from different chunks as far as there are any, trimmed.

    candidates: (weight, chunk row, text) in reading order. Result: the most telling first, ties in reading order.
    """
    best: dict[str, tuple[float, int, int]] = {}
    for order, (weight, chunk, text) in enumerate(candidates):
        if text and (text not in best or best[text][0] < weight):
            best[text] = (weight, chunk, best[text][2] if text in best else order)
    ranked = sorted(best, key=lambda text: (-best[text][0], best[text][2]))
    chosen: list[str] = []
    seen: set[int] = set()
    for text in ranked:
        if len(chosen) < count and best[text][1] not in seen:
            seen.add(best[text][1])
            chosen.append(text)
    chosen += [text for text in ranked if text not in chosen][: count - len(chosen)]
    return [trim_sentence(text) for text in sorted(chosen, key=ranked.index)]


def each_once(texts: Sequence[str]) -> list[str]:
    """Return the texts without exact repeats and empty ones, in order."""
    return [text for text in dict.fromkeys(text.strip() for text in texts) if text]
