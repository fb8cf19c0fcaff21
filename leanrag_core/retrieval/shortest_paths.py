"""Shortest paths between two nodes of a large graph, by breadth-first search from both ends."""

from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:  # scipy takes a tenth of a second to import
    from scipy.sparse import csr_array


def shortest_path(adjacency: "csr_array", source: int, target: int, *, most_hops: int) -> list[int]:
    """The nodes of a path with the fewest edges, source first; empty when there is none of at most so many edges.

    adjacency: (n, n), symmetric. Of several shortest paths the same one is taken each time. From both ends in turn, so
    that a few hundred nodes are looked at where all nodes would be from one end (scipy.sparse.csgraph visits them all).
    """
    if source == target:
        return [source]
    parents = [np.full(adjacency.shape[0], -1, dtype=np.int64) for _ in range(2)]
    frontiers = [np.array([source]), np.array([target])]
    for side, node in enumerate((source, target)):
        parents[side][node] = node
    for _ in range(most_hops):
        side = int(len(frontiers[1]) < len(frontiers[0]))
        own, other = parents[side], parents[1 - side]
        nodes, origins = _neighbours(adjacency, frontiers[side])
        new = own[nodes] < 0
        nodes, origins = nodes[new], origins[new]
        reached, first = np.unique(nodes, return_index=True)
        own[reached] = origins[first]
        meeting = reached[other[reached] >= 0]
        if len(meeting):
            node = int(meeting[0])
            ways = [_back(parents[end], node) for end in range(2)]
            return [*reversed(ways[0]), *ways[1][1:]]
        frontiers[side] = reached
        if not len(reached):
            return []
    return []


def _neighbours(adjacency: "csr_array", frontier: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The neighbours of those nodes, and from which of them each is reached."""
    starts = adjacency.indptr[frontier].astype(np.int64)
    counts = adjacency.indptr[frontier + 1] - starts
    places = np.arange(int(counts.sum())) + np.repeat(starts - np.cumsum(counts) + counts, counts)
    return adjacency.indices[places].astype(np.int64), np.repeat(frontier, counts)


def _back(parents: np.ndarray, node: int) -> list[int]:
    """From the node to the end that its side began at."""
    way = [node]
    while parents[way[-1]] != way[-1]:
        way.append(int(parents[way[-1]]))
    return way


def path_through(adjacency: "csr_array", stops: list[int], *, most_hops: int) -> list[list[int]]:
    """Shortest paths from each stop to the next, in that order; none where two stops are too far apart. A stop that an
    earlier path has crossed is not left out, since the next path begins there."""
    ways = (shortest_path(adjacency, stop, following, most_hops=most_hops) for stop, following in pairwise(stops))
    return [way for way in ways if way]
