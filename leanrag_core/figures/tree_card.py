"""The subtree of one retrieval in a narrow card: seeds at fixed places, boxes with the entities below them, the way to
the root."""

from collections.abc import Mapping, Sequence

from leanrag_core.figures.drawing import Drawing, Shape, circle, path, rect, spread, stem, text
from leanrag_core.messages.catalog import ENGLISH, sentence
from leanrag_core.messages.message import message
from leanrag_core.types.index import Index
from leanrag_core.types.trace import Trace, TraceItem

ROW = 39  # px of a layer
_LABEL, _BOX, _GAP, _SIZE = 22.0, 17.0, 4.0, 10.5
MOST_SEEDS = 15  # drawn one by one; more are counted in their parents
_MOST_ARCS = 10
_TRAY, _LEAST_TRAY, _DIGIT = 12.0, 2.0, 7.0  # px of half a tray, of half of the narrowest one, and of a digit


def seed_places(traces: Sequence[Trace]) -> dict[str, int]:
    """Return the place of each seed, the same in every card: those of the first trace below the same item together,
    then those that only later traces have."""
    places: dict[str, int] = {}
    for trace in traces:
        seeds = _seeds(trace)
        best = {seed.parent: seed.rank or 0 for seed in reversed(seeds)}
        for seed in sorted(seeds, key=lambda each: (best[each.parent], each.rank or 0)):
            places.setdefault(seed.id, len(places))
    return places


def _seeds(trace: Trace) -> list[TraceItem]:
    return sorted((item for item in trace.with_role("seed") if item.layer == 0), key=lambda item: item.rank or 0)


def tree_card(
    trace: Trace,
    index: Index,
    places: Mapping[str, int],
    *,
    n_layers: int,
    width: int,
    arcs: bool = True,
    language: str = ENGLISH,
) -> Drawing:
    """Return the card's drawing. places: of the seeds, by id (seed_places). n_layers: rows of every card, so that the
    lowest layer lies on one line in all of them. arcs: relations between items above the base are drawn."""
    height = ROW * n_layers + 8
    seeds = _seeds(trace)
    nodes = {item.id: item for item in trace.items if item.layer and item.row is not None}
    pitch = (width - _LABEL) / max(1, len(places))

    def middle(layer: int) -> float:
        return height - ROW * (layer + 0.5) - 4

    at = {seed.id: (_LABEL + pitch * (places[seed.id] + 0.5), middle(0)) for seed in seeds}
    shapes: list[Shape] = []
    for layer in range(len(index.layers)):
        if (layer + n_layers) % 2:
            shapes.append(rect(0, middle(layer) - ROW / 2, width, ROW, radius=0, fill="band"))
        shapes.append(text(0, middle(layer) + 4, f"L{layer}", size=_SIZE, fill="mute"))
    boxes: list[Shape] = []
    children = [*seeds, *nodes.values()]
    for layer in range(1, len(index.layers)):
        row = [item for item in nodes.values() if item.layer == layer]
        means = {}
        for item in row:
            below = [at[child.id][0] for child in children if child.parent == item.id and child.id in at]
            means[item.id] = sum(below) / len(below) if below else _LABEL + (width - _LABEL) / 2
        row.sort(key=lambda item: (means[item.id], item.id))
        room = min(40.0, (width - 2 - _LABEL - _GAP * (len(row) - 1)) / max(1, len(row)))
        lefts = spread([means[item.id] for item in row], [room] * len(row), _LABEL, width - 2.0, gap=_GAP)
        for item, left in zip(row, lefts, strict=True):
            at[item.id] = (left + room / 2, middle(layer))
            boxes += _box(item, index, left + room / 2, middle(layer), room)
    tops = [item for item in trace.with_role("lca") if item.id in at and item.row is not None and item.layer]
    for top in tops[:1]:
        x, y = at[top.id]
        for layer, place in index.ancestors(top.layer or 0, top.row or 0):
            if layer <= (top.layer or 0):
                continue
            shapes.append(path(f"M{x:.1f} {y - 10:.1f}V{middle(layer) + 9:.1f}", stroke="tree", stroke_dasharray="2 3"))
            boxes += _above(index, layer, place, x, middle(layer))
            y = middle(layer)
    is_tray = len(places) > MOST_SEEDS
    for child in nodes.values() if is_tray else children:
        if child.parent in at and child.id in at and child.parent != child.id:
            shapes.append(path(stem(at[child.parent], at[child.id], 8), stroke="path", stroke_width="1.2"))
    if arcs:
        shapes += _arcs(trace, at, nodes)
    shapes += boxes
    shapes += _trays(seeds, at, nodes, middle(0), width) if is_tray else _discs(seeds, at, pitch)
    label = sentence(message("figure.small_graph", n=len(seeds) + len(nodes)), language)
    return Drawing(width, height, label, tuple(shapes))


def _count(index: Index, layer: int, row: int) -> str:
    return f"{int(index.leaf_counts[layer][row]):,}"


def _box(item: TraceItem, index: Index, x: float, y: float, room: float) -> list[Shape]:
    """Return an item above the base with the number of entities below it; where the seeds meet, filled."""
    is_top = "lca" in item.roles
    colour = "lca" if is_top else "path"
    fill, ink = (colour, "bg") if is_top else ("pathfill", "text")
    count = _count(index, item.layer or 0, item.row or 0)
    shapes = [rect(x - room / 2, y - _BOX / 2, room, _BOX, radius=4, title=item.name, fill=fill, stroke=colour)]
    if is_top:
        shapes.insert(
            0, rect(x - room / 2 - 2, y - _BOX / 2 - 2, room + 4, _BOX + 4, radius=5, fill="bg", stroke=colour)
        )
    if room >= _DIGIT * len(count):
        shapes.append(text(x, y + 3.8, count, size=_SIZE, anchor="middle", title=item.name, fill=ink))
    return shapes


def _above(index: Index, layer: int, row: int, x: float, y: float) -> list[Shape]:
    """Return an item above the common ancestor, which is not read."""
    name = str(index.layers[layer].entity_cells.value("name", row))
    return [
        rect(x - 20, y - _BOX / 2, 40, _BOX, radius=4, title=name, fill="bg", stroke="tree", stroke_dasharray="2 2"),
        text(x, y + 3.8, _count(index, layer, row), size=_SIZE, anchor="middle", title=name, fill="mute"),
    ]


def _arcs(trace: Trace, at: Mapping[str, tuple[float, float]], nodes: Mapping[str, TraceItem]) -> list[Shape]:
    """Return the strongest relations between items above the base."""
    shapes: list[Shape] = []
    for relation in sorted(trace.relations, key=lambda each: (-each.strength, each.id)):
        ends = relation.source, relation.target
        style = trace.style(relation.role, on="relation")
        if style is None or style.shape != "arc" or not {*ends} <= nodes.keys() or len(shapes) >= _MOST_ARCS:
            continue
        (x1, y1), (x2, y2) = at[ends[0]], at[ends[1]]
        d = f"M{x1:.1f} {y1 - 8:.1f}Q{(x1 + x2) / 2:.1f} {min(y1, y2) - 22:.1f} {x2:.1f} {y2 - 8:.1f}"
        shapes.append(path(d, stroke="inter", stroke_width="2", stroke_dasharray="5 3"))
    return shapes


def _discs(seeds: Sequence[TraceItem], at: Mapping[str, tuple[float, float]], pitch: float) -> list[Shape]:
    radius, shapes = min(8.5, pitch / 2 - 0.5), []
    for seed in seeds:
        x, y = at[seed.id]
        shapes.append(circle(x, y, radius, title=seed.name, fill="seed"))
        if radius > 6:
            shapes.append(text(x, y + 3.6, str(seed.rank or ""), size=9.5, anchor="middle", title=seed.name, fill="bg"))
    return shapes


def _trays(
    seeds: Sequence[TraceItem],
    at: Mapping[str, tuple[float, float]],
    nodes: Mapping[str, TraceItem],
    y: float,
    width: float,
) -> list[Shape]:
    """Return the number of seeds in each parent, where they are too many to be drawn one by one; without the number
    where the next tray leaves no room for it."""
    shapes: list[Shape] = []
    parents = list(dict.fromkeys(seed.parent or "" for seed in seeds if seed.parent in nodes))
    for parent in parents:
        x, _ = at[parent]
        n = sum(seed.parent == parent for seed in seeds)
        nearest = min((abs(at[other][0] - x) for other in parents if other != parent), default=2 * _TRAY)
        half = max(_LEAST_TRAY, min(_TRAY, nearest / 2 - 1, width - x - 1))
        shapes.append(path(f"M{x:.1f} {at[parent][1] + 8:.1f}V{y - 8:.1f}", stroke="path", stroke_width="1.2"))
        name = nodes[parent].name
        shapes.append(rect(x - half, y - 8, 2 * half, 16, radius=min(8.0, half), fill="seed", title=name))
        if 2 * half >= _DIGIT * len(str(n)):
            shapes.append(text(x, y + 3.6, str(n), size=_SIZE, anchor="middle", title=name, fill="bg"))
    return shapes
