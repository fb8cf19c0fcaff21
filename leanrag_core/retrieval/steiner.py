"""The subgraph that joins prized nodes at the least cost, nodes that are not worth their way left out.

Few nodes have a prize, so their subsets are tried: of each a tree over shortest paths, which costs at most twice the
best one (Takahashi and Matsuyama 1980). Known exact solvers are under the GPL.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations, pairwise
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:  # scipy takes a tenth of a second to import
    from scipy.sparse import csr_array

_MOST_TERMINALS = 10
_LONGEST_WAY = 12  # edges


@dataclass(frozen=True)
class Steiner:
    """nodes: of the tree, ascending. edges: pairs of nodes, ascending. worth: prizes of its nodes less its cost."""

    nodes: tuple[int, ...]
    edges: tuple[tuple[int, int], ...]
    worth: float


@dataclass(frozen=True)
class _Tree:
    nodes: frozenset[int]
    edges: frozenset[tuple[int, int]]


def prize_collecting_tree(adjacency: "csr_array", prizes: Mapping[int, float], *, edge_cost: float) -> Steiner:
    """A tree with nearly the largest sum of prizes less edge_cost for each edge; of equal ones that with more prizes.

    adjacency: (n, n) sparse and symmetric; its weights do not count. prizes: of nodes, above 0; the ten largest count.
    """
    terminals = sorted(prizes, key=lambda node: (-prizes[node], node))[:_MOST_TERMINALS]
    if not terminals:
        return Steiner((), (), 0.0)
    # A way that costs more than all prizes but the largest is never worth it.
    others = sum(prizes[node] for node in terminals[1:])
    reach = min(_LONGEST_WAY, int(others / edge_cost))
    distances = hop_distances(adjacency, np.array(terminals), reach)
    best: tuple[float, float, tuple[int, ...], _Tree] | None = None
    for size in range(1, len(terminals) + 1):
        for chosen in combinations(range(len(terminals)), size):
            tree = _joining_tree(adjacency, distances, terminals, chosen)
            if tree is None:
                continue
            prize = sum(prizes.get(node, 0.0) for node in tree.nodes)
            key = (prize - edge_cost * len(tree.edges), prize, tuple(-terminals[place] for place in chosen))
            if best is None or key > best[:3]:
                best = (*key, tree)
    assert best is not None  # each terminal alone is a tree
    return Steiner(tuple(sorted(best[3].nodes)), tuple(sorted(best[3].edges)), best[0])


def hop_distances(adjacency: "csr_array", sources: np.ndarray, reach: int) -> np.ndarray:
    """(len(sources), n) int32: edges from each source to each node, -1 beyond the reach.

    All sources go a hop at a time, by one sparse product.
    """
    n, k = adjacency.shape[0], len(sources)
    distances = np.full((k, n), -1, dtype=np.int32)
    distances[np.arange(k), sources] = 0
    pattern = adjacency.copy()
    pattern.data = np.ones_like(pattern.data)
    frontier = (distances == 0).T.astype(np.float32)
    for hop in range(1, reach + 1):
        reached = ((pattern @ frontier) > 0).T & (distances < 0)
        if not reached.any():
            break
        distances[reached] = hop
        frontier = reached.T.astype(np.float32)
    return distances


def _joining_tree(
    adjacency: "csr_array", distances: np.ndarray, terminals: list[int], chosen: tuple[int, ...]
) -> _Tree | None:
    """The chosen terminals, each joined by a shortest path to the nearest node of the tree so far, the nearest terminal
    first; None when they are not joined within the reach."""
    nodes, edges = {terminals[chosen[0]]}, set[tuple[int, int]]()
    outside = list(chosen[1:])
    while outside:
        ways = [(int(distances[place, node]), place, node) for place in outside for node in sorted(nodes)]
        reached = [way for way in ways if way[0] >= 0]
        if not reached:
            return None
        _, place, node = min(reached)
        path = _path(adjacency, distances[place], node)
        nodes |= set(path)
        edges |= {(min(pair), max(pair)) for pair in pairwise(path)}
        outside.remove(place)
    return _Tree(frozenset(nodes), frozenset(edges))


def _path(adjacency: "csr_array", distances: np.ndarray, target: int) -> list[int]:
    """A shortest path from the source of the distances to the target, by the smallest node at each step back."""
    path = [target]
    while distances[path[-1]] > 0:
        node = path[-1]
        neighbours = adjacency.indices[adjacency.indptr[node] : adjacency.indptr[node + 1]]
        nearer = neighbours[distances[neighbours] == distances[node] - 1]
        path.append(int(nearer.min()))
    return path[::-1]
