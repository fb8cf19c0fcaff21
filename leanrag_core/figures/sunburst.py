"""The sunburst: the focus in the middle, a ring for each layer below it; angles follow the entities inside."""

import numpy as np

from leanrag_core.figures.blocks import Block, Picture, columns_of, fold_id, id_of, lowest_layer
from leanrag_core.figures.folding import fold
from leanrag_core.figures.icicle import HEIGHT
from leanrag_core.figures.shown_tree import ShownTree
from leanrag_core.types.graph import Place

_LEAST = (6.0, 6.0, 4.0, 3.2)  # degrees that a line of text takes, by ring
_FOLDED_SHARE = 0.12  # of the parent's angle, at most


def sunburst(tree: ShownTree, focus: Place, *, skip: int = 0) -> Picture:
    """The blocks below the focus, folded where they would be too narrow. skip: as of an icicle."""
    lowest = lowest_layer(tree, focus.layer, focus.row)
    blocks: list[Block] = []
    skippable = False
    pending = [(focus.layer, focus.row, "", 0.0, 360.0)]
    while pending:
        layer, row, parent, start, angle = pending.pop(0)
        id_, ring = id_of(tree, layer, row), focus.layer - layer
        inner = tree.children(layer, row) if layer > lowest else np.zeros(0, dtype=np.int64)
        below = int(tree.below[layer][row])
        blocks.append(Block(id_, parent, layer, row, below, len(inner), 0, ring, start, 1.0, angle))
        if not len(inner):
            continue
        least = _LEAST[ring + 1]
        folding = fold(
            [float(weight) for weight in tree.below[layer - 1][inner]],
            [least] * len(inner),
            [place for place, child in enumerate(inner) if int(child) in tree.kept[layer - 1]],
            angle,
            fold_least=min(least, angle),
            fold_most=max(least, _FOLDED_SHARE * angle),
            skip=skip if layer == focus.layer else 0,
        )
        # Where more is kept than the angle has room for, all of it is drawn narrower.
        scale = angle / (sum(folding.sizes) + folding.fold_size)
        named = set(folding.named)
        for place, size in zip(folding.named, folding.sizes, strict=True):
            pending.append((layer - 1, int(inner[place]), id_, start, size * scale))
            start += size * scale
        if folding.folded:
            rest = [int(child) for place, child in enumerate(inner) if place not in named]
            below = int(tree.below[layer - 1][rest].sum())
            size = folding.fold_size * scale
            blocks.append(
                Block(fold_id(id_, layer - 1), id_, layer - 1, -1, below, 0, len(rest), ring + 1, start, 1.0, size)
            )
            skippable |= layer == focus.layer
    named_columns = columns_of(tree, focus.layer, focus.row, lowest, blocks)
    return Picture("sunburst", tuple(blocks), named_columns, HEIGHT, skippable)
