"""Clusters of the layers of an updated index, started from those of the index before, layer by layer."""

from collections.abc import Sequence

import numpy as np

from leanrag_core.clustering.options import Clustering, ClusterOptions, n_components
from leanrag_core.clustering.refit import PreviousClusters, refit
from leanrag_core.indexing.aggregation.hierarchy import fresh_clusters
from leanrag_core.types.graph import Layer
from leanrag_core.types.rows import RowOf
from leanrag_core.types.settings import Apply

_SAME_MEANING = 0.5  # cosine of two descriptions of an entity, below which it is grouped like a new one


class Regrouping:
    """Groups each layer of a hierarchy that takes the place of another one; called once a layer, from the base up.

    before: the layers that the index had. rows_before: for each new layer so far, the row that each of its nodes had in
    the same layer before, -1 for a new one. A node above the base has the row of the cluster that it shares most
    members with; two nodes never have the same one.
    """

    def __init__(self, before: Sequence[Layer]) -> None:
        self._before = before
        self.rows_before: list[np.ndarray] = []
        self._labels: list[np.ndarray] = []

    def __call__(self, below: Layer, options: ClusterOptions, apply: Apply) -> Clustering:
        rows = self._base_rows(below) if below.number == 0 else self._aggregated_rows(len(below))
        self.rows_before.append(rows)
        clustered = self._clustered(below, rows, options, apply)
        self._labels.append(clustered.labels)
        return clustered

    def finish(self, layers: Sequence[Layer]) -> None:
        """Add the former row of the root, which is not grouped."""
        if len(layers) > 1:
            self._labels[-1] = layers[-2].parent
            self.rows_before.append(self._aggregated_rows(len(layers[-1])))
        else:
            self.rows_before.append(self._base_rows(layers[0]))

    def _clustered(self, below: Layer, rows: np.ndarray, options: ClusterOptions, apply: Apply) -> Clustering:
        """Cluster the layer, from its former clusters where it had any. rows: (n,) int64, former rows, -1 for a new
        node.
        """
        number = below.number
        has_clusters = number + 2 < len(self._before)  # those of the last layer but one are the root alone
        if n_components(len(below), options.cluster_size) == 1 or not has_clusters:
            return fresh_clusters(below, options, apply)
        before = self._before[number]
        known = rows >= 0
        if number == 0:
            cosine = np.einsum("ij,ij->i", below.vectors[known], np.asarray(before.vectors)[rows[known]])
            rows = rows.copy()
            rows[np.flatnonzero(known)[cosine < _SAME_MEANING]] = -1
        if not (rows >= 0).any():
            return fresh_clusters(below, options, apply)
        previous = PreviousClusters(np.asarray(before.vectors), np.asarray(before.parent))
        return refit(below.vectors, previous, rows, options, below.ends)

    def _base_rows(self, base: Layer) -> np.ndarray:
        """Return the former rows of the base entities, (n,) int64, -1 for a new one."""
        row_of = RowOf(self._before[0].entities["id"])
        return np.array([row_of.get(id_, -1) for id_ in base.entities["id"].to_pylist()], dtype=np.int64)

    def _aggregated_rows(self, n: int) -> np.ndarray:
        """Return the former rows of the nodes over the last grouped layer, (n,) int64, -1 for a new node."""
        number = len(self.rows_before)
        rows = np.full(n, -1, dtype=np.int64)
        if number >= len(self._before):
            return rows
        members, labels = self.rows_before[-1], self._labels[-1]
        known = members >= 0
        n_before = len(self._before[number])
        pairs = labels[known].astype(np.int64) * n_before + np.asarray(self._before[number - 1].parent)[members[known]]
        shared, counts = np.unique(pairs, return_counts=True)
        taken = np.zeros(n_before, dtype=bool)
        for place in np.argsort(-counts, kind="stable").tolist():
            node, row = divmod(int(shared[place]), n_before)
            if rows[node] < 0 and not taken[row]:
                rows[node], taken[row] = row, True
        return rows
