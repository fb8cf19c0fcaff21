"""A retrieval's subgraph in the height of a few lines, for columns beside each other.

Items that columns share have the same place in each: filled where another column has them too, a ring where not.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from leanrag_core.figures.drawing import Drawing, Shape, circle, fitted, path, rect, spread, stem, text, text_width
from leanrag_core.figures.drawn_nodes import DrawnNode, drawn_nodes
from leanrag_core.messages.catalog import ENGLISH, sentence
from leanrag_core.messages.message import message
from leanrag_core.types.trace import Trace

HEIGHT = 124
_TOP, _BOTTOM, _ABOVE_BOTTOM = 12.0, 104.0, 74.0  # px of the highest row, of the lowest one, and of the one above it
_MOST_SLOTS, _LEAST_SLOTS, _MOST_ROWS, _MOST_ARCS = 12, 6, 3, 14
_BOX, _GAP, _SIZE = 16.0, 5.0, 10.5
_NARROWEST = 34.0  # px of a box


@dataclass(frozen=True)
class Slots:
    """The places of the lowest row. place_of: by column and id; more: how many items of a column have no place."""

    n: int
    place_of: Mapping[str, Mapping[str, int]]
    more: Mapping[str, int]


def aligned(traces: Mapping[str, Trace]) -> Slots:
    """Return places for the best items of the lowest layer of each column, the same place for the same item."""
    lowest = {letter: _lowest(trace) for letter, trace in traces.items()}
    n = max(_LEAST_SLOTS, min(_MOST_SLOTS, max((len(ids) for ids in lowest.values()), default=0)))
    known: dict[str, int] = {}
    place_of: dict[str, dict[str, int]] = {}
    for letter, ids in lowest.items():
        places = {id_: known[id_] for id_ in ids if id_ in known}
        free = [place for place in range(n) if place not in places.values()]
        for id_, place in zip([id_ for id_ in ids if id_ not in places], free, strict=False):
            places[id_] = place
            known.setdefault(id_, place)
        place_of[letter] = places
    return Slots(n, place_of, {letter: len(ids) - len(place_of[letter]) for letter, ids in lowest.items()})


def _without_passages(trace: Trace, language: str) -> tuple[DrawnNode, ...]:
    """Return the nodes of the figure but passages, which a column lists below it."""
    passages = {passage.id for passage in trace.passages}
    return tuple(node for node in drawn_nodes(trace, language).nodes if node.id not in passages)


def _lowest(trace: Trace) -> list[str]:
    """Return ids of the items in the lowest band: those below the same item together, groups and items by rank."""
    nodes = _without_passages(trace, ENGLISH)
    if not nodes:
        return []
    band = min(node.band for node in nodes)
    items = [node for node in nodes if node.band == band]
    rank = {node.id: node.rank or len(items) + place for place, node in enumerate(items)}
    best: dict[str | None, int] = {}
    for node in items:
        best[node.parent] = min(rank[node.id], best.get(node.parent, len(items) * 2))
    by_rank = sorted(items, key=lambda node: rank[node.id])[:_MOST_SLOTS]
    without_slot = sorted(items, key=lambda node: rank[node.id])[_MOST_SLOTS:]
    ordered = sorted(by_rank, key=lambda node: (best[node.parent], rank[node.id]))
    return [node.id for node in (*ordered, *without_slot)]


def small_graph(
    letter: str, trace: Trace, slots: Slots, owners: Mapping[str, str], *, width: int, language: str = ENGLISH
) -> Drawing:
    """Return the drawing of a column. owners: the columns that have an item, by its id."""
    nodes = _without_passages(trace, language)
    label = sentence(message("figure.small_graph", n=len(nodes)), language)
    if not nodes:
        return passages_drawing(trace, owners, width=width, language=language)
    places = slots.place_of.get(letter, {})
    pitch = width / slots.n
    radius = min(8.5, pitch / 2 - 1)
    at: dict[str, tuple[float, float]] = {id_: (pitch * (place + 0.5), _BOTTOM) for id_, place in places.items()}
    bands = sorted({node.band for node in nodes})[1:]
    shown = bands if len(bands) <= _MOST_ROWS else [*bands[: _MOST_ROWS - 1], bands[-1]]
    boxes: list[Shape] = []
    shapes: list[Shape] = []
    for number, band in enumerate(shown):
        y = _TOP if len(shown) == 1 else _ABOVE_BOTTOM - (_ABOVE_BOTTOM - _TOP) * number / (len(shown) - 1)
        row = _row([node for node in nodes if node.band == band], nodes, at, width)
        for node, x, room in row:
            at[node.id] = (x, y)
            boxes += _box(node, x, y, room)
        if number % 2 == len(shown) % 2 - 1:
            shapes.append(rect(0, y - 13, width, 26, radius=4, fill="band"))
    shapes += _links(nodes, trace, at)
    shapes += boxes
    for node in nodes:
        if node.id in places:
            shapes += _disc(node, *at[node.id], radius, shared=len(owners.get(node.id, "")) > 1)
    if slots.more.get(letter):
        more = sentence(message("figure.more", n=slots.more[letter]), language)
        shapes.append(text(width, HEIGHT - 1, more, size=_SIZE, anchor="end", fill="mute"))
    return Drawing(width, HEIGHT, label, tuple(shapes))


def _row(
    row: Sequence[DrawnNode], nodes: Sequence[DrawnNode], at: Mapping[str, tuple[float, float]], width: int
) -> list[tuple[DrawnNode, float, float]]:
    """Return each node of a band that is drawn, its middle and its width: above what is below it, none over another."""
    middles: dict[str, float] = {}
    for node in row:
        below = [at[child.id][0] for child in nodes if child.parent == node.id and child.id in at]
        if below:
            middles[node.id] = sum(below) / len(below)
    linked = [node for node in row if node.id in middles]
    unplaced = [node for node in row if node.id not in middles]
    most = int((width + _GAP) // (_NARROWEST + _GAP))
    chosen = (linked or unplaced)[:most]
    if not linked:
        middles = {node.id: width * (place + 0.5) / len(chosen) for place, node in enumerate(chosen)}
    chosen = sorted(chosen, key=lambda node: middles[node.id])
    even = (width - _GAP * (len(chosen) - 1)) / max(1, len(chosen))
    rooms = [min(text_width(node.name, _SIZE) + 14, max(even, 0)) for node in chosen]
    lefts = spread([middles[node.id] for node in chosen], rooms, 0.0, float(width), gap=_GAP)
    return [(node, left + room / 2, room) for node, left, room in zip(chosen, lefts, rooms, strict=True)]


def _box(node: DrawnNode, x: float, y: float, room: float) -> list[Shape]:
    """Return an item above the lowest row: a box with its name, filled and with a double border where its shape says
    so."""
    left, top = x - room / 2, y - _BOX / 2
    name = fitted(node.name, room - 10, _SIZE)
    if node.shape == "double":
        return [
            rect(left - 1, top - 1, room + 2, _BOX + 2, radius=4, fill="bg", stroke=node.colour),
            rect(left + 1.5, top + 1.5, room - 3, _BOX - 3, radius=2.5, title=node.about, fill=node.colour),
            text(x, y + 3.8, name, size=_SIZE, anchor="middle", title=node.about, fill="bg", font_weight="650"),
        ]
    fill = f"color-mix(in srgb,var(--lr-{node.colour}) 10%,var(--lr-bg))"
    return [
        rect(left, top, room, _BOX, radius=4, title=node.about, fill=fill, stroke=node.colour, stroke_width="1.3"),
        text(x, y + 3.8, name, size=_SIZE, anchor="middle", title=node.about),
    ]


def _disc(node: DrawnNode, x: float, y: float, radius: float, *, shared: bool) -> list[Shape]:
    fill, ink = (node.colour, "bg") if shared else ("bg", "text")
    shapes = [circle(x, y, radius - 0.7, title=node.about, fill=fill, stroke=node.colour, stroke_width="1.4")]
    if node.rank is not None and radius > 6:
        shapes.append(
            text(x, y + 3.7, str(node.rank), size=_SIZE, anchor="middle", title=node.about, fill=ink, font_weight="650")
        )
    return shapes


def _links(nodes: Sequence[DrawnNode], trace: Trace, at: Mapping[str, tuple[float, float]]) -> list[Shape]:
    """Draw tree links as curves, relations of a band as arcs above it, those of the lowest row dotted."""
    shapes = []
    for node in nodes:
        if node.parent is not None and {node.parent, node.id} <= at.keys():
            shapes.append(path(stem(at[node.parent], at[node.id], 6), stroke="path", stroke_width="1.4"))
    styles = {style.role: style for style in trace.styles if style.on == "relation"}
    parents = {(node.id, node.parent) for node in nodes}
    drawn = 0
    for relation in sorted(trace.relations, key=lambda each: -each.strength):
        ends = (relation.source, relation.target)
        if not {*ends} <= at.keys() or ends in parents or ends[::-1] in parents or drawn >= _MOST_ARCS:
            continue
        drawn += 1
        style = styles.get(relation.role)
        arc = style is not None and style.shape == "arc"
        (x1, y1), (x2, y2) = at[ends[0]], at[ends[1]]
        rise = 14 if arc else min(18, 6 + abs(x1 - x2) / 14)
        d = f"M{x1:.1f} {y1 - 5:.1f}Q{(x1 + x2) / 2:.1f} {min(y1, y2) - 5 - rise:.1f} {x2:.1f} {y2 - 5:.1f}"
        d = d if y1 == y2 else stem(at[ends[0]], at[ends[1]])
        colour = "inter" if arc else "base"
        width, dash = ("2.4", "5 3") if arc else ("1.2", "1.5 3")
        shapes.append(path(d, stroke=colour, stroke_width=width, stroke_dasharray=dash))
    return shapes


def passages_drawing(trace: Trace, owners: Mapping[str, str], *, width: int, language: str = ENGLISH) -> Drawing:
    """Return the passages of a strategy without a graph as bars of their scores, filled where another column has them
    too."""
    passages = trace.passages
    label = sentence(message("figure.ranking", n=len(passages)), language)
    shapes: list[Shape] = [text(0, 11, fitted(label, width, _SIZE), size=_SIZE, fill="mute")]
    most = max(1, int(width // 26))
    shown = passages[:most]
    marks = trace.context.mark_of
    scores = [passage.score or 0.0 for passage in shown]
    low = min(scores, default=0.0) * 0.85 if min(scores, default=0.0) > 0 else min(scores, default=0.0)
    reach = max(scores, default=1.0) - low or 1.0
    step = width / max(len(shown), 6)
    for place, passage in enumerate(shown):
        x, height = step * place + 3, 6 + 52 * (scores[place] - low) / reach
        shared = len(owners.get(passage.id, "")) > 1
        wide, fill = min(21, step - 6), "chunk" if shared else "bg"
        shapes.append(
            rect(x, 92 - height, wide, height, title=passage.name, fill=fill, stroke="chunk", stroke_width="1.3")
        )
        middle = x + wide / 2
        score = f"{scores[place]:.2f}".removeprefix("0") if scores[place] < 10 else f"{scores[place]:.0f}"
        shapes.append(text(middle, 88 - height, score, size=_SIZE, anchor="middle"))
        mark = marks.get(passage.id, "–")
        shapes.append(text(middle, 107, mark, size=_SIZE, anchor="middle", fill="mute"))
    shapes.append(path(f"M0 92.5H{width}", stroke="line"))
    if len(passages) > most:
        more = sentence(message("figure.more", n=len(passages) - most), language)
        shapes.append(text(width, 24, more, size=_SIZE, anchor="end", fill="mute"))
    return Drawing(width, HEIGHT, label, tuple(shapes))
