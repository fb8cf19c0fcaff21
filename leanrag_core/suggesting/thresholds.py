"""tau: how many relations would be summarised, and what these alone would connect."""

import numpy as np

from leanrag_core.indexing.aggregation.relations import group_relations
from leanrag_core.queries.islands import best_tau
from leanrag_core.types.suggestion import LambdaQuantile, TauEvidence

_TAUS = (0, 1, 2, 3, 4, 5, 6, 8, 10, 13, 16, 20, 25, 32, 40, 50, 64, 80, 100)
_QUANTILES = (0.25, 0.5, 0.75, 0.9, 0.95, 1.0)


class Thresholds:
    """The pairs of clusters that relations of layer 0 join, by lambda.

    ends: (r, 2) rows of layer 0. labels: (n,) the cluster of each entity.
    """

    def __init__(self, ends: np.ndarray, labels: np.ndarray) -> None:
        """Group the relations by pairs of clusters. ends: (r, 2) int rows of layer 0. labels: (n,) int."""
        self.n_clusters = int(labels.max()) + 1
        groups = group_relations(ends, np.ones(len(ends), dtype=np.float32), labels, self.n_clusters)
        self.strength = groups.strength
        self.pairs = np.stack([groups.left, groups.right], axis=1)

    def quantiles(self) -> tuple[LambdaQuantile, ...]:
        """Return quantiles of lambda; none without pairs."""
        if not len(self.strength):
            return ()
        return tuple(LambdaQuantile(share, float(np.quantile(self.strength, share))) for share in _QUANTILES)

    def tried(self) -> tuple[TauEvidence, ...]:
        """Return the evidence for each tau from 0 up to the first above which no relation is left."""
        rows = []
        for tau in _TAUS:
            kept = self.strength > tau
            rows.append(TauEvidence(tau, int(kept.sum()), round(self._connected(self.pairs[kept]), 4)))
            if not kept.any():
                break
        return tuple(rows)

    def best(self, tried: tuple[TauEvidence, ...]) -> TauEvidence:
        """Return the one of these taus that best_tau() chooses."""
        return best_tau(tried, self.n_clusters)

    def _connected(self, pairs: np.ndarray) -> float:
        """Return the share of clusters in the largest connected part. pairs: (p, 2) int clusters that are linked."""
        from scipy.sparse import coo_array
        from scipy.sparse.csgraph import connected_components

        n = self.n_clusters
        links = coo_array((np.ones(len(pairs), dtype=np.int8), (pairs[:, 0], pairs[:, 1])), shape=(n, n))
        _, parts = connected_components(links, directed=False)
        return float(np.bincount(parts).max() / n)
