"""The smallest subtree that joins the seeds (eq. 7-8), by parent arrays."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from leanrag_core.errors import InvalidConfig

Node = tuple[int, int]  # (layer, row)


@dataclass(frozen=True)
class Subtree:
    """top: the lowest common ancestor. nodes: all nodes on the paths, layer by layer, rows ascending.
    parent: each node's parent within the subtree; the top has none."""

    top: Node
    nodes: tuple[Node, ...]
    parent: dict[Node, Node]


def lca_subtree(parents: Sequence[np.ndarray], seeds: Sequence[Node]) -> Subtree:
    """The union of the shortest tree paths from each seed to the lowest common ancestor of all.

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
            return Subtree(top=(layer, next(iter(active))), nodes=tuple(visited), parent=parent)
        above: set[int] = set()
        for row in active:
            up = int(parents[layer][row])
            parent[(layer, row)] = (layer + 1, up)
            above.add(up)
        active, layer = above, layer + 1
