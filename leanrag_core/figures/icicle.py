"""The hierarchy as an icicle or treemap: a few levels below one block, and never more cells than can be read."""

import math
import textwrap
from dataclasses import dataclass, replace
from html import escape
from typing import Any

import numpy as np

from leanrag_core.figures.browse import Place
from leanrag_core.figures.palette import Palette
from leanrag_core.figures.template import FONT, layout
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
    top = index.layers[focus.layer].entities.slice(focus.row, 1)
    focus_id = top["id"][0].as_py()
    n_children = len(index.children_of(focus.layer, focus.row))
    below = int(counts[focus.layer][focus.row])
    cells = [Cell(focus_id, "", top["name"][0].as_py(), focus.layer, below, n_children)]
    columns = [(focus.layer, 1, 1)]
    parents: list[tuple[int, str]] = [(focus.row, focus_id)]
    hidden = hidden_layer = 0
    for number in range(focus.layer - 1, max(-1, focus.layer - MAX_LEVELS), -1):
        rows = [(parent_id, index.children_of(number + 1, row)) for row, parent_id in parents]
        total = sum(len(found) for _, found in rows)
        if total > MAX_CELLS_IN_LEVEL and len(columns) > 1:
            hidden, hidden_layer = total, number
            break
        parents = []
        shown = 0
        layer = index.layers[number]
        for parent_id, found in rows:
            order = sorted((int(row) for row in found), key=lambda row: (-counts[number][row], row))
            room = _MOST_CHILDREN if len(columns) > 1 else MAX_CELLS_IN_LEVEL
            kept, rest = (order, []) if len(order) <= room + 1 else (order[:room], order[room:])
            for row in kept:
                entity = layer.entities.slice(row, 1)
                id_ = entity["id"][0].as_py()
                size = int(counts[number][row])
                name = entity["name"][0].as_py()
                cells.append(Cell(id_, parent_id, name, number, size, len(index.children_of(number, row))))
                parents.append((row, id_))
            if rest:
                size = int(sum(counts[number][row] for row in rest))
                name = f"{len(rest):,} more"
                cells.append(Cell(f"more:{parent_id}", parent_id, name, number, size, 0, folded=len(rest)))
            shown += len(kept)
        columns.append((number, shown, total))
    return HierarchyView(focus_id, _weighed(cells), tuple(columns), hidden, hidden_layer)


def _weighed(cells: list[Cell]) -> tuple[Cell, ...]:
    """Innermost blocks grow with the root of what is below, so that small ones can be hit; outer ones add up."""
    inside: dict[str, float] = {}
    weighed = []
    for cell in reversed(cells):  # every block comes after the one it lies in
        weight = inside.get(cell.id) or math.sqrt(cell.below)
        inside[cell.parent] = inside.get(cell.parent, 0.0) + weight
        weighed.append(replace(cell, weight=weight))
    return tuple(reversed(weighed))


def hierarchy_figure(
    view: HierarchyView, colours: Palette, *, shape: str = "icicle", selected: str = "", height: int = 600
) -> Any:
    """The view as a Plotly figure; ids are entity ids, the selected block wears an outline of ink."""
    import plotly.graph_objects as go

    cells = view.cells
    chosen = [cell.id == selected for cell in cells]
    shared = {
        "ids": [cell.id for cell in cells],
        "labels": [_label(cell, shape) for cell in cells],
        "parents": [cell.parent for cell in cells],
        "values": [cell.weight for cell in cells],
        "branchvalues": "total",
        "marker": {
            "colors": [colours["surf"] if cell.folded else colours.layer(cell.layer) for cell in cells],
            "line": {
                "color": [colours["text"] if mine else colours["bg"] for mine in chosen],
                "width": [3 if mine else 1 for mine in chosen],
            },
        },
        "textfont": {
            "family": FONT,
            "size": 13,
            "color": [colours["mute"] if cell.folded else colours.layer_ink(cell.layer) for cell in cells],
        },
        "customdata": [_hover(cell) for cell in cells],
        "hovertemplate": "%{customdata}<extra></extra>",
        "pathbar": {"visible": False},
        "root_color": "rgba(0,0,0,0)",
        "sort": False,
        "textinfo": "label",
    }
    if shape == "treemap":
        trace = go.Treemap(**shared, tiling={"pad": 2, "packing": "squarify"}, textposition="top left", maxdepth=3)
    else:
        trace = go.Icicle(**shared, tiling={"orientation": "h", "pad": 2}, textposition="middle left")
    figure = go.Figure(trace)
    figure.update_layout(**layout(colours, height=height, margins=(0, 0, 0, 0)))
    if shape == "icicle":  # a treemap's labels shrink one by one, each to its own block
        figure.update_layout(uniformtext={"minsize": 8, "mode": "hide"})
    return figure


def _label(cell: Cell, shape: str) -> str:
    """Wrapped, at most three lines, safe in Plotly's own small HTML. A treemap's outer blocks hold one line."""
    if shape == "treemap" and cell.children:
        line = textwrap.shorten(cell.name, 48, placeholder=" …")
        return escape(line if line != "…" else f"{cell.name.split()[0][:47]}…")  # its first word alone is too long
    width = 13 if shape == "treemap" else 18
    lines = textwrap.wrap(cell.name, width, break_long_words=shape != "treemap") or [""]
    if len(lines) > 3:
        lines = [*lines[:2], lines[2][: width - 1] + "…"]
    indent = "" if shape == "treemap" else "\u2002"
    return "<br>".join(indent + escape(line) for line in lines)


def _hover(cell: Cell) -> str:
    if cell.folded:
        return f"{cell.folded:,} more nodes of layer {cell.layer}<br>They are in the list."
    name = "<br>".join(escape(line) for line in textwrap.wrap(cell.name, 60))
    if cell.layer == 0:
        return f"<b>{name}</b><br>Layer 0, entity"
    held = f"{cell.children:,} in the layer below, {cell.below:,} entities in all"
    return f"<b>{name}</b><br>Layer {cell.layer}, {held}"
