"""How many candidates Chroma must name so that the true nearest are among them, measured on vectors of the layer."""

from typing import Any

import numpy as np

from leanrag_core.storage.search_files import LayerSearch
from leanrag_core.types.graph import Layer

_CANDIDATES = (64, 128, 256, 512, 1024)  # tried in this order
_RECALL = 0.99
_NEAREST = 10  # neighbours that recall counts
_SAMPLED = 100  # vectors of a layer that recall is measured on
_AT_ONCE = 20  # of them, whose products with the whole layer are in memory together


def measured_search(layer: Layer, collection: Any) -> LayerSearch:
    """The smallest number of candidates that brings the recall wanted, or the largest tried."""
    vectors = np.asarray(layer.vectors)
    alike, between = _queries(vectors)
    for n in _CANDIDATES:
        recall = min(_recall_of(collection, vectors, queries, n) for queries in (alike, between))
        if recall >= _RECALL or n >= len(vectors):
            break
    return LayerSearch(layer.number, len(vectors), n, round(recall, 4))


def _queries(vectors: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Vectors of the layer, and middles of two of them each, which are farther from all others, as questions are."""
    rows = np.unique(np.linspace(0, len(vectors) - 1, min(_SAMPLED, len(vectors))).astype(int))
    alike = vectors[rows]
    between = alike + alike[np.random.default_rng(0).permutation(len(rows))]
    lengths = np.linalg.norm(between, axis=1, keepdims=True)
    return alike, np.where(lengths > 1e-3, between / np.maximum(lengths, 1e-3), alike)


def _recall_of(collection: Any, vectors: np.ndarray, queries: np.ndarray, n: int) -> float:
    """Share of the queries' true ten nearest among the n candidates; of equally near ones any will do."""
    wanted = min(_NEAREST, len(vectors))
    found = collection.query(query_embeddings=list(queries), n_results=min(n, len(vectors)), include=[])["ids"]
    hits = 0
    for start in range(0, len(queries), _AT_ONCE):
        scores = queries[start : start + _AT_ONCE] @ vectors.T
        floor = np.partition(scores, len(vectors) - wanted, axis=1)[:, len(vectors) - wanted] - 1e-6
        for place, ids in enumerate(found[start : start + _AT_ONCE]):
            hits += min(wanted, int((scores[place, np.array(ids, dtype=int)] >= floor[place]).sum()))
    return hits / (wanted * len(queries))
