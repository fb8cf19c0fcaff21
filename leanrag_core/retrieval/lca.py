"""The smallest subtree that joins the seeds (eq. 7-8), by parent arrays; all seeds at once, or pair by pair."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from leanrag_core.errors import InvalidConfig
from leanrag_core.retrieval.vector_search import cosines_of_each

Node = tuple[int, int]  # (layer, row)


@dataclass(frozen=True)
class Subtree:
    """tops: the lowest common ancestors, the highest layer first; a single one unless pairs were chosen. nodes: all
    nodes on the paths, layer by layer, rows ascending. parent: each node's parent within the subtree; tops have none.
    """

    tops: tuple[Node, ...]
    nodes: tuple[Node, ...]
    parent: dict[Node, Node]

    @property
    def top(self) -> Node:
        """Return the highest of the lowest common ancestors."""
        return self.tops[0]


def lca_subtree(parents: Sequence[np.ndarray], seeds: Sequence[Node]) -> Subtree:
    """Return the union of the shortest tree paths from each seed to the lowest common ancestor of all.

    parents: one (n_i,) int array a layer, row in the layer above. seeds: (layer, row), any layers, at least one.
    One seed is its own path. Cost: number of seeds times height. Raises InvalidConfig without seeds.
    """
    if not seeds:
        raise InvalidConfig("leanrag.no_seeds")
    waiting: dict[int, set[int]] = {}
    for layer, row in seeds:
        waiting.setdefault(layer, set()).add(row)
    layer, last_seeded = min(waiting), max(waiting)
    active: set[int] = set()
    visited: list[Node] = []
    parent: dict[Node, Node] = {}
    while True:
        active |= waiting.get(layer, set())
        visited += [(layer, row) for row in sorted(active)]
        if len(active) == 1 and layer >= last_seeded:
            return Subtree(tops=((layer, next(iter(active))),), nodes=tuple(visited), parent=parent)
        above: set[int] = set()
        for row in active:
            up = int(parents[layer][row])
            parent[(layer, row)] = (layer + 1, up)
            above.add(up)
        active, layer = above, layer + 1


def pairwise_subtree(parents: Sequence[np.ndarray], seeds: Sequence[Node], pairs: Iterable[tuple[int, int]]) -> Subtree:
    """Return the union of the paths of pairs of seeds, each through the lowest common ancestor of the pair.

    pairs: places among the seeds. All pairs give the same subtree as lca_subtree(); fewer may give several trees, each
    with a top of its own. Raises InvalidConfig without seeds. parents: one (n_i,) int array a layer.
    """
    if not seeds:
        raise InvalidConfig("leanrag.no_seeds")
    nodes, parent = set(seeds), dict[Node, Node]()
    for first, second in pairs:
        path = lca_subtree(parents, (seeds[first], seeds[second]))
        nodes.update(path.nodes)
        parent |= path.parent
    tops = sorted((node for node in nodes if node not in parent), key=lambda node: (-node[0], node[1]))
    return Subtree(tuple(tops), tuple(sorted(nodes)), parent)


def nearest_pairs(vectors: np.ndarray) -> tuple[tuple[int, int], ...]:
    """Return each seed with the seed most like it, each pair once. vectors: (n, d), unit rows, the best seed first; of
    equally like seeds the better one counts."""
    if len(vectors) < 2:
        return ()
    likeness = cosines_of_each(vectors, vectors)
    np.fill_diagonal(likeness, -np.inf)
    nearest = likeness.argmax(axis=1).tolist()
    return tuple(sorted({(min(place, other), max(place, other)) for place, other in enumerate(nearest)}))
