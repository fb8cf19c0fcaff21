"""Sentences of chunks as points of a map step, where no language model reads the chunks."""

import unicodedata
from collections.abc import Sequence

import numpy as np

from leanrag_core.retrieval.map_reduce import Point
from leanrag_core.text.sentences import split_sentences
from leanrag_core.text.words import FUNCTION_WORDS, lexical_tokens
from leanrag_core.types.index import Index

_SENTENCES = 3  # of a chunk that are its built-in point


def builtin_chunk_points(
    index: Index, question: str, rows: Sequence[int], scores: np.ndarray, max_tokens: int
) -> list[Point]:
    """Return a point for each of the most helpful of those chunks, as many as the budget may hold: its sentences with
    most words of the question. scores: (n_chunks,) int, 0 to 100; a chunk with 0 gives none."""
    chosen = np.asarray(rows, dtype=np.int64)
    chosen = chosen[scores[chosen] > 0]
    wanted = set(lexical_tokens(question)) - FUNCTION_WORDS
    used, points = 0, list[Point]()
    for row in chosen[np.argsort(-scores[chosen], kind="stable")].tolist():
        text = _best_sentences(index.chunk(row).text, wanted)
        points.append(Point(text, int(scores[row]), (row,)))
        used += len(text) // 8  # no token has so many letters on average
        if used > max_tokens:
            break
    return points


def _best_sentences(text: str, wanted: set[str]) -> str:
    """Return the sentences of a chunk with most of those words, in their order; of equals the first."""
    sentences = split_sentences(text) or [text.strip()]
    shared = [_shared(each, wanted) for each in sentences]
    best = sorted(range(len(sentences)), key=lambda place: (-shared[place], place))[:_SENTENCES]
    return " ".join(" ".join(sentences[place].split()) for place in sorted(best))


def _shared(sentence: str, wanted: set[str]) -> int:
    """Count the words that are tokens of the sentence; it is tokenised only where its text contains one of them."""
    folded = unicodedata.normalize("NFKC", sentence).lower()
    contained = {word for word in wanted if word in folded}
    return len(contained.intersection(lexical_tokens(sentence))) if contained else 0
