"""Where the graph in layers has its nodes: clouds of the entities of open clusters, and rows of boxes above them.

Each cloud is a sunflower spiral, whose points are evenly apart, so no two entities overlap; the spirals shrink until
the clouds do not either. Boxes are in the order of the tree, parents above their children.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from leanrag_core.types.layer_scene import Scene, SceneNode

_GOLDEN = math.pi * (3 - math.sqrt(5))
_SPACING, _LEAST_SPACING = 20.0, 11.0  # px: the radius of a spiral of one point
_WIDER, _FLATTER = 1.18, 0.92
_EDGE = 22.0  # px around the outermost entities: the cloud's own edge
_BUBBLE_WIDTH, _BUBBLE_HEIGHT = 46.0, 24.0
_LETTER, _LABEL_HEIGHT, _MOST_LETTERS = 7.6, 26.0, 28  # px of the label beside the focus, which no entity may cover
_STEPS = 160  # of the search for places
_FULL = 0.65  # of the room: clouds that fill more cannot be apart
N_HUES = 6
_GAP = 12.0  # px between two boxes
_WIDEST, _WIDEST_LONE = 156.0, 206.0


@dataclass(frozen=True)
class Cloud:
    """The entities of an open cluster. node: the cluster, a position in the scene (-1 where it has none). dots:
    position in the scene, x and y of each entity. folded: entities of the cluster that are not drawn, counted in a
    bubble at `bubble`. hue: number of its colour.
    """

    node: int
    x: float
    y: float
    radius_x: float
    radius_y: float
    dots: tuple[tuple[int, float, float], ...]
    folded: int
    bubble: tuple[float, float]
    hue: int


def place_clouds(
    scene: Scene,
    clusters: Sequence[int],
    members: Sequence[Sequence[int]],
    wanted: Sequence[float],
    room: tuple[float, float, float, float],
) -> list[Cloud]:
    """Return the clouds of those clusters, each near its wanted x. room: left, top, right, bottom in px."""
    focus_cloud = next(
        (at for at, nodes in enumerate(members) if any(scene.nodes[node].hops == 0 for node in nodes)), -1
    )
    # The label of the focus takes the room of some entities.
    sizes = [len(nodes) + (4 if at == focus_cloud else 0) for at, nodes in enumerate(members)]
    spacing = _SPACING
    while spacing > _LEAST_SPACING and _area(sizes, spacing) > _FULL * (room[2] - room[0]) * (room[3] - room[1]):
        spacing *= 0.94
    middles, radii = _pack(sizes, wanted, room, spacing)
    while spacing > _LEAST_SPACING and _overlap(middles, radii) > 2:
        spacing *= 0.94
        middles, radii = _pack(sizes, wanted, room, spacing)
    clouds: list[Cloud] = []
    for at, (cluster, nodes) in enumerate(zip(clusters, members, strict=True)):
        label = _LETTER * min(_MOST_LETTERS, len(scene.focus.name)) if at == focus_cloud else 0.0
        slots = _spiral(len(nodes), spacing, turn=at, label=label) + middles[at]
        toward = middles[focus_cloud] if at != focus_cloud >= 0 else None
        dots = _seated(scene, nodes, slots, toward, middles, members)
        children = scene.nodes[cluster].children if cluster >= 0 else len(nodes)
        (x, y), (radius_x, radius_y) = middles[at].tolist(), radii[at].tolist()
        places = np.array([place for _, *place in dots])
        bubble = _bubble(places, middles[at], radii[at], room)
        hue = _hue(scene, cluster, clouds)
        clouds.append(Cloud(cluster, x, y, radius_x, radius_y, dots, children - len(nodes), bubble, hue))
    return clouds


def _hue(scene: Scene, cluster: int, others: Sequence[Cloud]) -> int:
    """Return one of N_HUES. A cluster keeps its colour when another one opens, unless one that is drawn has it
    already."""
    wanted = scene.nodes[cluster].row if cluster >= 0 else 0
    used = {cloud.hue for cloud in others}
    return next(((wanted + n) % N_HUES for n in range(N_HUES) if (wanted + n) % N_HUES not in used), wanted % N_HUES)


def _spiral(n: int, spacing: float, *, turn: int, label: float) -> np.ndarray:
    """Return (n, 2) points of a sunflower around the origin, the innermost first. label: width of a label beside the
    innermost point, under which no other one lies; 0 for none."""
    steps = np.arange(2 * n + 8)
    radius = spacing * np.sqrt(steps + (0.9 if label else 0.0) * (steps > 0))
    angle = steps * _GOLDEN + turn * 1.3
    points = np.stack([_WIDER * radius * np.cos(angle), _FLATTER * radius * np.sin(angle)], axis=1)
    covered = (points[:, 0] > 2) & (points[:, 0] < 22 + label) & (np.abs(points[:, 1]) < _LABEL_HEIGHT / 2 + 4)
    return points[~covered if label else steps >= 0][:n]


def _pack(
    sizes: Sequence[int], wanted: Sequence[float], room: tuple[float, float, float, float], spacing: float
) -> tuple[np.ndarray, np.ndarray]:
    """Return middles and radii, (k, 2) each, of clouds with so many entities: pushed apart, drawn to their wanted x."""
    left, top, right, bottom = room
    radii = _radii(sizes, spacing)
    low = np.array([left, top]) + radii
    high = np.maximum(np.array([right, bottom]) - radii, low)
    height = bottom - top
    fractions = np.array([0.38, 0.62, 0.42, 0.66, 0.36])
    middles = np.stack([np.array(wanted), top + height * np.resize(fractions, len(sizes))], axis=1)
    middles = np.clip(middles, low, high)
    for _ in range(_STEPS):
        apart = middles[:, None] - middles[None]
        needed = radii[:, None] + radii[None]
        scaled = np.sqrt(((apart / needed) ** 2).sum(axis=2))
        np.fill_diagonal(scaled, 2.0)
        # Clouds at one place part by their order, so that the result never depends on chance.
        apart[..., 0] += np.where(scaled < 1e-6, np.sign(np.subtract.outer(range(len(sizes)), range(len(sizes)))), 0)
        push = np.clip(1.04 - scaled, 0, None)[..., None] * apart / np.maximum(scaled, 0.05)[..., None] * 0.35
        pull = np.stack([0.01 * (np.array(wanted) - middles[:, 0]), np.zeros(len(sizes))], axis=1)
        middles = np.clip(middles + push.sum(axis=1) + pull, low, high)
    return middles, radii


def _radii(sizes: Sequence[int], spacing: float) -> np.ndarray:
    """Return (k, 2) half widths and heights of clouds with so many entities."""
    reach = spacing * np.sqrt(np.maximum(np.array(sizes, dtype=float) - 1, 0.3)) + _EDGE
    return np.stack([_WIDER * reach, _FLATTER * reach], axis=1)


def _area(sizes: Sequence[int], spacing: float) -> float:
    return float(math.pi * _radii(sizes, spacing).prod(axis=1).sum())


def _overlap(middles: np.ndarray, radii: np.ndarray) -> float:
    """Return the px by which the two nearest clouds overlap, 0 where none do. middles, radii: (c, 2)."""
    worst = 0.0
    for at in range(len(middles)):
        for other in range(at):
            scaled = float(np.sqrt((((middles[at] - middles[other]) / (radii[at] + radii[other])) ** 2).sum()))
            worst = max(worst, (1 - scaled) * float((radii[at] + radii[other]).min()))
    return worst


def _seated(
    scene: Scene,
    nodes: Sequence[int],
    slots: np.ndarray,
    toward: np.ndarray | None,
    middles: np.ndarray,
    members: Sequence[Sequence[int]],
) -> tuple[tuple[int, float, float], ...]:
    """Return each entity at a point of its cloud: those near the focus first, at the free point nearest to their
    relations.

    slots: (s, 2) points. toward: (2,) the middle of the focus's cloud; None within that cloud itself. middles: (c, 2)
    of the clouds.
    """
    cloud_of = {node: at for at, cloud in enumerate(members) for node in cloud}
    linked: dict[int, list[int]] = {node: [] for node in nodes}
    for link in scene.links:
        if link.layer == 0 and link.hops <= 2:
            for start, end in ((link.source, link.target), (link.target, link.source)):
                if start in linked and end in cloud_of and cloud_of[end] != cloud_of[start]:
                    linked[start].append(cloud_of[end])
    middle = slots[0] if len(slots) else np.zeros(2)
    free = list(range(len(slots)))
    seats: dict[int, int] = {}
    order = sorted(nodes, key=lambda node: (scene.nodes[node].hops, scene.nodes[node].rank, node))
    for node in order:
        near = scene.nodes[node].hops <= 2 and scene.nodes[node].hops > 0
        pull = np.array([middles[cloud] for cloud in linked[node]]).mean(axis=0) if linked[node] else toward
        offsets = slots[free] - middle
        inward = np.sqrt((offsets**2).sum(axis=1))
        if near and pull is not None:
            aim = pull - middle
            aim = aim / max(1e-9, float(np.sqrt((aim**2).sum())))
            along = offsets @ aim
            # Of another cloud: the edge towards the focus. Of the focus's own: near it, on the side of their relations.
            score = -along + (1.1 * inward if toward is None else 0.25 * inward)
        else:
            score = inward if toward is None else np.arange(len(free), dtype=float)
        best = free[int(np.argmin(score))]
        free.remove(best)
        seats[node] = best
    places = slots.round(1).tolist()
    return tuple((node, places[seats[node]][0], places[seats[node]][1]) for node in nodes)


def _bubble(
    places: np.ndarray, middle: np.ndarray, radii: np.ndarray, room: tuple[float, float, float, float]
) -> tuple[float, float]:
    """Return the middle of a cloud's bubble: at its edge, below where there is room, on no entity. places: (p, 2) of
    entities. middle, radii: (2,) of the cloud. room: left, top, right, bottom."""
    left, top, right, bottom = room
    half = np.array([_BUBBLE_WIDTH / 2, _BUBBLE_HEIGHT / 2])
    best, least = (float(middle[0]), float(middle[1] + radii[1])), math.inf
    for step in range(16):
        angle = math.pi / 2 + (step + 1) // 2 * (math.pi / 8) * (1 if step % 2 else -1)
        place = middle + (radii - [6, 4]) * [math.cos(angle), math.sin(angle)]
        place = np.clip(place, [left + half[0], top + half[1]], [right - half[0], bottom - half[1]])
        hits = (np.abs(places - place) < half + 9).all(axis=1).sum() if len(places) else 0
        if hits < least:
            best, least = (round(float(place[0]), 1), round(float(place[1]), 1)), hits
    return best


@dataclass(frozen=True)
class Row:
    """nodes: positions in the scene, from left to right. left, right: px of the room for their boxes."""

    nodes: Sequence[int]
    left: float
    right: float


@dataclass(frozen=True)
class BoxPlace:
    """The middle and the width of a box, px."""

    node: int
    x: float
    width: float


def tree_order(nodes: Sequence[SceneNode], drawn: Sequence[int]) -> dict[int, list[int]]:
    """Return for each aggregated layer its drawn nodes from left to right: siblings together, what leads to the focus
    in the middle of them, the others by turns at its left and right."""
    rows: dict[int, list[int]] = {}
    for layer in sorted({nodes[at].layer for at in drawn if nodes[at].layer > 0}, reverse=True):
        above = {at: place for place, at in enumerate(rows.get(layer + 1, ()))}
        families: dict[int | None, list[int]] = {}
        for at in drawn:
            if nodes[at].layer == layer:
                parent = nodes[at].parent
                families.setdefault(parent if parent in above else None, []).append(at)
        ordered = sorted(families, key=lambda parent: len(above) if parent is None else above[parent])
        rows[layer] = [at for parent in ordered for at in _middle_out(nodes, families[parent])]
    return rows


def row_places(nodes: Sequence[SceneNode], row: Row, x_of: Mapping[int, float]) -> list[BoxPlace]:
    """Return the places of a row's boxes, each as near to the mean of its children as there is room. x_of: of the nodes
    that have a place."""
    n = len(row.nodes)
    if not n:
        return []
    slot = (row.right - row.left) / n
    width = min(slot - _GAP, _WIDEST_LONE if n == 1 else _WIDEST)
    wanted = []
    for place, at in enumerate(row.nodes):
        children = [x for child, x in x_of.items() if nodes[child].parent == at]
        wanted.append(float(np.mean(children)) if children else row.left + (place + 0.5) * slot)
    half = width / 2
    middles = apart(np.array(wanted), width + _GAP, row.left + half, row.right - half)
    return [BoxPlace(at, x, width) for at, x in zip(row.nodes, middles.tolist(), strict=True)]


def apart(wanted: np.ndarray, step: float, low: float, high: float) -> np.ndarray:
    """Return (n,) places in the given order, at least `step` apart and within the bounds, with the least sum of squared
    distances from those wanted."""
    from scipy.optimize import isotonic_regression  # a fifth of a second to import

    shift = step * np.arange(len(wanted))
    fitted = isotonic_regression(wanted - shift).x.clip(low, max(low, high - shift[-1]))
    return np.asarray(fitted + shift)


def _middle_out(nodes: Sequence[SceneNode], family: Sequence[int]) -> list[int]:
    ranked = sorted(family, key=lambda at: (not nodes[at].above_focus, nodes[at].rank, at))
    return [*reversed(ranked[1::2]), *ranked[0::2]]
