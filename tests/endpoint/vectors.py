"""Embeddings by rule: every word throws its weight on a few places, so that texts which share words point alike."""

import hashlib
import math
import re
from functools import lru_cache

_WORD = re.compile(r"[\u3040-\u30ff\u4e00-\u9fff]|[^\W_]+")
_PLACES = 4
_SHORT = 3  # letters; shorter words say little


def vector_of(text: str, dimension: int) -> list[float]:
    """Return a unit vector of that length; the same for the same words in any order."""
    places = [0.0] * dimension
    for word in _WORD.findall(text.lower()) or [text]:
        weight = 0.3 if len(word) <= _SHORT and word.isascii() else 1.0
        for place, sign in _thrown(word, dimension):
            places[place] += sign * weight
    length = math.sqrt(sum(value * value for value in places))
    if length < 1e-9:  # words that cancel each other out
        return [1.0, *[0.0] * (dimension - 1)]
    return [round(value / length, 7) for value in places]


@lru_cache(maxsize=100_000)
def _thrown(word: str, dimension: int) -> tuple[tuple[int, int], ...]:
    digest = hashlib.blake2b(word.encode(), digest_size=4 * _PLACES).digest()
    numbers = [int.from_bytes(digest[at : at + 4], "big") for at in range(0, len(digest), 4)]
    return tuple(((number >> 1) % dimension, 1 if number & 1 else -1) for number in numbers)
