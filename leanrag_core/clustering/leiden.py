"""Hierarchical Leiden communities of a graph, by graspologic-native."""

from dataclasses import dataclass

import numpy as np

from leanrag_core.types.graph import component_of_each

RESOLUTION, RANDOMNESS, ITERATIONS = 1.0, 0.001, 1  # graspologic's defaults, which GraphRAG leaves as they are


@dataclass(frozen=True, eq=False)
class CommunityTree:
    """Communities of all levels, by level and then by their smallest node.

    level: (m,) int32, 0 for the roots. parent: (m,) int32, the community that was split into this one, -1 for a root.
    offsets: (m + 1,) int32. The nodes of community c are nodes[offsets[c] : offsets[c + 1]], int32, ascending.
    """

    level: np.ndarray
    parent: np.ndarray
    offsets: np.ndarray
    nodes: np.ndarray

    def __len__(self) -> int:
        return len(self.level)

    def nodes_of(self, community: int) -> np.ndarray:
        """Return the nodes of that community, ascending; (k,) int32."""
        return self.nodes[self.offsets[community] : self.offsets[community + 1]]


EMPTY = CommunityTree(*(np.zeros(size, dtype=np.int32) for size in (0, 0, 1, 0)))


def hierarchical_communities(
    ends: np.ndarray, weights: np.ndarray, *, max_size: int, seed: int, largest_component: bool
) -> CommunityTree:
    """Return the Leiden communities; each with more than max_size nodes is split again until none can be split.

    ends: (r, 2) int, the nodes of each edge. weights: (r,). largest_component: nodes outside of the largest connected
    component are in no community, as are nodes without an edge in any case. The same edges give the same communities.
    Source: Traag, Waltman, van Eck 2019; recursive as in GraphRAG, section 3.1.4.
    """
    from graspologic_native import hierarchical_leiden

    if largest_component:
        in_largest = _in_largest_component(ends)
        ends, weights = ends[in_largest], weights[in_largest]
    if not len(ends):
        return EMPTY
    order = np.lexsort((ends[:, 1], ends[:, 0]))
    edges = [
        (str(source), str(target), float(weight))
        for (source, target), weight in zip(ends[order].tolist(), weights[order].tolist(), strict=True)
    ]
    entries = hierarchical_leiden(edges, None, RESOLUTION, RANDOMNESS, ITERATIONS, True, max_size, seed)
    columns = [(int(entry.node), entry.cluster, entry.level, _or_none(entry.parent_cluster)) for entry in entries]
    node, cluster, level, parent = np.array(columns, dtype=np.int64).T
    return _tree(node, cluster, level, parent)


def _or_none(cluster: int | None) -> int:
    return -1 if cluster is None else cluster


def _in_largest_component(ends: np.ndarray) -> np.ndarray:
    """Return for each edge whether it is in the component with most nodes, of equal ones that of the smallest node;
    (r,) bool.

    ends: (r, 2) int.
    """
    if not len(ends):
        return np.zeros(0, dtype=bool)
    labels = component_of_each(int(ends.max()) + 1, ends)
    return np.asarray(labels[ends[:, 0]] == np.bincount(labels).argmax())


def _tree(node: np.ndarray, cluster: np.ndarray, level: np.ndarray, parent: np.ndarray) -> CommunityTree:
    """Return the tree of these entries, one for a node in a community of a level; each array is (entries,) int64."""
    order = np.lexsort((node, cluster))
    node, cluster, level, parent = node[order], cluster[order], level[order], parent[order]
    ids, first, sizes = np.unique(cluster, return_index=True, return_counts=True)
    ranked = np.lexsort((node[first], level[first]))  # of the communities
    row_of = np.full(int(ids.max()) + 2, -1, dtype=np.int32)  # the last one is found by -1, which no community has
    row_of[ids[ranked]] = np.arange(len(ids), dtype=np.int32)
    nodes = np.concatenate(
        [node[start : start + size] for start, size in zip(first[ranked], sizes[ranked], strict=True)]
    )
    return CommunityTree(
        level[first][ranked].astype(np.int32),
        row_of[parent[first][ranked]],
        np.concatenate([[0], np.cumsum(sizes[ranked])]).astype(np.int32),
        nodes.astype(np.int32),
    )
