"""How many candidates Chroma must return so that the true nearest are among them, measured on vectors of the layer."""

from typing import Any

import numpy as np

from leanrag_core.types.graph import Layer
from leanrag_core.types.manifest import LayerSearch

RECALL = 0.99  # wanted share of the true ten nearest
_CANDIDATES = (64, 128, 256, 512, 1024)  # tried in this order
_NEAREST = 10  # neighbours that recall counts
_SAMPLED = 100  # vectors of a layer that recall is measured on
_PRODUCTS_OF = 20  # of them, whose products with the whole layer are in memory together


def measured_search(layer: Layer, collection: Any, wanted: float = RECALL) -> LayerSearch:
    """The smallest number of candidates that reaches the wanted recall, or the largest tried."""
    vectors = np.asarray(layer.vectors)
    sampled, between = _queries(vectors)
    for n in _CANDIDATES:
        recall = min(_recall_of(collection, vectors, queries, n) for queries in (sampled, between))
        if recall >= wanted or n >= len(vectors):
            break
    return LayerSearch(layer.number, len(vectors), n, round(recall, 4))


def _queries(vectors: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Vectors of the layer, and midpoints of pairs of them, which are farther from all others, as questions are."""
    rows = np.unique(np.linspace(0, len(vectors) - 1, min(_SAMPLED, len(vectors))).astype(int))
    sampled = vectors[rows]
    between = sampled + sampled[np.random.default_rng(0).permutation(len(rows))]
    lengths = np.linalg.norm(between, axis=1, keepdims=True)
    return sampled, np.where(lengths > 1e-3, between / np.maximum(lengths, 1e-3), sampled)


def _recall_of(collection: Any, vectors: np.ndarray, queries: np.ndarray, n: int) -> float:
    """Share of the queries' true ten nearest among the n candidates; of equally near ones any will do."""
    wanted = min(_NEAREST, len(vectors))
    reply = collection.query(query_embeddings=list(queries), n_results=min(n, len(vectors)), include=[])
    candidates = reply["ids"]
    hits = 0
    for start in range(0, len(queries), _PRODUCTS_OF):
        scores = queries[start : start + _PRODUCTS_OF] @ vectors.T
        floor = np.partition(scores, len(vectors) - wanted, axis=1)[:, len(vectors) - wanted] - 1e-6
        for row, ids in enumerate(candidates[start : start + _PRODUCTS_OF]):
            hits += min(wanted, int((scores[row, np.array(ids, dtype=int)] >= floor[row]).sum()))
    return hits / (wanted * len(queries))
