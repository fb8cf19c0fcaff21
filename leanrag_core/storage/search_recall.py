"""How many of the true ten nearest an approximate search finds, on vectors of the layer and points between them."""

from collections.abc import Sequence

import numpy as np

RECALL = 0.99  # wanted share of the true ten nearest
_NEAREST = 10  # neighbours that recall counts
_SAMPLED = 100  # vectors of a layer that recall is measured on
_PRODUCTS_OF = 20  # of them, whose products with the whole layer are in memory together
_EQUALLY_NEAR = 1e-6


def search_queries(vectors: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return vectors of the layer, (q, d), and midpoints of pairs of them, (q, d), which are farther from all others,
    as questions are. vectors: (n, d)."""
    rows = np.unique(np.linspace(0, len(vectors) - 1, min(_SAMPLED, len(vectors))).astype(int))
    sampled = vectors[rows]
    between = sampled + sampled[np.random.default_rng(0).permutation(len(rows))]
    lengths = np.linalg.norm(between, axis=1, keepdims=True)
    return sampled, np.where(lengths > 1e-3, between / np.maximum(lengths, 1e-3), sampled)


def floors_of(vectors: np.ndarray, queries: np.ndarray) -> np.ndarray:
    """Return (q,), the score that a vector needs to be among the ten nearest of each query. vectors: (n, d). queries:
    (q, d)."""
    last = len(vectors) - min(_NEAREST, len(vectors))
    blocks = [queries[start : start + _PRODUCTS_OF] @ vectors.T for start in range(0, len(queries), _PRODUCTS_OF)]
    return np.concatenate([np.partition(scores, last, axis=1)[:, last] for scores in blocks]) - _EQUALLY_NEAR


def recall_of(candidates: Sequence[np.ndarray], vectors: np.ndarray, queries: np.ndarray, floors: np.ndarray) -> float:
    """Return the share of the queries' ten nearest among their candidates; of equally near ones any will do.

    candidates: (k,) rows for each query. vectors: (n, d). queries: (q, d). floors: (q,), see floors_of().
    """
    wanted = min(_NEAREST, len(vectors))
    hits = sum(
        min(wanted, int((vectors[rows] @ query >= floor).sum()))
        for rows, query, floor in zip(candidates, queries, floors, strict=True)
    )
    return hits / (wanted * len(queries))
