"""The pictures of a story, computed from an index: documents, base graph, islands and bridges, hierarchy.

Places are plain arithmetic on counts, so that the same index gives the same ones on every machine.
"""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from leanrag_core.presenting.story import (
    MAX_ABOUT,
    Block,
    Bridge,
    Column,
    Documents,
    Dot,
    DrawnDocument,
    GraphPicture,
    Islands,
    Spot,
)
from leanrag_core.queries.islands import components
from leanrag_core.text.tokens import count_many
from leanrag_core.types.graph import Layer
from leanrag_core.types.index import Index
from leanrag_core.types.rows import numbers
from leanrag_core.types.visible import shortened

MOST_DOCUMENTS, MOST_BLOCKS = 24, 60
MOST_SPOTS, MOST_BRIDGES, EACH = 40, 120, 2  # EACH: bridges drawn of each spot where there are more
_MOST_DOTS, _MOST_LINKS = 170, 260
_MOST_TYPES = 6
_LEAST_BLOCK = 1 / 31  # of the height; lower blocks fold
_MOST_NAMES, _MOST_FOLDED = 8, 16
_SUMMARISED = "summarised"
_GOLDEN_ANGLE = math.pi * (3 - math.sqrt(5))
_ASPECT = 880 / 560  # of the figure
_DIGITS = 4


@dataclass(frozen=True)
class Point:
    """A place in the figure, fractions of its width and height."""

    x: float
    y: float


@dataclass(frozen=True)
class _Box:
    x: float
    y: float
    width: float
    height: float


def grouped_places(group_of: Sequence[int]) -> tuple[Point, ...]:
    """Return the place of each node: the nodes of a group lie side by side, in the order in which they are given."""
    sizes = Counter(group_of)
    order = sorted(sizes, key=lambda group: (-sizes[group], group))
    boxes = dict(zip(order, _boxes([sizes[group] for group in order], _Box(0.0, 0.0, 1.0, 1.0)), strict=True))
    cells = {group: iter(_cells(sizes[group], box)) for group, box in boxes.items()}
    return tuple(next(cells[group]) for group in group_of)


def around(centre: Point, n: int, radius: float) -> tuple[Point, ...]:
    """Return n places around a centre, the first nearest to it. radius: as a fraction of the figure's width."""
    points = []
    for number in range(n):
        far, angle = radius * math.sqrt((number + 0.5) / max(n, 1)), number * _GOLDEN_ANGLE
        x, y = centre.x + far * math.cos(angle), centre.y + far * math.sin(angle) * _ASPECT
        points.append(_point(x, y))
    return tuple(points)


def _boxes(sizes: Sequence[int], box: _Box) -> list[_Box]:
    """Return the box cut into boxes with areas by these sizes, halving the longer side."""
    if len(sizes) == 1:
        return [box]
    total, half, cut = sum(sizes), 0, 0
    while cut < len(sizes) - 1 and (half + sizes[cut] / 2 < total / 2 or cut == 0):
        half += sizes[cut]
        cut += 1
    share = half / total
    if box.width * _ASPECT >= box.height:
        first = _Box(box.x, box.y, box.width * share, box.height)
        remainder = _Box(box.x + first.width, box.y, box.width - first.width, box.height)
    else:
        first = _Box(box.x, box.y, box.width, box.height * share)
        remainder = _Box(box.x, box.y + first.height, box.width, box.height - first.height)
    return [*_boxes(sizes[:cut], first), *_boxes(sizes[cut:], remainder)]


def _cells(n: int, box: _Box) -> list[Point]:
    """Return n places in rows, from left to right and back, so that neighbours in the order are neighbours in the
    figure."""
    columns = max(1, round(math.sqrt(n * box.width * _ASPECT * 0.8 / box.height)))
    rows = math.ceil(n / columns)
    cells = []
    for row in range(rows):
        first = row * n // rows
        in_row = (row + 1) * n // rows - first
        for number in range(in_row):
            place = number if row % 2 == 0 else in_row - 1 - number
            # Neighbours are not on one line, so that relations between them can be told apart.
            shift = 0.09 if (place + row) % 2 else -0.09
            x = box.x + box.width * (place + 0.5) / in_row
            cells.append(_point(x, box.y + box.height * (row + 0.5 + shift) / rows))
    return cells


def _point(x: float, y: float) -> Point:
    return Point(round(min(max(x, 0.0), 1.0), _DIGITS), round(min(max(y, 0.0), 1.0), _DIGITS))


def documents_of(index: Index) -> Documents:
    """Return the documents with their chunks, the largest drawn."""
    owner, tokens = numbers(index.chunks["document"]), numbers(index.chunks["tokens"])
    # Counted as a corpus counts them: the sum over chunks would have their overlaps twice.
    of_document = count_many(index.documents["text"].to_pylist())
    largest = np.sort(np.argsort(-of_document, kind="stable")[:MOST_DOCUMENTS])
    titles, names = (index.document_cells[column] for column in ("title", "name"))
    drawn = tuple(
        DrawnDocument(
            title=_short(titles[row].as_py() or names[row].as_py()),
            tokens=int(of_document[row]),
            chunks=tuple(tokens[owner == row][:MOST_BLOCKS].tolist()),
        )
        for row in largest.tolist()
    )
    return Documents(index.documents.num_rows, int(of_document.sum()), index.chunks.num_rows, drawn)


def islands_of(index: Index) -> tuple[Islands, np.ndarray] | None:
    """Return the picture of the lowest aggregated layer of several entities, and its rows by spot; None where none has
    two. The rows are (spots,) int."""
    layer = _layer_of_islands(index)
    if layer is None:
        return None
    rows, group_of, groups = _ordered_rows(index, layer)
    places = grouped_places(group_of)
    place_of = {row: place for place, row in enumerate(rows.tolist())}
    leaves = index.leaf_counts[layer.number]
    spots = tuple(_spot(layer, row, places[place], group_of[place], leaves) for row, place in place_of.items())
    ends = layer.ends
    inside = np.isin(ends, rows).all(axis=1)
    strength = numbers(layer.relations["strength"])
    order = np.flatnonzero(inside)[np.argsort(-strength[inside], kind="stable")]
    if len(order) > MOST_BRIDGES:
        order = _strongest_of_each(ends, order)
    bridges = tuple(_bridge(layer, row, place_of) for row in order.tolist())
    parts = components(len(layer), layer.ends)
    islands = Islands(
        layer=layer.number,
        nodes=len(layer),
        relations=layer.relations.num_rows,
        summarised=Counter(layer.relations["kind"].to_pylist())[_SUMMARISED],
        components_without=len(layer),  # relations above layer 0 are all aggregated (LeanRAG, introduction)
        components_with=len(parts),
        largest=int(parts.sizes[0]),
        groups=groups,
        spots=spots,
        bridges=bridges,
    )
    return islands, rows


def _strongest_of_each(ends: np.ndarray, order: np.ndarray) -> np.ndarray:
    """Return, of (k,) rows of relations in order of strength, those that are among the strongest of one of their
    ends."""
    n_drawn: Counter[int] = Counter()
    kept = []
    for row in order.tolist():
        pair = ends[row].tolist()
        if any(n_drawn[end] < EACH for end in pair):
            kept.append(row)
            n_drawn.update(pair)
    return np.array(kept, dtype=np.int64)


def graph_of(index: Index, layer: int, rows: np.ndarray, spots: Sequence[Spot]) -> GraphPicture:
    """Return the entities with most relations below each spot, around its place. rows: (spots,) of the spots in that
    layer."""
    base = index.layers[0]
    above = index.lifted(np.arange(len(base)), 0, layer)
    each = max(2, min(9, _MOST_DOTS // len(spots)))
    radius = 0.36 / max(4.0, np.sqrt(len(spots)) + 1.5)
    dots: list[Dot] = []
    place_of: dict[int, int] = {}
    for spot, row in enumerate(rows.tolist()):
        members = np.flatnonzero(above == row)
        members = members[np.argsort(-base.degrees[members], kind="stable")][:each]
        for point, member in zip(
            around(Point(spots[spot].x, spots[spot].y), len(members), float(radius)), members.tolist(), strict=True
        ):
            place_of[member] = len(dots)
            name, kind = (base.entity_cells.value(column, member) for column in ("name", "type"))
            dots.append(Dot(_short(name), _short(kind), point.x, point.y, int(base.degrees[member]), spot))
    drawn = base.relations_inside(list(place_of))
    heavy = drawn[np.argsort(-base.weights[drawn], kind="stable")][:_MOST_LINKS]
    links = tuple((place_of[a], place_of[b]) for a, b in base.ends[np.sort(heavy)].tolist())
    types = Counter(kind for kind in base.entities["type"].to_pylist() if kind)
    common = sorted(types.items(), key=lambda pair: (-pair[1], pair[0]))[:_MOST_TYPES]
    return GraphPicture({_short(kind): n for kind, n in common}, tuple(dots), links)


def hierarchy_of(index: Index) -> tuple[Column, ...]:
    """Return the layers from the root down; blocks lie below their parents and are as high as they have base
    entities."""
    drawn = _roots(index)
    blocks: dict[int, list[Block]] = {layer.number: [] for layer in index.layers[1:]}
    for layer in reversed(index.layers[1:]):
        lowest, below = layer.number == 1, []
        blocks[layer.number] += [_block(index, layer, row, start, end, lowest) for row, start, end in drawn]
        for row, start, end in drawn if not lowest else ():
            children, folded = _children(index, layer.number, row, start, end)
            below += children
            blocks[layer.number - 1] += folded
        drawn = below
    return tuple(
        Column(number, len(index.layers[number]), tuple(sorted(blocks[number], key=lambda block: block.start)))
        for number in sorted(blocks, reverse=True)
    )


def _roots(index: Index) -> list[tuple[int, float, float]]:
    """Return row, start and end of the blocks of the highest layer; an imported hierarchy may end in several."""
    leaves = index.leaf_counts[-1]
    bounds = [0.0, *(np.cumsum(leaves) / len(index.layers[0])).tolist()]
    return [(row, bounds[row], bounds[row + 1]) for row in range(len(leaves))]


def _children(
    index: Index, layer: int, row: int, start: float, end: float
) -> tuple[list[tuple[int, float, float]], list[Block]]:
    """Return the children of a block that are high enough to be drawn, the largest first, and a block for the
    others."""
    children, leaves, total = index.children_of(layer, row), index.leaf_counts[layer - 1], len(index.layers[0])
    ordered = children[np.argsort(-leaves[children], kind="stable")]
    drawn: list[tuple[int, float, float]] = []
    at = start
    for place, child in enumerate(ordered.tolist()):
        height = float(leaves[child]) / total
        if height < _LEAST_BLOCK and place + 1 < len(ordered):
            others = ordered[place:]
            cells = index.layers[layer - 1].entity_cells["name"]
            names = tuple(_short(cells[child].as_py(), 60) for child in others[:_MOST_FOLDED].tolist())
            block = Block("", round(at, 5), round(min(end, 1.0), 5), int(leaves[others].sum()), len(others), names)
            return drawn, [block]
        drawn.append((child, at, at + height))
        at += height
    return drawn, []


def _block(index: Index, layer: Layer, row: int, start: float, end: float, lowest: bool) -> Block:
    names: tuple[str, ...] = ()
    if lowest:
        base = index.layers[0]
        members = index.children_of(1, row)
        best = members[np.argsort(-base.degrees[members], kind="stable")][:_MOST_NAMES]
        names = tuple(_short(base.entity_cells.value("name", member), 60) for member in best.tolist())
    name, about = (layer.entity_cells.value(column, row) for column in ("name", "description"))
    size = int(index.leaf_counts[layer.number][row])
    start, end = round(min(start, 1.0), 5), round(min(end, 1.0), 5)
    return Block(_short(name), start, end, size, names=names, about=_short(about, MAX_ABOUT))


def _layer_of_islands(index: Index) -> Layer | None:
    """Return the lowest aggregated layer that has two entities: its summaries are nearest to the texts."""
    return next((layer for layer in index.layers[1:] if len(layer) > 1), None)


def _ordered_rows(index: Index, layer: Layer) -> tuple[np.ndarray, list[int], tuple[str, ...]]:
    """Return the largest rows of the layer, each group of siblings in an order in which strongly related ones follow
    each other; the group of each; and the names of the groups. The rows are (k,) int."""
    leaves = index.leaf_counts[layer.number]
    largest = np.argsort(-leaves, kind="stable")[:MOST_SPOTS]
    parents = layer.parent[largest] if len(layer.parent) else np.zeros(len(largest), dtype=np.int64)
    rows: list[int] = []
    group_of: list[int] = []
    titles = []
    for group, parent in enumerate(dict.fromkeys(parents.tolist())):
        members = largest[parents == parent].tolist()
        rows += _chained(layer, members)
        group_of += [group] * len(members)
        above = index.layers[layer.number + 1] if layer.number + 1 < len(index.layers) else None
        titles.append(_short(above.entity_cells.value("name", parent)) if above is not None else "")
    return np.array(rows, dtype=np.int64), group_of, tuple(titles)


def _chained(layer: Layer, members: Sequence[int]) -> list[int]:
    """Return the members, each followed by the one that it is most strongly related to of those that are left."""
    strength: dict[tuple[int, int], int] = {}
    for row in layer.relations_inside(members).tolist():
        a, b = layer.ends[row].tolist()
        strength[a, b] = strength[b, a] = int(layer.relation_cells.value("strength", row))
    chain, left = [members[0]], list(members[1:])
    while left:
        last = chain[-1]
        following = max(left, key=lambda row: (strength.get((last, row), 0), -left.index(row)))
        chain.append(following)
        left.remove(following)
    return chain


def _spot(layer: Layer, row: int, place: Point, group: int, leaves: np.ndarray) -> Spot:
    """Return a node as a spot at its place. leaves: (n,) base entities below each row of the layer."""
    name, about = (layer.entity_cells.value(column, row) for column in ("name", "description"))
    relations = int(layer.degrees[row])
    return Spot(_short(name), place.x, place.y, int(leaves[row]), group, relations, _short(about, MAX_ABOUT))


def _bridge(layer: Layer, row: int, place_of: dict[int, int]) -> Bridge:
    relation = layer.relation(row)
    return Bridge(
        source=place_of[relation.source],
        target=place_of[relation.target],
        strength=relation.strength,
        is_summarised=relation.kind == _SUMMARISED,
        about=_short(relation.description, MAX_ABOUT // 2),
    )


def _short(text: str | None, most: int = 160) -> str:
    return shortened(" ".join((text or "").split()), most)
