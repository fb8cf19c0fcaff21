"""How good the clusters of a layer are: size, cohesion, oddest member, conductance."""

from dataclasses import dataclass

import numpy as np

from leanrag_core.types.graph import children_offsets
from leanrag_core.types.index import Index

_ROWS_AT_ONCE = 20_000  # vectors in memory at a time


@dataclass(frozen=True, eq=False)
class ClusterQuality:
    """The clusters that make layer `layer`, in its rows: all arrays (m,).

    sizes: members, nodes of the layer below. cohesion: mean cosine of the members to the unit mean of their vectors,
    1 for a cluster of one. oddest: row, in the layer below, of the member farthest from that mean, and oddest_cosine.
    inside: relations of the layer below between members; leaving: those with one end in the cluster. conductance:
    leaving / min(volume, volume of all other nodes), a volume being the ends of relations in it; 0 is a closed cluster,
    1 one without relations of its own; NaN where the cluster, or all that is outside it, has no relation.
    Source: Kannan, Vempala, Vetta, On clusterings (2004), for conductance.
    """

    layer: int
    sizes: np.ndarray
    cohesion: np.ndarray
    oddest: np.ndarray
    oddest_cosine: np.ndarray
    inside: np.ndarray
    leaving: np.ndarray
    conductance: np.ndarray

    def __len__(self) -> int:
        return len(self.sizes)


def cluster_quality(index: Index, number: int) -> ClusterQuality:
    """Measure the clusters of layer number - 1, which the nodes of layer `number` (1 or higher) stand for."""
    below, m = index.layers[number - 1], len(index.layers[number])
    offsets, order = children_offsets(below.parent, m)
    cosines = _cosines_to_mean(below.vectors, offsets, order)
    labels = below.parent[order]
    cohesion = np.bincount(labels, weights=cosines, minlength=m) / np.maximum(np.diff(offsets), 1)
    by_oddness = np.lexsort((order, cosines, labels))  # the member with the lowest cosine comes first in its cluster
    firsts = by_oddness[offsets[:-1]]
    inside, leaving, conductance = _conductance(below.ends, below.parent, m)
    return ClusterQuality(
        layer=number,
        sizes=np.diff(offsets),
        cohesion=np.minimum(cohesion, 1.0),
        oddest=order[firsts],
        oddest_cosine=cosines[firsts],
        inside=inside,
        leaving=leaving,
        conductance=conductance,
    )


def _cosines_to_mean(vectors: np.ndarray, offsets: np.ndarray, order: np.ndarray) -> np.ndarray:
    """Return the cosine of each node to the mean of its cluster, in the order of `order`; (n,) float64.

    vectors: (n, d) unit rows. Clusters are read in blocks, so that the vectors of a large index stay in their file.
    """
    cosines = np.ones(len(order))
    m, first = len(offsets) - 1, 0
    while first < m:
        last = int(np.searchsorted(offsets, offsets[first] + _ROWS_AT_ONCE, side="right")) - 1
        last = min(max(last, first + 1), m)
        rows = slice(int(offsets[first]), int(offsets[last]))
        block = np.asarray(vectors[order[rows]], dtype=np.float32)
        starts = (offsets[first:last] - offsets[first]).astype(np.int64)
        means = np.add.reduceat(block, starts, axis=0)
        lengths = np.linalg.norm(means, axis=1, keepdims=True)
        means /= np.where(lengths > 0, lengths, 1)
        of = np.repeat(np.arange(last - first), np.diff(offsets[first : last + 1]))
        cosines[rows] = np.einsum("ij,ij->i", block, means[of])
        first = last
    return cosines


def _conductance(ends: np.ndarray, parent: np.ndarray, m: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Count the relations inside and leaving each cluster, and compute its conductance; (m,) each, float64 for the
    last.

    ends: (r, 2) rows. parent: (n,) cluster of each node. Each relation counts once, whatever its weight, as in lambda.
    """
    left, right = parent[ends[:, 0]], parent[ends[:, 1]]
    same = left == right
    inside = np.bincount(left[same], minlength=m)
    leaving = np.bincount(left[~same], minlength=m) + np.bincount(right[~same], minlength=m)
    volume = 2 * inside + leaving
    smaller = np.minimum(volume, volume.sum() - volume)
    return inside, leaving, np.divide(leaving, smaller, out=np.full(m, np.nan), where=smaller > 0)
