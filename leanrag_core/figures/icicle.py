"""The hierarchy below one block, as an icicle or treemap shows it: a few levels, never more cells than can be read."""

import math
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa

from leanrag_core.types.graph import Place
from leanrag_core.types.index import Index

MAX_LEVELS = 4
MAX_CELLS_IN_LEVEL = 120  # below 5 px a cell cannot be hit or told apart
_MOST_CHILDREN = 60  # of one block; the rest is folded into one cell


@dataclass(frozen=True)
class Cell:
    """A block of the figure. parent: id of the block it lies in, "" for the outermost. below: base entities in it.
    weight: its share of the picture. folded: how many nodes this cell stands for, 0 for a node itself."""

    id: str
    parent: str
    name: str
    layer: int
    below: int
    children: int
    weight: float = 0.0
    folded: int = 0


@dataclass(frozen=True)
class HierarchyView:
    """What is drawn of a hierarchy. columns: (layer, nodes shown, nodes of that layer below the focus).
    hidden: base entities or nodes of the first level that was left out because it is too fine; 0 when none is."""

    focus: str
    cells: tuple[Cell, ...]
    columns: tuple[tuple[int, int, int], ...]
    hidden: int
    hidden_layer: int


def hierarchy_view(index: Index, focus: Place, counts: tuple[np.ndarray, ...]) -> HierarchyView:
    """The blocks below the focus, level by level, as long as a level stays readable.

    counts: as from `browse.leaf_counts`.
    """
    top = index.layers[focus.layer].entities
    focus_id = top["id"][focus.row].as_py()
    n_children = len(index.children_of(focus.layer, focus.row))
    below = int(counts[focus.layer][focus.row])
    cells = [Cell(focus_id, "", top["name"][focus.row].as_py(), focus.layer, below, n_children)]
    columns = [(focus.layer, 1, 1)]
    parents: list[tuple[int, str]] = [(focus.row, focus_id)]
    hidden = hidden_layer = 0
    for number in range(focus.layer - 1, max(-1, focus.layer - MAX_LEVELS), -1):
        families = [(parent_id, index.children_of(number + 1, row)) for row, parent_id in parents]
        total = sum(len(rows) for _, rows in families)
        if total > MAX_CELLS_IN_LEVEL and len(columns) > 1:
            hidden, hidden_layer = total, number
            break
        parents = []
        room = _MOST_CHILDREN if len(columns) > 1 else MAX_CELLS_IN_LEVEL
        for parent_id, rows in families:
            drawn, rest = _cells(index, number, parent_id, rows, counts[number], room)
            cells += [*drawn, *rest]
            parents += [(int(row), cell.id) for row, cell in zip(_largest(rows, counts[number]), drawn, strict=False)]
        columns.append((number, len(parents), total))
    return HierarchyView(focus_id, _weighed(cells), tuple(columns), hidden, hidden_layer)


def _largest(rows: np.ndarray, below: np.ndarray) -> np.ndarray:
    return rows[np.lexsort((rows, -below[rows]))]


def _cells(
    index: Index, number: int, parent_id: str, rows: np.ndarray, below: np.ndarray, room: int
) -> tuple[list[Cell], list[Cell]]:
    """Cells of the largest children of one block, and the one cell that the others are folded into, if any."""
    order = _largest(rows, below)
    kept, rest = (order, order[:0]) if len(order) <= room + 1 else (order[:room], order[room:])
    texts = index.layers[number].entities.select(["id", "name"]).take(pa.array(kept))
    cells = [
        Cell(id_, parent_id, name, number, int(below[row]), len(index.children_of(number, int(row))))
        for row, id_, name in zip(kept, texts["id"].to_pylist(), texts["name"].to_pylist(), strict=True)
    ]
    if not len(rest):
        return cells, []
    size, name = int(below[rest].sum()), f"{len(rest):,} more"
    return cells, [Cell(f"more:{parent_id}", parent_id, name, number, size, 0, folded=len(rest))]


def _weighed(cells: list[Cell]) -> tuple[Cell, ...]:
    """Innermost blocks grow with the root of what is below, so that small ones can be hit; outer ones add up."""
    inside: dict[str, float] = {}
    weighed = []
    for cell in reversed(cells):  # every block comes after the one it lies in
        weight = inside.get(cell.id) or math.sqrt(cell.below)
        inside[cell.parent] = inside.get(cell.parent, 0.0) + weight
        weighed.append(replace(cell, weight=weight))
    return tuple(reversed(weighed))
