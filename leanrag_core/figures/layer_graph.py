"""Where the parts of the graph in layers are: boxes of the aggregated layers in bands, entities in clouds below them.

The same scene gives the same places. x and y are px of a drawing `width` wide; a wider window stretches x alone.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from leanrag_core.figures.clouds import Cloud, Row, place_clouds, row_places, tree_order
from leanrag_core.types.graph import Place
from leanrag_core.types.index import Index
from leanrag_core.types.layer_scene import Scene


@dataclass(frozen=True)
class Size:
    """The room of a layout, px. left, right: beside the boxes, for the names of layers and for bubbles.
    height: the least; bands of many layers add to it."""

    width: int
    height: int
    left: int
    right: int
    boxes: int
    dots: int


WIDE = Size(width=800, height=560, left=92, right=70, boxes=5, dots=62)
NARROW = Size(width=350, height=600, left=26, right=48, boxes=3, dots=26)
_BOX_HEIGHT, _ROOT_HEIGHT = 38, 28
_FIRST_BAND, _MIDDLE_BAND, _LAST_BAND, _LEAST_BASE = 64, 98, 124, 300  # px of height
_LOW_BAND = 84  # px of a middle band where there are many
# px below the upper edge of the entities' band: for the bubbles of clusters that are closed, else for names of clouds.
_BUBBLE_ROOM, _NAME_ROOM = 50, 22


@dataclass(frozen=True)
class Band:
    """The strip of a layer; shown of total nodes are drawn in it."""

    layer: int
    top: float
    bottom: float
    shown: int
    total: int


@dataclass(frozen=True)
class NodePlace:
    """Where the node in that position of the scene is. width, height: of its box, 0 for an entity."""

    node: int
    x: float
    y: float
    width: float
    height: float


@dataclass(frozen=True)
class Bubble:
    """Counts nodes that are folded: below the node `of` (a position in the scene), or of a whole layer where that is
    None. closed: nothing below that node is drawn. cloud: position of its cloud, None where it has none."""

    of: int | None
    layer: int
    count: int
    x: float
    y: float
    closed: bool
    cloud: int | None = None


@dataclass(frozen=True)
class LayerGraph:
    """A layout. clouds: of open clusters."""

    width: int
    height: float
    bands: tuple[Band, ...]
    places: tuple[NodePlace, ...]
    clouds: tuple[Cloud, ...]
    bubbles: tuple[Bubble, ...]


def layer_graph(scene: Scene, size: Size) -> LayerGraph:
    """Return the layout of a scene in that room; a narrow one leaves out what comes last in its layer or cluster."""
    drawn = _drawn(scene, size)
    bands = _bands(scene, drawn, size)
    order = tree_order(scene.nodes, drawn)
    places: dict[int, NodePlace] = {}
    for band in reversed(bands[:-1] if len(scene.totals) > 1 else ()):
        row = Row(order.get(band.layer, ()), size.left, size.width - size.right)
        tall = _ROOT_HEIGHT if scene.totals[band.layer] == 1 else _BOX_HEIGHT
        for box in row_places(scene.nodes, row, {node: place.x for node, place in places.items()}):
            places[box.node] = NodePlace(box.node, box.x, _middle(band), box.width, tall)
    base = bands[-1]
    clusters = [node for node in order.get(1, ()) if any(scene.nodes[at].parent == node for at in drawn)]
    members = [
        [at for at in drawn if scene.nodes[at].layer == 0 and scene.nodes[at].parent == node] for node in clusters
    ]
    closed = [node for node in order.get(1, ()) if node not in clusters and scene.nodes[node].children]
    top = base.top + (_BUBBLE_ROOM if closed else _NAME_ROOM)
    room = (float(size.left if size.width > 500 else 12), top, float(size.width - 10), base.bottom - 10)
    if not clusters:  # an index of a single entity
        members, clusters = [[at for at in drawn if scene.nodes[at].layer == 0]], [-1]
    wanted = [places[node].x if node in places else size.width / 2 for node in clusters]
    clouds = place_clouds(scene, clusters, members, wanted, room)
    for cloud in clouds:
        places |= {node: NodePlace(node, x, y, 0, 0) for node, x, y in cloud.dots}
    bubbles = [
        *_row_bubbles(bands, places, size),
        *(Bubble(node, 0, scene.nodes[node].children, places[node].x, base.top + 30, closed=True) for node in closed),
        *(
            Bubble(cloud.node, 0, cloud.folded, *cloud.bubble, closed=False, cloud=at)
            for at, cloud in enumerate(clouds)
            if cloud.folded and cloud.node >= 0
        ),
    ]
    ordered = tuple(places[node] for node in sorted(places))
    return LayerGraph(size.width, base.bottom, tuple(bands), ordered, tuple(clouds), tuple(bubbles))


def _middle(band: Band) -> float:
    # Above the boxes of a row with relations there is room for their arcs.
    return band.top + (band.bottom - band.top) * (0.5 if band.bottom - band.top == _FIRST_BAND else 0.56)


def _drawn(scene: Scene, size: Size) -> list[int]:
    """Positions of the nodes that there is room for; those on the way up from the focus are always among them."""
    kept: list[int] = []
    for layer in range(len(scene.totals) - 1, 0, -1):
        row = [at for at, node in enumerate(scene.nodes) if node.layer == layer]
        row.sort(key=lambda at: (not scene.nodes[at].above_focus, not scene.nodes[at].is_open, scene.nodes[at].rank))
        kept += row[: size.boxes]
    base = [
        at for at, node in enumerate(scene.nodes) if node.layer == 0 and (node.parent is None or node.parent in kept)
    ]
    base.sort(key=lambda at: (scene.nodes[at].hops > 0, not scene.nodes[at].pinned, scene.nodes[at].rank, at))
    return sorted(kept + base[: size.dots])


def _bands(scene: Scene, drawn: Sequence[int], size: Size) -> list[Band]:
    n_layers = len(scene.totals)
    heights = [float(_MIDDLE_BAND if n_layers < 5 else _LOW_BAND)] * n_layers
    heights[-1] = _FIRST_BAND
    if n_layers > 2:
        heights[1] = _LAST_BAND if n_layers < 5 else _MIDDLE_BAND
    heights[0] = max(_LEAST_BASE, size.height - sum(heights[1:]))
    bands, top = [], 0.0
    for layer in range(n_layers - 1, -1, -1):
        shown = sum(scene.nodes[at].layer == layer for at in drawn)
        bands.append(Band(layer, top, top + heights[layer], shown, scene.totals[layer]))
        top += heights[layer]
    return bands


def _row_bubbles(bands: Sequence[Band], places: dict[int, NodePlace], size: Size) -> list[Bubble]:
    """Return for each row of boxes the bubble of those that are folded, at its right end."""
    return [
        Bubble(None, band.layer, band.total - band.shown, size.width - size.right / 2, _middle(band), closed=False)
        for band in bands[:-1]
        if band.total > band.shown
    ]


MOST_NODES, MOST_RELATIONS = 5_000, 4_000
_MOST_UPPER = 1_000  # nodes of aggregated layers
WIDTH, HEIGHT = 800, 640
_LEFT, _RIGHT = 92, 12
_GOLDEN = math.pi * (3 - math.sqrt(5))
_OPEN_BAND, _BAND = 56, 84  # px of height
_EVEN = 0.7  # how far nodes of an aggregated layer move from above their children to an even row
_ROWS = 4  # in which nodes of an aggregated layer are drawn where one row is too narrow


@dataclass(frozen=True, eq=False)
class AllNodes:
    """The drawn nodes, upper layers first, and in each the most important first.

    layers, rows: (n,) int, where each node is in the index. parents: (n,) int, positions of parents, -1 without one.
    places: (n, 2) float in a drawing of WIDTH by HEIGHT. relations: (r, 2) int positions, the strongest first.
    bands: upper edges of the layers' bands from the top one down, and the lowest edge. totals: of each layer, from 0.
    """

    layers: np.ndarray
    rows: np.ndarray
    parents: np.ndarray
    places: np.ndarray
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
    the base layer among them. masks, relation_masks: of each layer (n,) bool."""
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
    places = _places(index, chosen, layers, parents, bands)
    totals = tuple(
        len(layer) if mask is None else int(mask.sum()) for layer, mask in zip(index.layers, masks, strict=True)
    )
    relations = _relations(index, chosen[0], int(offset_of[0]), relation_masks[0])
    return AllNodes(layers, rows, parents, places, relations, bands, totals)


def _chosen_rows(index: Index, masks: Sequence[np.ndarray | None]) -> list[np.ndarray]:
    """Return for each layer the rows to draw, those with most below them first; base entities by their relations.
    masks: (n,) bool of each layer. Returns (k,) rows of each."""
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
    chosen[0] = rows[order][: MOST_NODES - sum(map(len, chosen))]
    return chosen


def _passing(rows: np.ndarray, mask: np.ndarray | None) -> np.ndarray:
    """Return those of (k,) rows that a mask, (n,) bool, lets through."""
    return rows if mask is None else rows[mask[rows]]


def _places(
    index: Index, chosen: Sequence[np.ndarray], layers: np.ndarray, parents: np.ndarray, bands: Sequence[float]
) -> np.ndarray:
    """(n, 2) places: entities in the cells of their clusters, every other node above the middle of its children."""
    places = np.zeros((len(layers), 2))
    room = (float(_LEFT), bands[-2] + 14, float(WIDTH - _RIGHT), bands[-1] - 10)
    base = np.flatnonzero(layers == 0)
    clusters = parents[base]
    order = _tree_order(index, chosen[0])
    places[base[order]] = _cells(clusters[order], room)
    for number in range(1, len(chosen)):
        here = np.flatnonzero(layers == number)
        below = np.flatnonzero((layers == number - 1) & (parents >= 0))
        weight = np.bincount(parents[below], minlength=len(layers))
        total = np.bincount(parents[below], weights=places[below, 0], minlength=len(layers))
        middle = (_LEFT + WIDTH - _RIGHT) / 2
        places[here, 0] = np.where(weight[here] > 0, total[here] / np.maximum(weight[here], 1), middle)
        at = len(chosen) - 1 - number
        top, bottom = bands[at], bands[at + 1]
        rows = 1 if len(here) < 12 else _ROWS
        rank = np.empty(len(here), dtype=np.int64)
        rank[np.argsort(places[here, 0], kind="stable")] = np.arange(len(here))
        # Clusters of a column have one middle; evenly spread they are told apart.
        even = _LEFT + (WIDTH - _RIGHT - _LEFT) * (rank + 0.5) / len(here)
        places[here, 0] = _EVEN * even + (1 - _EVEN) * places[here, 0]
        places[here, 1] = top + (bottom - top) * (0.5 + (rank % rows - (rows - 1) / 2) * 0.17)
    return places


def _tree_order(index: Index, rows: np.ndarray) -> np.ndarray:
    """(n,) order of base entities in which those of a cluster, and of every layer above it, are side by side."""
    keys = [np.arange(len(rows))]
    above = rows
    for layer in index.layers[:-1]:
        above = layer.parent[above]
        keys.append(above)
    return np.lexsort(keys)


def _cells(clusters: np.ndarray, room: tuple[float, float, float, float]) -> np.ndarray:
    """(n, 2) places of entities in the order of the tree: a cell a cluster, in columns, as large as it has entities."""
    if not len(clusters):
        return np.zeros((0, 2))
    left, top, right, bottom = room
    starts = np.flatnonzero(np.append(True, clusters[1:] != clusters[:-1]))
    sizes = np.diff(np.append(starts, len(clusters)))
    in_column = max(1, round(math.sqrt(len(sizes) * (bottom - top) / (right - left))))
    column = np.arange(len(sizes)) // in_column
    heights = np.bincount(column, weights=sizes)
    x_edges = left + (right - left) * np.append(0, np.cumsum(heights)) / len(clusters)
    before = np.cumsum(sizes) - sizes - (np.cumsum(heights) - heights)[column]
    x = (x_edges[column] + x_edges[column + 1]) / 2
    width = x_edges[column + 1] - x_edges[column]
    height = (bottom - top) * sizes / heights[column]
    y = top + (bottom - top) * before / heights[column] + height / 2
    cell = np.repeat(np.arange(len(sizes)), sizes)
    step = np.arange(len(clusters)) - starts[cell]
    radius = np.sqrt((step + 0.4) / sizes[cell]) * 0.42
    angle = step * _GOLDEN + cell
    return np.stack(
        [x[cell] + radius * width[cell] * np.cos(angle), y[cell] + radius * height[cell] * np.sin(angle)], axis=1
    )


def _relations(index: Index, rows: np.ndarray, offset: int, mask: np.ndarray | None) -> np.ndarray:
    """(r, 2) positions of the ends of the strongest relations among those base entities."""
    base = index.layers[0]
    position = np.full(len(base), -1)
    position[rows] = offset + np.arange(len(rows))
    ends = position[base.ends]
    inside = np.flatnonzero((ends >= 0).all(axis=1))
    inside = _passing(inside, mask)
    order = np.argsort(-base.weights[inside], kind="stable")[:MOST_RELATIONS]
    return np.asarray(ends[inside[order]]).reshape(-1, 2)
