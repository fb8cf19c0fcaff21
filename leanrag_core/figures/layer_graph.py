"""Where the parts of the graph in layers are: boxes of the aggregated layers in bands, entities in clouds below them.

The same scene gives the same places. x and y are px of a drawing `width` wide; a wider window stretches x alone.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from leanrag_core.figures.clouds import Cloud, Row, place_clouds, row_places, tree_order
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
        *_row_bubbles(bands, size),
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
    """Return the positions of the nodes that fit; those on the way up from the focus are always among them."""
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


def _row_bubbles(bands: Sequence[Band], size: Size) -> list[Bubble]:
    """Return for each row of boxes the bubble of those that are folded, at its right end."""
    return [
        Bubble(None, band.layer, band.total - band.shown, size.width - size.right / 2, _middle(band), closed=False)
        for band in bands[:-1]
        if band.total > band.shown
    ]
