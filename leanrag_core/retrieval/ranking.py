"""Nearest rows of a matrix of unit vectors, and nearest base entities."""

from dataclasses import dataclass

import numpy as np

from leanrag_core.retrieval.tools import Tools
from leanrag_core.retrieval.vector_search import Nearest, cosines, nearest, rank
from leanrag_core.types.index import Index


@dataclass(frozen=True, eq=False)
class Ranked:
    """rows: (k,) int64, best first, ties by row. scores: (k,) float32, cosines."""

    rows: np.ndarray
    scores: np.ndarray


def nearest_rows(vectors: np.ndarray, vector: np.ndarray, k: int, *, at_least: float = -1.0) -> Ranked:
    """The k rows nearest to the vector, of those with that cosine or a higher one.

    vectors: (n, d) float32 unit rows. vector: (d,) float32, unit length.
    """
    if not len(vectors):
        return Ranked(np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.float32))
    rows, scores = rank(np.arange(len(vectors)), cosines(vectors, vector), k)
    kept = scores >= at_least
    return Ranked(rows[kept], scores[kept])


def nearest_entities(index: Index, vector: np.ndarray, k: int, tools: Tools) -> Nearest:
    """The k base entities nearest to the vector: exact, or by the search index where the layer is large."""
    return nearest(index, index.layers[0], vector, k, searches=tools.searches)
