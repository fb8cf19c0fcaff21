"""All nodes of an index at once, tens of thousands: aggregated layers in rows, entities in cells of their clusters.

The places of entities are not listed: a cell has the place and the size of its cluster, and the script that draws it
spreads its entities over the cell.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from leanrag_core.types.graph import Place
from leanrag_core.types.index import Index
from leanrag_core.types.rows import place_of_each, starts_of_runs

MOST_NODES, MOST_RELATIONS = 50_000, 4_000
_MOST_UPPER = 4_000  # nodes of aggregated layers
WIDTH, HEIGHT = 800, 640
_LEFT, _RIGHT = 92, 12
_OPEN_BAND, _BAND = 56, 84  # px of height
_EVEN = 0.7  # how far nodes of an aggregated layer move from above their children to an even row
_ROWS = 4  # in which nodes of an aggregated layer are drawn where one row is too narrow


@dataclass(frozen=True, eq=False)
class Cells:
    """The clusters of the drawn base entities, in the order of the tree, each with the room of its entities.

    parents: (c,) int positions of the clusters, -1 in an index of one layer. sizes: (c,) int, drawn entities of each.
    middles: (c, 2) float; spans: (c, 2) float, width and height; in a drawing of WIDTH by HEIGHT.
    """

    parents: np.ndarray
    sizes: np.ndarray
    middles: np.ndarray
    spans: np.ndarray


@dataclass(frozen=True, eq=False)
class AllNodes:
    """The drawn nodes: upper layers first, and in each the most important first; then the base entities cell by cell,
    and in each cell those with most relations first.

    layers, rows: (n,) int, where each node is in the index. parents: (n,) int, positions of parents, -1 without one.
    places: (u, 2) float, of the nodes above the base, in a drawing of WIDTH by HEIGHT. cells: of the base entities.
    relations: (r, 2) int positions, the strongest first. bands: upper edges of the layers' bands from the top one down,
    and the lowest edge. totals: of each layer, from 0.
    """

    layers: np.ndarray
    rows: np.ndarray
    parents: np.ndarray
    places: np.ndarray
    cells: Cells
    relations: np.ndarray
    bands: tuple[float, ...]
    totals: tuple[int, ...]

    def position(self, place: Place) -> int | None:
        """Return the position of a node among those drawn, None where it is not."""
        at = np.flatnonzero((self.layers == place.layer) & (self.rows == place.row))
        return int(at[0]) if len(at) else None

    def place(self, position: int) -> Place:
        """Return the node in that position."""
        return Place(int(self.layers[position]), int(self.rows[position]))


def all_nodes(
    index: Index, masks: Sequence[np.ndarray | None], relation_masks: Sequence[np.ndarray | None]
) -> AllNodes:
    """Return at most MOST_NODES nodes that the masks let through (None lets all pass) and the strongest relations of
    the base layer among them. masks: of each layer (n,) bool. relation_masks: of each layer (r,) bool."""
    chosen = _chosen_rows(index, masks)
    top = len(index.layers) - 1
    layers = np.concatenate([np.full(len(chosen[number]), number) for number in range(top, -1, -1)])
    rows = np.concatenate([chosen[number] for number in range(top, -1, -1)])
    offset_of = dict(zip(range(top, -1, -1), np.cumsum([0, *(len(chosen[n]) for n in range(top, 0, -1))]), strict=True))
    parents = np.full(len(rows), -1)
    for number in range(top):
        above = np.full(len(index.layers[number + 1]), -1)
        above[chosen[number + 1]] = offset_of[number + 1] + np.arange(len(chosen[number + 1]))
        parents[layers == number] = above[index.layers[number].parent[chosen[number]]]
    bands = (0.0, *np.cumsum([_OPEN_BAND, *[_BAND] * (top - 1)][:top]).tolist(), float(HEIGHT))
    room = (float(_LEFT), bands[-2] + 14, float(WIDTH - _RIGHT), bands[-1] - 10)
    cells = _cells(parents[layers == 0], room)
    places = _places(layers, parents, cells, bands)
    totals = tuple(
        len(layer) if mask is None else int(mask.sum()) for layer, mask in zip(index.layers, masks, strict=True)
    )
    relations = _relations(index, chosen[0], int(offset_of[0]), relation_masks[0])
    return AllNodes(layers, rows, parents, places, cells, relations, bands, totals)


def _chosen_rows(index: Index, masks: Sequence[np.ndarray | None]) -> list[np.ndarray]:
    """Return for each layer the rows to draw, those with most below them first; of the base layer those with most
    relations, in the order of the tree. masks: (n,) bool of each layer. Returns (k,) rows of each."""
    chosen: list[np.ndarray] = [np.zeros(0, dtype=np.int64)] * len(index.layers)
    room = _MOST_UPPER if len(index.layers) > 1 else 0
    for number in range(len(index.layers) - 1, 0, -1):
        rows = _passing(np.arange(len(index.layers[number])), masks[number])
        order = np.argsort(-index.leaf_counts[number][rows], kind="stable")
        chosen[number] = rows[order][:room]
        room -= len(chosen[number])
    base = index.layers[0]
    rows = _passing(np.arange(len(base)), masks[0])
    if len(index.layers) > 1:
        drawn = np.zeros(len(index.layers[1]), dtype=bool)
        drawn[chosen[1]] = True
        rows = rows[drawn[base.parent[rows]]]
    order = np.argsort(-base.degrees[rows], kind="stable")
    rows = rows[order][: MOST_NODES - sum(map(len, chosen))]
    chosen[0] = rows[_tree_order(index, rows)]
    return chosen


def _passing(rows: np.ndarray, mask: np.ndarray | None) -> np.ndarray:
    """Return those of (k,) rows that a mask, (n,) bool, lets through."""
    return rows if mask is None else rows[mask[rows]]


def _places(layers: np.ndarray, parents: np.ndarray, cells: Cells, bands: Sequence[float]) -> np.ndarray:
    """Return (u, 2) places of the nodes above the base: each above the middle of its children, moved to an even row.
    layers: (n,) int, of all drawn nodes. parents: (n,) int positions, -1 for none."""
    n_upper = int((layers > 0).sum())
    places = np.zeros((n_upper, 2))
    below = np.flatnonzero(cells.parents >= 0)
    children, x, weight = cells.parents[below], cells.middles[below, 0], cells.sizes[below].astype(np.float64)
    for number in range(1, len(bands) - 1):
        in_layer = np.flatnonzero(layers == number)
        total = np.bincount(children, weights=weight, minlength=n_upper)[in_layer]
        sums = np.bincount(children, weights=weight * x, minlength=n_upper)[in_layer]
        middle = (_LEFT + WIDTH - _RIGHT) / 2
        places[in_layer, 0] = np.where(total > 0, sums / np.maximum(total, 1), middle)
        at = len(bands) - 2 - number
        top, bottom = bands[at], bands[at + 1]
        rows = 1 if len(in_layer) < 12 else _ROWS
        rank = place_of_each(np.argsort(places[in_layer, 0], kind="stable"), len(in_layer))
        # Clusters of a column have one middle; evenly spread they are told apart.
        even = _LEFT + (WIDTH - _RIGHT - _LEFT) * (rank + 0.5) / len(in_layer)
        places[in_layer, 0] = _EVEN * even + (1 - _EVEN) * places[in_layer, 0]
        places[in_layer, 1] = top + (bottom - top) * (0.5 + (rank % rows - (rows - 1) / 2) * 0.17)
        with_parent = in_layer[parents[in_layer] >= 0]
        children, x, weight = parents[with_parent], places[with_parent, 0], np.ones(len(with_parent))
    return places


def _tree_order(index: Index, rows: np.ndarray) -> np.ndarray:
    """Return the (k,) order of base entities in which those of a cluster, of whatever layer, are side by side. rows:
    (k,) int, of the base layer."""
    keys = [np.arange(len(rows))]
    above = rows
    for layer in index.layers[:-1]:
        above = layer.parent[above]
        keys.append(above)
    return np.lexsort(keys)


def _cells(clusters: np.ndarray, room: tuple[float, float, float, float]) -> Cells:
    """Return the cells in columns, each as large as it has entities.

    clusters: (n,) positions of the parents of the base entities, in the order of the tree.
    room: left, top, right, bottom.
    """
    left, top, right, bottom = room
    starts = starts_of_runs(clusters)
    sizes = np.diff(np.append(starts, len(clusters)))
    in_column = max(1, round(math.sqrt(len(sizes) * (bottom - top) / (right - left))))
    column = np.arange(len(sizes)) // in_column
    heights = np.bincount(column, weights=sizes)
    x_edges = left + (right - left) * np.append(0, np.cumsum(heights)) / max(1, len(clusters))
    before = np.cumsum(sizes) - sizes - (np.cumsum(heights) - heights)[column]
    height = (bottom - top) * sizes / heights[column]
    x = (x_edges[column] + x_edges[column + 1]) / 2
    y = top + (bottom - top) * before / heights[column] + height / 2
    width = x_edges[column + 1] - x_edges[column]
    return Cells(clusters[starts], sizes, np.stack([x, y], axis=1), np.stack([width, height], axis=1))


def _relations(index: Index, rows: np.ndarray, offset: int, mask: np.ndarray | None) -> np.ndarray:
    """Return the (r, 2) positions of the ends of the strongest relations among those base entities. rows: (k,) int, of
    the base layer. mask: of its relations, bool; None where all are drawn."""
    base = index.layers[0]
    position = np.full(len(base), -1)
    position[rows] = offset + np.arange(len(rows))
    ends = position[base.ends]
    inside = np.flatnonzero((ends >= 0).all(axis=1))
    inside = _passing(inside, mask)
    order = np.argsort(-base.weights[inside], kind="stable")[:MOST_RELATIONS]
    return np.asarray(ends[inside[order]]).reshape(-1, 2)
