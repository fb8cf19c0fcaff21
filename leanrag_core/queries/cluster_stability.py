"""Whether clusters come back when a layer is clustered again with other seeds, a tenth of its nodes left out each time.

Layers that are small enough are clustered alike with every seed (Ward's start, exact components), so seeds alone would
call every cluster stable.
"""

from dataclasses import dataclass, replace

import numpy as np

from leanrag_core.clustering.clusters import cluster
from leanrag_core.clustering.options import ClusterOptions
from leanrag_core.types.graph import Layer, children_offsets

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
        own = below.parent[kept]
        labels = cluster(np.asarray(below.vectors[kept]), replace(options, seed=seed)).labels
        agreement.append(float(adjusted_rand_score(own, labels)))
        total += best_jaccard(own, labels, n_clusters)
        times[np.unique(own)] += 1
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
