"""Clusters of an index: how good they are, how far two indexes agree on them, how stable they are."""

from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa

from leanrag_core.clustering.clusters import cluster
from leanrag_core.clustering.options import ClusterOptions
from leanrag_core.queries.islands import inside_and_leaving
from leanrag_core.types.graph import Layer, children_offsets
from leanrag_core.types.index import Index

_MOST_OVERLAPS = 200  # pairs of clusters of two indexes that are listed
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


def known_number(value: float) -> float | None:
    """Return the conductance or the stability of a cluster as it is shown and written; None for NaN."""
    return None if np.isnan(value) else round(float(value), 4)


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

    vectors: (n, d) unit rows. offsets: (m + 1,); cluster j holds the nodes order[offsets[j] : offsets[j + 1]], order:
    (n,). Clusters are read in blocks, so that the vectors of a large index stay in their file.
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
        cluster_of = np.repeat(np.arange(last - first), np.diff(offsets[first : last + 1]))
        cosines[rows] = np.einsum("ij,ij->i", block, means[cluster_of])
        first = last
    return cosines


def _conductance(ends: np.ndarray, parent: np.ndarray, m: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Count the relations inside and leaving each cluster, and compute its conductance; (m,) each, float64 for the
    last.

    ends: (r, 2) rows. parent: (n,) cluster of each node.
    """
    inside, leaving = inside_and_leaving(ends, parent, m)
    volume = 2 * inside + leaving
    smaller = np.minimum(volume, volume.sum() - volume)
    return inside, leaving, np.divide(leaving, smaller, out=np.full(m, np.nan), where=smaller > 0)


@dataclass(frozen=True)
class SharedCluster:
    """A cluster of the one index and one of the other with entities in common. here, there: rows of their layers;
    n_here, n_there: entities of each that both indexes have; shared: those in both clusters."""

    here: int
    there: int
    shared: int
    n_here: int
    n_there: int


@dataclass(frozen=True)
class ClusterOverlap:
    """Clusters of two indexes. common: base entities of both; only_here, only_there: of one alone. by_name: matched by
    name, since no id is shared. adjusted_rand: Hubert and Arabie (1985), 1 for equal clusters, about 0 for chance;
    mutual_information: normalised by the mean entropy. rows: pairs of clusters, most shared entities first."""

    common: int
    only_here: int
    only_there: int
    by_name: bool
    adjusted_rand: float
    mutual_information: float
    rows: tuple[SharedCluster, ...]
    n_pairs: int


def cluster_overlap(index: Index, number: int, other: Index, other_number: int) -> ClusterOverlap | None:
    """Return the clusters of layer `number` of an index and of layer `other_number` of another one, both 1 or higher,
    as sets of base entities; None where the indexes have no entity in common. rows: the largest overlaps.
    """
    from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score

    by_name = False
    rows, other_rows = _matched(index.layers[0].entities["id"], other.layers[0].entities["id"])
    if not len(rows):
        by_name = True
        rows, other_rows = _matched(index.layers[0].plain_names, other.layers[0].plain_names)
    if not len(rows):
        return None
    labels = index.lifted(rows, 0, number)
    other_labels = other.lifted(other_rows, 0, other_number)
    pairs, shared = np.unique(np.stack([labels, other_labels], axis=1), axis=0, return_counts=True)
    n_ours, n_theirs = np.bincount(labels), np.bincount(other_labels)
    order = np.lexsort((pairs[:, 1], pairs[:, 0], -shared))[:_MOST_OVERLAPS]
    return ClusterOverlap(
        common=len(rows),
        only_here=len(index.layers[0]) - len(rows),
        only_there=len(other.layers[0]) - len(other_rows),
        by_name=by_name,
        adjusted_rand=float(adjusted_rand_score(labels, other_labels)),
        mutual_information=float(normalized_mutual_info_score(labels, other_labels)),
        rows=tuple(
            SharedCluster(int(a), int(b), int(n), int(n_ours[a]), int(n_theirs[b]))
            for (a, b), n in zip(pairs[order], shared[order], strict=True)
        ),
        n_pairs=len(pairs),
    )


def _matched(values: pa.ChunkedArray, other_values: pa.ChunkedArray) -> tuple[np.ndarray, np.ndarray]:
    """Return the rows of equal values in both columns, two arrays of (k,) int64.

    Where a value occurs twice in a column, its first row counts.
    """
    import pyarrow.compute as pc

    place = pc.fill_null(pc.index_in(values, value_set=other_values.combine_chunks()), -1).to_numpy()
    rows = np.flatnonzero(place >= 0)
    _, first = np.unique(place[rows], return_index=True)
    rows = rows[np.sort(first)]
    return rows, place[rows]


SEEDS = (1, 2, 3, 4)
LEFT_OUT = 0.1  # of the nodes, in each run
MOST_NODES = 3000  # that are clustered again at a time; larger layers are sampled


@dataclass(frozen=True, eq=False)
class ClusterStability:
    """The clusters of a layer against those of other seeds. n_nodes: nodes that were clustered again, of n_total.

    agreement: for each seed the adjusted Rand index with the clusters of the index, on the nodes that were not left
    out. stability: (m,) for each cluster the Jaccard coefficient with the cluster most like it, on average over the
    seeds; 1 where it always came back whole, NaN for a cluster outside the sample. Source: Hennig, Cluster-wise
    assessment of cluster stability (2007).
    """

    seeds: tuple[int, ...]
    n_nodes: int
    n_total: int
    agreement: tuple[float, ...]
    stability: np.ndarray


def cluster_stability(
    below: Layer,
    n_clusters: int,
    options: ClusterOptions,
    *,
    seeds: tuple[int, ...] = SEEDS,
    most_nodes: int = MOST_NODES,
) -> ClusterStability:
    """Compare the layer's clusters (below.parent) with those that the same options give with other seeds.

    A layer of more nodes than most_nodes is sampled by whole clusters, drawn evenly: the clusters that are left out
    cannot take members, so the sample looks somewhat more stable than the layer is.
    """
    from sklearn.metrics import adjusted_rand_score

    rows = _sampled(below.parent, n_clusters, most_nodes)
    agreement, total, times = [], np.zeros(n_clusters), np.zeros(n_clusters)
    for seed in seeds:
        kept = rows[np.random.default_rng([seed, len(rows)]).random(len(rows)) >= LEFT_OUT]
        if not len(kept):
            continue
        index_labels = below.parent[kept]
        labels = cluster(np.asarray(below.vectors[kept]), replace(options, seed=seed)).labels
        agreement.append(float(adjusted_rand_score(index_labels, labels)))
        total += best_jaccard(index_labels, labels, n_clusters)
        times[np.unique(index_labels)] += 1
    stability = np.divide(total, times, out=np.full(n_clusters, np.nan), where=times > 0)
    return ClusterStability(tuple(seeds), len(rows), len(below), tuple(agreement), stability)


def best_jaccard(own: np.ndarray, labels: np.ndarray, n_clusters: int) -> np.ndarray:
    """Return for each cluster of `own` the largest |A and B| / |A or B| over the clusters B of `labels`, (n_clusters,)
    float64.

    It is 0 for one without nodes. own, labels: (n,) int.
    """
    pairs, shared = np.unique(np.stack([own, labels], axis=1), axis=0, return_counts=True)
    sizes, others = np.bincount(own, minlength=n_clusters), np.bincount(labels)
    jaccard = shared / (sizes[pairs[:, 0]] + others[pairs[:, 1]] - shared)
    best = np.zeros(n_clusters)
    np.maximum.at(best, pairs[:, 0], jaccard)
    return best


def _sampled(parent: np.ndarray, n_clusters: int, most_nodes: int) -> np.ndarray:
    """Return the rows of all nodes, or of evenly drawn whole clusters with about most_nodes nodes together.

    parent: (n,) cluster of each node. Returns (k,) int, ascending.
    """
    if len(parent) <= most_nodes:
        return np.arange(len(parent))
    offsets, order = children_offsets(parent, n_clusters)
    drawn = np.random.default_rng([len(parent), n_clusters]).permutation(n_clusters)
    kept = drawn[np.cumsum(np.diff(offsets)[drawn]) <= most_nodes]
    kept = kept if len(kept) else drawn[:1]
    return np.sort(np.concatenate([order[offsets[row] : offsets[row + 1]] for row in kept]))
