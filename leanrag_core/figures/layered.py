"""The retrieved subgraph in its layers: fixed positions, the same in every step; only what is lit changes.

x is a fraction of the plot's width, y is in pixels: the browser knows the width, Python knows the rows. Links end at
the edges of boxes and run in the strips between them, so none passes through a box that it does not belong to.
"""

import math
from collections.abc import Collection, Iterable, Sequence
from typing import Any

from leanrag_core.figures.drawing import isolated
from leanrag_core.figures.drawn_nodes import Drawn, DrawnNode, drawn_nodes, kind_title, lit_ids, ranked_name
from leanrag_core.figures.layered_places import (
    FOLD,
    WIDE,
    Dot,
    LayeredGraph,
    Line,
    Plan,
    Row,
    curve_points,
    described,
    fold_apart,
    link_points,
    plan,
    slots,
    sorted_relations,
    strongest,
    tray_width,
)
from leanrag_core.figures.palette import known_colour
from leanrag_core.messages.catalog import ENGLISH, sentence
from leanrag_core.messages.message import Message, Value
from leanrag_core.types.trace import Trace, TraceRelation

RADIUS = 12.0  # px, of a seed with a place of its own
DISC, PITCH = 8.5, 22.0  # px, of a seed in a tray: radius, and from disc to disc
_MOST_DISC_ROWS, _MOST_NAMES, _NAME_STEP = 5, 3, 15.0
_ROOM_FOR_NAMES = 48.0  # px; a narrower tray holds discs alone
_CHARACTER_PX = 6.5  # of a name in a tray, about
_BOX, _TALL_BOX, _NARROWEST_FOR_TWO_LINES = 40.0, 54.0, 100.0  # px; narrow boxes have three lines of text
_ABOVE, _BELOW = 22.0, 14.0  # px between a band's edge and its boxes
_FILLED, LINE_SHAPES = ("disc", "double"), ("line", "arc", "dotted")  # shapes of roles
_NEAR_RISE, _FAR_RISE, _RISE_STEP, _MOST_STEPS, _PILL = 15.0, 30.0, 7.0, 3, 14.0


def layered_graph(
    trace: Trace,
    step: int | None = None,
    *,
    plot_px: int = WIDE,
    language: str = ENGLISH,
    uncounted: Collection[str] = (),
) -> LayeredGraph:
    """Return the subgraph of a trace, lit up to that step (None: everything), for a plot of at least that width.

    language: of the labels. uncounted: ids of nodes that are drawn, but are no part of this retrieval."""
    drawn = drawn_nodes(trace, language)
    if not drawn.nodes:
        return LayeredGraph((), (), (), 0.0, plot_px)
    drawing = _Drawing(trace, drawn, step, plot_px, language)
    drawing.uncounted = frozenset(uncounted)
    return drawing.graph()


class _Drawing:
    """A graph in the making: the plan and the slots, then row by row from the top."""

    uncounted: frozenset[str] = frozenset()

    def __init__(self, trace: Trace, drawn: Drawn, step: int | None, plot_px: int, language: str) -> None:
        self.trace, self.drawn, self.plot_px, self.language = trace, drawn, plot_px, language
        self.band_of = {node.id: node.band for node in drawn.nodes}
        self.plan: Plan = plan(drawn.nodes, plot_px=plot_px)
        self.slots = slots(self.plan, plot_px=plot_px)
        self.lit_nodes, self.lit_relations = lit_ids(trace, step)
        self.relations = sorted_relations(trace, self.band_of)
        self.arcs = strongest(self.relations.arcs, self.band_of, frozenset(self.slots))
        self.colours = {style.role: known_colour(style.colour) for style in trace.styles if style.on == "relation"}
        self.shapes = {style.role: style.shape for style in trace.styles if style.shape in LINE_SHAPES}
        self.dots: dict[str, Dot] = {}

    def graph(self) -> LayeredGraph:
        rows, top = [], 0.0
        for band in sorted({node.band for node in self.drawn.nodes}, reverse=True):
            bottom = self._row(band, top)
            rows.append(Row(band, top, bottom, self._label(band), self._facts(band)))
            top = bottom
        related = self._related()
        in_tree = {relation.id for relation in self.relations.tree}
        return LayeredGraph(
            nodes=tuple(self.dots.values()),
            edges=(*self._tree_links(), *related),
            rows=tuple(rows),
            height=top,
            plot_px=self.plot_px,
            trays=bool(self.plan.trays),
            folded=len(self.plan.folded),
            hidden=sum(relation.id not in in_tree for relation in self.trace.relations) - len(related),
        )

    def _label(self, band: int) -> str:
        kind = self.drawn.kinds.get(band)
        return self._words("markup.layer", layer=band) if kind is None else kind_title(kind, self.language)

    def _words(self, code: str, **values: Value) -> str:
        return sentence(Message(code, values), self.language)

    def _listed(self, names: Iterable[str]) -> str:
        return self._words("text.list").join(names)

    def _facts(self, band: int) -> str:
        row = [node for node in self.drawn.nodes if node.band == band and node.id not in self.uncounted]
        if len(row) == 1 and band > 0:
            styles = [self.trace.style(role) for role in self.trace.item(row[0].id).roles]
            title = next((style.title for style in styles if style is not None and style.shape == "double"), None)
            if title is not None:
                return sentence(title, self.language)
        sizes = self.trace.index.layer_sizes
        known = band not in self.drawn.kinds and band < len(sizes)
        return self._words("figure.nodes_of", n=len(row), total=sizes[band]) if known else f"{len(row):,}"

    # Rows; each returns the band's bottom

    def _row(self, layer: int, top: float) -> float:
        if layer == 0:
            return self._trays(top) if self.plan.trays else self._seeds(top)
        row = self.plan.row(layer)
        narrow = any(self.slots[node.id].width * self.plot_px < _NARROWEST_FOR_TWO_LINES for node in row)
        height = _TALL_BOX if narrow else _BOX
        middle = top + max(_ABOVE, self._headroom(layer)) + height / 2
        for node in sorted(row, key=lambda node: self.slots[node.id].x):
            slot = self.slots[node.id]
            self._add(node, "double" if node.shape == "double" else "box", slot.x, middle, slot.width, height)
        folded = [node for node in self.plan.folded if node.band == layer]
        if folded:
            slot = self.slots[fold_apart(layer) if fold_apart(layer) in self.slots else FOLD]
            code = "figure.parents" if layer == 1 and self.plan.trays else "figure.nodes"
            name = self._words(code, n=len(folded))
            like = next((node for node in folded if node.rank is None), folded[-1])
            lit = any(node.id in self.lit_nodes for node in folded)
            names = self._listed(isolated(node.name) for node in folded)
            about = self._words("figure.weaker", nodes=name, names=names)
            place, members = (slot.x, middle, slot.width, height), tuple(node.id for node in folded)
            look: dict[str, Any] = {"colour": like.colour, "filled": like.shape in _FILLED, "members": members}
            id_ = f"{FOLD}-{layer}"
            self.dots[id_] = Dot(id_, name, like.role, "fold", layer, None, *place, lit, about, **look)
        return middle + height / 2 + _BELOW

    def _headroom(self, layer: int) -> float:
        rises = [self._rise(relation) for relation in self.arcs if self.band_of[relation.source] == layer]
        return max(rises, default=0.0) + (_PILL if rises else 0.0)

    def _seeds(self, top: float) -> float:
        """Lay out layer 0 with a place for each seed and its name below, on two alternating lines."""
        row = sorted(self.plan.row(0), key=lambda node: self.slots[node.id].x)
        xs = [self.slots[node.id].x for node in row]
        middle = top + 44.0 + RADIUS
        for place, node in enumerate(row):
            # A name ends before the stem of its neighbour's, which is on the other line.
            before = xs[place] - xs[place - 1] if place else xs[place] + 0.04
            after = xs[place + 1] - xs[place] if place + 1 < len(row) else 1.03 - xs[place]
            room = round(2 * min(before, after, 0.14), 5)
            width = 2 * RADIUS / self.plot_px
            self._add(node, "dot", xs[place], middle, width, 2 * RADIUS, line=place % 2, room=room)
        return middle + RADIUS + 66.0

    def _trays(self, top: float) -> float:
        """Lay out layer 0 with the seeds of each parent in a tray: discs by rank, then the best names."""
        width_of = {id_: tray_width(self.slots[id_], plot_px=self.plot_px, parent=id_) for id_ in self.plan.trays}
        per_row = {id_: max(1, int(width * self.plot_px // PITCH)) for id_, width in width_of.items()}
        disc_rows = {
            id_: min(_MOST_DISC_ROWS, -(-len(discs) // per_row[id_])) for id_, discs in self.plan.trays.items()
        }
        texts = {id_: self._tray_names(id_, width_of[id_]) for id_ in self.plan.trays}
        each = {id_: self._lines_each(names, width_of[id_]) for id_, (names, _) in texts.items()}
        lines = {id_: len(names) * each[id_] + bool(more) for id_, (names, more) in texts.items()}
        height = 14.0 + max(PITCH * disc_rows[id_] + _NAME_STEP * lines[id_] for id_ in self.plan.trays)
        tray_top = top + _ABOVE
        for id_, seeds in self.plan.trays.items():
            slot, width = self.slots[id_], width_of[id_]
            names, left_over = texts[id_]
            about = self._words("figure.tray", n=len(seeds), names=self._listed(map(ranked_name, seeds)))
            place = (slot.x, tray_top + height / 2, width, height)
            lit = any(seed.id in self.lit_nodes for seed in seeds)
            names_y = tray_top + 8.0 + PITCH * disc_rows[id_]
            more: dict[str, Any] = {"names": names, "more": left_over, "names_y": names_y, "colour": seeds[0].colour}
            more |= {"name_lines": each[id_], "members": tuple(seed.id for seed in seeds)}
            self.dots[f"tray-{id_}"] = Dot(
                f"tray-{id_}", "", seeds[0].role, "tray", 0, None, *place, lit, about, **more
            )
            most = _MOST_DISC_ROWS * per_row[id_]
            shown = seeds if len(seeds) <= most else seeds[: most - 1]
            for number, seed in enumerate(shown):
                x = slot.x - width / 2 + width * (number % per_row[id_] + 0.5) / per_row[id_]
                y = tray_top + 6.0 + PITCH * (number // per_row[id_] + 0.5)
                self._add(seed, "disc", x, y, 2 * DISC / self.plot_px, 2 * DISC)
        return tray_top + height + _BELOW

    def _tray_names(self, id_: str, width: float) -> tuple[tuple[str, ...], int]:
        """Return the names written in a tray, and how many seeds have none there."""
        seeds = self.plan.trays[id_]
        if width * self.plot_px < _ROOM_FOR_NAMES:
            return (), 0
        names = tuple(seed.name for seed in seeds[:_MOST_NAMES])
        return names, len(seeds) - len(names)

    def _lines_each(self, names: Sequence[str], width: float) -> int:
        """Return how many lines each of the names may take: a name alone in its tray, all that three would take."""
        room = width * self.plot_px - 12.0
        needed = max((math.ceil(len(name) * _CHARACTER_PX / room) for name in names), default=1)
        return max(1, min(needed, _MOST_NAMES // max(1, len(names))))

    def _add(self, node: DrawnNode, kind: str, x: float, y: float, width: float, height: float, **more: Any) -> None:
        named = (node.id, node.name, node.role, kind, node.band, node.rank)
        place = (round(x, 5), round(y, 2), round(width, 5), height, node.id in self.lit_nodes)
        more |= {"colour": node.colour, "filled": node.shape in _FILLED}
        self.dots[node.id] = Dot(*named, *place, node.about, **more)

    # Lines

    def _colour(self, role: str) -> str:
        return self.colours.get(role) or known_colour("")

    def _line(self, relation: TraceRelation, points: tuple[tuple[float, float], ...], about: str, **more: Any) -> Line:
        return Line(
            id=relation.id,
            source=relation.source,
            target=relation.target,
            kind=relation.role,
            strength=float(relation.strength),
            points=points,
            about=about,
            colour=self._colour(relation.role),
            shape=self.shapes.get(relation.role, "line"),
            **more,
        )

    def _tree_links(self) -> list[Line]:
        drawn = []
        for relation in self.relations.tree:
            points = self._link(relation)
            if points:
                lit = {relation.source, relation.target} <= self.lit_nodes
                drawn.append(self._line(relation, points, relation.description, lit=lit, pill=False))
        for id_ in self.plan.trays:
            tray, parent = self.dots[f"tray-{id_}"], self.dots.get(id_)
            if parent is None and id_ == FOLD:
                parent = self.dots.get(f"{FOLD}-1")
            if parent is not None:
                points = link_points(*_edges(parent, tray))
                about = self._words("text.titled", title=isolated(parent.name), text=tray.about)
                like = next((link.role for link in self.relations.tree), "")
                lit, colour = tray.lit and parent.lit, self._colour(like)
                drawn.append(Line(tray.id, tray.id, parent.id, like, 1.0, lit, points, False, about, colour))
        return drawn

    def _link(self, relation: TraceRelation, *, discs: bool = False) -> tuple[tuple[float, float], ...]:
        """Return a link between two bands; empty where an end has no place of its own. discs: whether the tray of a
        disc is one."""
        tray_of = {seed.id: f"tray-{id_}" for id_, seeds in self.plan.trays.items() for seed in seeds} if discs else {}
        ends = [self.dots.get(tray_of.get(id_, id_)) for id_ in (relation.source, relation.target)]
        end_dots = sorted((dot for dot in ends if dot is not None and dot.kind != "disc"), key=lambda dot: -dot.layer)
        return link_points(*_edges(*end_dots)) if len(end_dots) == 2 else ()

    def _rise(self, relation: TraceRelation) -> float:
        """Return the px that an arc rises above the boxes it joins: more where it passes over others."""
        band = self.band_of[relation.source]
        row = sorted(self.slots[node.id].x for node in self.plan.row(band))
        between = abs(row.index(self.slots[relation.source].x) - row.index(self.slots[relation.target].x)) - 1
        return _NEAR_RISE if between < 1 else _FAR_RISE + _RISE_STEP * min(between - 1, _MOST_STEPS)

    def _related(self) -> list[Line]:
        """Return relations beside the tree: curves in layer 0, arcs above it, links between bands."""
        drawn = []
        low = () if self.plan.trays else self.relations.low
        across = strongest(self.relations.across, self.band_of, frozenset(self.dots))
        for relation in (*low, *self.arcs, *across):
            ends = [self.dots.get(id_) for id_ in (relation.source, relation.target)]
            placed = [dot for dot in ends if dot is not None]
            if len(placed) < 2:
                continue
            a, b = sorted(placed, key=lambda dot: dot.x)
            if a.layer != b.layer:
                points = self._link(relation, discs=True)
            elif a.layer == 0:
                points = curve_points((a.x, _top(a)), (b.x, _top(b)), 8.0 + 14.0 * (b.x - a.x))
            else:
                start, end = (a.x + 0.3 * a.width, _top(a)), (b.x - 0.3 * b.width, _top(b))
                points = curve_points(start, end, self._rise(relation))
            if points:
                about = described(relation, [dot.name for dot in placed], self.language)
                lit, pill = relation.id in self.lit_relations, bool(relation.layer) and a.layer == b.layer != 0
                drawn.append(self._line(relation, points, about, lit=lit, pill=pill))
        return drawn


def _top(dot: Dot) -> float:
    return dot.y - dot.height / 2


def _edges(upper: Dot, lower: Dot) -> tuple[tuple[float, float], tuple[float, float]]:
    return (upper.x, upper.y + upper.height / 2), (lower.x, _top(lower))
