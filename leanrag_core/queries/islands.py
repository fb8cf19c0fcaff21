"""Semantic islands of a layer: its connected components, what holds each together, and why nothing reaches it."""

from dataclasses import dataclass

import numpy as np

from leanrag_core.types.index import Index


@dataclass(frozen=True, eq=False)
class Components:
    """The connected components of a graph. labels: (n,) int, 0 for the largest component, then by falling size, of
    equal ones the one with the lowest row first. sizes: (k,) nodes of each."""

    labels: np.ndarray
    sizes: np.ndarray

    def __len__(self) -> int:
        return len(self.sizes)


@dataclass(frozen=True, eq=False)
class Surroundings:
    """What each component of a layer rests on in the layer below, all (k,): members: nodes; inside: relations between
    them; dropped: relations to members of other components, which a rule of the build did not lift."""

    members: np.ndarray
    inside: np.ndarray
    dropped: np.ndarray


def components(n_nodes: int, ends: np.ndarray) -> Components:
    """Find the connected components of n_nodes nodes. ends: (r, 2) rows that relations join."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    ends = ends.reshape(-1, 2)
    links = coo_array((np.ones(len(ends), dtype=np.int8), (ends[:, 0], ends[:, 1])), shape=(n_nodes, n_nodes))
    n_parts, labels = connected_components(links, directed=False)
    sizes = np.bincount(labels, minlength=n_parts)
    _, first = np.unique(labels, return_index=True)
    order = np.lexsort((first, -sizes))
    rank = np.empty(n_parts, dtype=np.int64)
    rank[order] = np.arange(n_parts)
    return Components(rank[labels], sizes[order])


def surroundings(index: Index, number: int, parts: Components) -> Surroundings:
    """Explain why no relation leaves a component of layer `number` (1 or higher): its members' relations end inside it.

    lambda_jk of two clusters is 0 where no relation joins a node of one with a node of the other (eq. 5).
    """
    below = index.layers[number - 1]
    part_of = parts.labels[below.parent]
    left, right = part_of[below.ends[:, 0]], part_of[below.ends[:, 1]]
    inside, crosses = left == right, left != right
    k = len(parts)
    return Surroundings(
        members=np.bincount(part_of, minlength=k),
        inside=np.bincount(left[inside], minlength=k),
        dropped=np.bincount(left[crosses], minlength=k) + np.bincount(right[crosses], minlength=k),
    )


def strongest_forest(n_nodes: int, ends: np.ndarray, strengths: np.ndarray) -> np.ndarray:
    """Return the relations of a maximum spanning forest: the fewest and strongest that keep every component whole.

    ends: (r, 2); strengths: (r,). Returns (k,) rows, ascending; of equal strengths the lower row counts.
    """
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import minimum_spanning_tree

    if not len(ends):
        return np.zeros(0, dtype=np.int64)
    order = np.argsort(-strengths.astype(np.int64), kind="stable")
    low, high = ends[order].min(axis=1).astype(np.int64), ends[order].max(axis=1).astype(np.int64)
    # Of several relations of a pair the strongest; scipy would add their weights up.
    _, first = np.unique(low * n_nodes + high, return_index=True)
    first = first[low[first] != high[first]]
    # Ranks as weights: no two are alike, so that there is one tree alone. Rank 0 would be no edge.
    links = csr_array((first + 1.0, (low[first], high[first])), shape=(n_nodes, n_nodes))
    ranks = minimum_spanning_tree(links).data.astype(np.int64) - 1
    return np.sort(order[ranks])
