"""The blocks that icicle, treemap and sunburst are made of. The browser draws them and measures their texts."""

from dataclasses import dataclass

from leanrag_core.figures.shown_tree import ShownTree
from leanrag_core.types.graph import Place

MAX_COLUMNS = 4


@dataclass(frozen=True)
class Block:
    """A node, or the nodes of one parent that are folded into one block.

    id: of the entity; of a folded block see fold_id. parent: id of the block it lies in, "" for the outermost.
    layer, row: of the entity; row -1 for a folded block. below: base entities inside. inner: nodes of the layer below
    that lie in it. folded: how many nodes of its layer it stands for, 0 for a node itself.

    x, y, width, height: in an icicle x is the column, and y and height are pixels; in a treemap x and width are
    fractions of the width, y and height pixels; in a sunburst x is the ring, and y and height are degrees.

    strip: its name is in a strip at its top, since others lie in it. cells: of an icicle's last column but one, rows of
    the layer below that may be drawn as cells, in that order; the browser folds those without room. n_kept of them, in
    kept_cells, are never folded.
    """

    id: str
    parent: str
    layer: int
    row: int
    below: int
    inner: int
    folded: int
    x: float
    y: float
    width: float
    height: float
    strip: bool = False
    cells: tuple[int, ...] = ()
    kept_cells: tuple[int, ...] = ()


@dataclass(frozen=True)
class Column:
    """A layer of the picture: nodes that are named (or may be), and all that are shown below the focus."""

    layer: int
    named: int
    total: int


@dataclass(frozen=True)
class Picture:
    """shape: icicle, treemap or sunburst. height: in pixels. skippable: children of the focus that have no room, so
    that the next ones can be asked for."""

    shape: str
    blocks: tuple[Block, ...]
    columns: tuple[Column, ...]
    height: float
    skippable: bool


def fold_id(parent_id: str, layer: int) -> str:
    """Return the id of the block that stands for folded nodes of that layer below a parent."""
    return f"more:{layer}:{parent_id}"


def folded_parent(block_id: str) -> str:
    """Return the parent in the id of a folded block; "" for any other id."""
    kind, _, rest = block_id.partition(":")
    layer, _, parent = rest.partition(":")
    return parent if kind == "more" and layer.isdigit() else ""


def is_drawn(picture: Picture, place: Place) -> bool:
    """Tell whether a node is a block of the picture, or a cell that the browser may draw."""
    return any(
        (block.layer == place.layer and block.row == place.row)
        or (block.layer == place.layer + 1 and place.row in block.cells)
        for block in picture.blocks
    )


def id_of(tree: ShownTree, layer: int, row: int) -> str:
    """Return the id of a node."""
    return str(tree.index.layers[layer].entity_cells["id"][row].as_py())


def lowest_layer(tree: ShownTree, layer: int, row: int) -> int:
    """Return the lowest layer that a picture of that focus shows."""
    lowest = layer
    while lowest and layer - lowest < MAX_COLUMNS - 1 and tree.inside(layer, [row], lowest - 1):
        lowest -= 1
    return lowest


def columns_of(tree: ShownTree, layer: int, row: int, lowest: int, blocks: list[Block]) -> tuple[Column, ...]:
    """Return what each layer of the picture shows of all there is below the focus."""
    return tuple(
        Column(
            number,
            sum(block.layer == number and not block.folded for block in blocks),
            tree.inside(layer, [row], number),
        )
        for number in range(layer, lowest - 1, -1)
    )
