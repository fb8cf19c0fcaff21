"""Hierarchies for tests of their pictures."""

from collections.abc import Collection, Mapping
from dataclasses import replace

import numpy as np

from leanrag_core.figures.blocks import ShownTree, shown_tree
from leanrag_core.types.graph import Place
from leanrag_core.types.index import Index
from tests.small_index import entity, layer


def hierarchy(index: Index, *parents: list[int]) -> Index:
    """Return an index of the same texts with other layers: parents[i][row] is the parent of that row of layer i. The
    entity of row r in layer i is called ni-r."""
    sizes = [*(len(rows) for rows in parents), 1]
    layers = [
        layer(
            number,
            [entity(f"n{number}-{row}", [0]) for row in range(size)],
            [],
            np.ones((size, 1), dtype=np.float32),
            parents[number] if number < len(parents) else [],
        )
        for number, size in enumerate(sizes)
    ]
    return replace(index, layers=tuple(layers))


def even(index: Index, *sizes: int) -> Index:
    """Return a hierarchy of layers of those sizes, from the base up to below the root, in which parents share
    evenly."""
    above = [*sizes[1:], 1]
    return hierarchy(index, *([row * up // size for row in range(size)] for size, up in zip(sizes, above, strict=True)))


def tree_of(
    index: Index, kept: Collection[Place] = (), hits: Mapping[Place, int] | None = None, below: object = None
) -> ShownTree:
    """Return the whole tree, or the part of those sizes."""
    return shown_tree(index, below or index.leaf_counts, kept, hits or {})
