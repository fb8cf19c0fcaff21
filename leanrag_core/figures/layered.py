"""The retrieved subgraph in its layers: fixed positions, the same in every step; only what is lit changes.

x is a fraction of the plot's width, y is in pixels: the browser knows the width, Python knows the rows. Links end at
the edges of boxes and run in the strips between them, so none passes through a box that it does not belong to.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from leanrag_core.figures.direction import isolated
from leanrag_core.figures.layered_places import FOLD, Plan, plan, slots, tray_width
from leanrag_core.types.trace import Trace, TraceNode, TraceRelation

MOST_ARCS = 10  # inter-cluster relations drawn in a layer, the strongest; the table has all
NARROW, MEDIUM, WIDE = 300, 490, 640  # px of the plots that the browser chooses from
RADIUS = 12.0  # px, of a seed with a place of its own
DISC, PITCH = 8.5, 22.0  # px, of a seed in a tray: radius, and from disc to disc
_MOST_DISC_ROWS, _MOST_NAMES, _NAME_STEP = 5, 3, 15.0
_ROOM_FOR_NAMES = 56.0  # px; a narrower tray holds discs alone
_BOX, _TALL_BOX, _NARROWEST_FOR_TWO_LINES = 40.0, 54.0, 100.0  # px; narrow boxes have three lines of text
_ABOVE, _BELOW = 22.0, 14.0  # px between a band's edge and its boxes
_NEAR_RISE, _FAR_RISE, _RISE_STEP, _MOST_STEPS, _PILL = 15.0, 30.0, 7.0, 3, 14.0


@dataclass(frozen=True)
class Dot:
    """A node as it is drawn. kind: dot, box, double (the LCA), tray, fold. x, y: its middle. x, width: fractions of the
    plot's width; y, height: px. line, room: which of two lines a seed's name stands on, and the width it may take.
    names, more, names_y: of a tray, its best names, how many seeds follow, and where the names begin."""

    id: str
    name: str
    role: str
    kind: str
    layer: int
    rank: int | None
    x: float
    y: float
    width: float
    height: float
    lit: bool
    about: str
    line: int = 0
    room: float = 0.0
    names: tuple[str, ...] = ()
    more: int = 0
    names_y: float = 0.0


@dataclass(frozen=True)
class Line:
    """An edge as it is drawn. kind: tree, base, inter-cluster. points: control points of a Bezier curve, four for a
    tree link, else three; x fractions, y px. pill: whether lambda may be written on it."""

    id: str
    source: str
    target: str
    kind: str
    strength: float
    lit: bool
    points: tuple[tuple[float, float], ...]
    pill: bool
    about: str


@dataclass(frozen=True)
class Row:
    """A layer's band: from top to bottom px, with its label and a second line of facts."""

    layer: int
    top: float
    bottom: float
    label: str
    facts: str


@dataclass(frozen=True)
class LayeredGraph:
    """All that the drawing needs. plot_px: the least width of the plot. height: px. n_seeds: in layer 0. trays: whether
    they stand in trays. folded: nodes above layer 0 that a count stands for. hidden: inter-cluster and base relations
    that are not drawn."""

    nodes: tuple[Dot, ...]
    edges: tuple[Line, ...]
    rows: tuple[Row, ...]
    height: float
    plot_px: int = WIDE
    n_seeds: int = 0
    trays: bool = False
    folded: int = 0
    hidden: int = 0


def layered_graph(
    trace: Trace, layer_sizes: Sequence[int], step: int | None = None, *, plot_px: int = WIDE
) -> LayeredGraph:
    """The subgraph of a trace with what is lit up to that step (None: everything), for a plot of at least that width.

    layer_sizes: entities of each layer of the index, for "4 of 122".
    """
    if not trace.nodes:
        return LayeredGraph((), (), (), 0.0, plot_px)
    return _Drawing(trace, layer_sizes, step, plot_px).graph()


class _Drawing:
    """A graph in the making: the plan and the slots, then row by row from the top."""

    def __init__(self, trace: Trace, layer_sizes: Sequence[int], step: int | None, plot_px: int) -> None:
        self.trace, self.layer_sizes, self.plot_px = trace, layer_sizes, plot_px
        self.plan: Plan = plan(trace.nodes, plot_px=plot_px)
        self.slots = slots(self.plan, plot_px=plot_px)
        self.lit_nodes, self.lit_relations = _lit(trace, step)
        self.arcs = self._drawn_arcs()
        self.dots: dict[str, Dot] = {}

    def graph(self) -> LayeredGraph:
        rows, top = [], 0.0
        layers = sorted({node.layer for node in self.trace.nodes}, reverse=True)
        for layer in layers:
            bottom = self._row(layer, top)
            rows.append(Row(layer, top, bottom, f"Layer {layer}", self._facts(layer)))
            top = bottom
        links = [*self._tree_links(), *self._relations()]
        related = [relation for relation in self.trace.relations if relation.kind != "tree"]
        return LayeredGraph(
            nodes=tuple(self.dots.values()),
            edges=tuple(links),
            rows=tuple(rows),
            height=top,
            plot_px=self.plot_px,
            n_seeds=sum(node.layer == 0 for node in self.trace.nodes),
            trays=bool(self.plan.trays),
            folded=len(self.plan.folded),
            hidden=len(related) - sum(link.kind != "tree" for link in links),
        )

    def _facts(self, layer: int) -> str:
        row = [node for node in self.trace.nodes if node.layer == layer]
        if self.trace.lca is not None and [node.id for node in row] == [self.trace.lca.id] and layer > 0:
            return "LCA"
        return f"{len(row):,} of {self.layer_sizes[layer]:,}" if layer < len(self.layer_sizes) else f"{len(row):,}"

    # Rows; each returns the band's bottom

    def _row(self, layer: int, top: float) -> float:
        if layer == 0:
            return self._trays(top) if self.plan.trays else self._seeds(top)
        row = [node for node in self.plan.tree.nodes if node.layer == layer]
        narrow = any(self.slots[node.id].width * self.plot_px < _NARROWEST_FOR_TWO_LINES for node in row)
        height = _TALL_BOX if narrow else _BOX
        middle = top + max(_ABOVE, self._headroom(layer)) + height / 2
        for node in sorted(row, key=lambda node: self.slots[node.id].x):
            slot = self.slots[node.id]
            self._add(node, self._kind(node), slot.x, middle, slot.width, height)
        folded = [node for node in self.plan.folded if node.layer == layer]
        if folded:
            slot, what = self.slots[FOLD], "parent" if layer == 1 else "node"
            name = f"+{len(folded)} {what}{'s' if len(folded) > 1 else ''}"
            lit = any(node.id in self.lit_nodes for node in folded)
            about = f"{name}, weaker than those drawn: {', '.join(isolated(node.name) for node in folded)}"
            place = (slot.x, middle, slot.width, height)
            self.dots[f"{FOLD}-{layer}"] = Dot(f"{FOLD}-{layer}", name, "path", "fold", layer, None, *place, lit, about)
        return middle + height / 2 + _BELOW

    def _headroom(self, layer: int) -> float:
        rises = [self._rise(relation) for relation in self.arcs if relation.layer == layer]
        return max(rises, default=0.0) + (_PILL if rises else 0.0)

    def _seeds(self, top: float) -> float:
        """Layer 0 with a place for each seed and its name below, on two alternating lines."""
        row = sorted((node for node in self.plan.tree.nodes if node.layer == 0), key=lambda node: self.slots[node.id].x)
        xs = [self.slots[node.id].x for node in row]
        middle = top + 44.0 + RADIUS
        for place, node in enumerate(row):
            # A name ends before the stem of its neighbour's, which stands on the other line.
            before = xs[place] - xs[place - 1] if place else xs[place] + 0.04
            after = xs[place + 1] - xs[place] if place + 1 < len(row) else 1.03 - xs[place]
            room = round(2 * min(before, after, 0.14), 5)
            width = 2 * RADIUS / self.plot_px
            self._add(node, "dot", xs[place], middle, width, 2 * RADIUS, line=place % 2, room=room)
        return middle + RADIUS + 66.0

    def _trays(self, top: float) -> float:
        """Layer 0 with the seeds of each parent in a tray: discs by rank, then the best names."""
        width_of = {id_: tray_width(self.slots[id_], plot_px=self.plot_px) for id_ in self.plan.trays}
        per_row = {id_: max(1, int(width * self.plot_px // PITCH)) for id_, width in width_of.items()}
        disc_rows = {id_: min(_MOST_DISC_ROWS, -(-len(held) // per_row[id_])) for id_, held in self.plan.trays.items()}
        texts = {id_: self._tray_names(id_, width_of[id_]) for id_ in self.plan.trays}
        lines = {id_: len(names) + bool(more) for id_, (names, more) in texts.items()}
        height = 14.0 + max(PITCH * disc_rows[id_] + _NAME_STEP * lines[id_] for id_ in self.plan.trays)
        tray_top = top + _ABOVE
        for id_, seeds in self.plan.trays.items():
            slot, width = self.slots[id_], width_of[id_]
            names, left_over = texts[id_]
            about = f"{len(seeds)} seeds: {', '.join(f'{seed.rank} {isolated(seed.name)}' for seed in seeds)}"
            place = (slot.x, tray_top + height / 2, width, height)
            lit = any(seed.id in self.lit_nodes for seed in seeds)
            names_y = tray_top + 8.0 + PITCH * disc_rows[id_]
            more: dict[str, Any] = {"names": names, "more": left_over, "names_y": names_y}
            self.dots[f"tray-{id_}"] = Dot(f"tray-{id_}", "", "seed", "tray", 0, None, *place, lit, about, **more)
            most = _MOST_DISC_ROWS * per_row[id_]
            shown = seeds if len(seeds) <= most else seeds[: most - 1]
            for number, seed in enumerate(shown):
                x = slot.x - width / 2 + width * (number % per_row[id_] + 0.5) / per_row[id_]
                y = tray_top + 6.0 + PITCH * (number // per_row[id_] + 0.5)
                self._add(seed, "disc", x, y, 2 * DISC / self.plot_px, 2 * DISC)
        return tray_top + height + _BELOW

    def _tray_names(self, id_: str, width: float) -> tuple[tuple[str, ...], int]:
        """The names written in a tray, and how many seeds have none there."""
        seeds = self.plan.trays[id_]
        if width * self.plot_px < _ROOM_FOR_NAMES:
            return (), 0
        names = tuple(seed.name for seed in seeds[:_MOST_NAMES])
        return names, len(seeds) - len(names)

    def _add(self, node: TraceNode, kind: str, x: float, y: float, width: float, height: float, **more: Any) -> None:
        lit, about = node.id in self.lit_nodes, _about(node, self.trace)
        place = (round(x, 5), round(y, 2), round(width, 5), height)
        self.dots[node.id] = Dot(node.id, node.name, node.role, kind, node.layer, node.rank, *place, lit, about, **more)

    def _kind(self, node: TraceNode) -> str:
        lca = self.trace.lca
        return "double" if lca is not None and node.id == lca.id and node.role == "lca" else "box"

    # Lines

    def _tree_links(self) -> list[Line]:
        drawn = []
        for relation in self.trace.relations:
            child, parent = self.dots.get(relation.source), self.dots.get(relation.target)
            if relation.kind != "tree" or child is None or parent is None or child.kind == "disc":
                continue
            lit = {child.id, parent.id} <= self.lit_nodes
            drawn.append(_link(relation.id, child, parent, lit, relation.description))
        for id_ in self.plan.trays:
            tray, parent = self.dots[f"tray-{id_}"], self.dots.get(id_)
            if parent is None and id_ == FOLD:
                parent = self.dots.get(f"{FOLD}-1")
            if parent is not None:
                drawn.append(
                    _link(tray.id, tray, parent, tray.lit and parent.lit, f"{isolated(parent.name)}: {tray.about}")
                )
        return drawn

    def _drawn_arcs(self) -> list[TraceRelation]:
        """The strongest inter-cluster relations of each layer whose ends are drawn."""
        drawn: list[TraceRelation] = []
        arcs = [one for one in self.trace.relations if one.kind == "inter-cluster"]
        for layer in {relation.layer for relation in arcs}:
            row = [one for one in arcs if one.layer == layer and {one.source, one.target} <= self.slots.keys()]
            drawn += sorted(row, key=lambda relation: (-relation.strength, relation.id))[:MOST_ARCS]
        return drawn

    def _rise(self, relation: TraceRelation) -> float:
        """px that an arc rises above the boxes it joins: more where it passes over others."""
        row = sorted(self.slots[node.id].x for node in self.plan.tree.nodes if node.layer == relation.layer)
        between = abs(row.index(self.slots[relation.source].x) - row.index(self.slots[relation.target].x)) - 1
        return _NEAR_RISE if between < 1 else _FAR_RISE + _RISE_STEP * min(between - 1, _MOST_STEPS)

    def _relations(self) -> list[Line]:
        base = [one for one in self.trace.relations if one.kind == "base" and not self.plan.trays]
        drawn = []
        for relation in [*base, *self.arcs]:
            ends = [self.dots.get(id_) for id_ in (relation.source, relation.target)]
            if ends[0] is None or ends[1] is None:
                continue
            a, b = sorted((end for end in ends if end is not None), key=lambda dot: dot.x)
            both = " and ".join(isolated(end.name) for end in ends if end is not None)
            if relation.kind == "base":
                rise, about = 8.0 + 14.0 * (b.x - a.x), f"{both}: {relation.description}"
                start, end = (a.x, a.y - a.height / 2), (b.x, b.y - b.height / 2)
            else:
                rise = self._rise(relation)
                about = f"{both}: {relation.strength:.0f} relations, {relation.made}. {relation.description}"
                start, end = (a.x + 0.3 * a.width, a.y - a.height / 2), (b.x - 0.3 * b.width, b.y - b.height / 2)
            points = (start, ((start[0] + end[0]) / 2, min(start[1], end[1]) - 2 * rise), end)
            lit, pill = relation.id in self.lit_relations, relation.kind == "inter-cluster"
            args = (relation.id, relation.source, relation.target, relation.kind, float(relation.strength), lit)
            drawn.append(Line(*args, _rounded(points), pill, about))
        return drawn


def _lit(trace: Trace, step: int | None) -> tuple[set[str], set[str]]:
    steps = trace.steps if step is None or step >= len(trace.steps) else trace.steps[: step + 1]
    if len(steps) == len(trace.steps):
        return {node.id for node in trace.nodes}, {relation.id for relation in trace.relations}
    nodes = {id_ for step_ in steps for id_ in step_.node_ids}
    relations = {id_ for step_ in steps for id_ in step_.relation_ids}
    return nodes, relations


def _about(node: TraceNode, trace: Trace) -> str:
    role = {"seed": f"seed, rank {node.rank}", "path": "on the path", "lca": "lowest common ancestor"}[node.role]
    score = next((f", cosine {seed.score:.2f}" for seed in trace.seeds if seed.id == node.id), "")
    return f"{isolated(node.name)}: {role}{score}, layer {node.layer}"


def _link(id_: str, child: Dot, parent: Dot, lit: bool, about: str) -> Line:
    """From the lower edge of the parent to the upper edge of the child, vertical at both."""
    top, bottom = parent.y + parent.height / 2, child.y - child.height / 2
    middle = (top + bottom) / 2
    points = ((parent.x, top), (parent.x, middle), (child.x, middle), (child.x, bottom))
    return Line(id_, child.id, parent.id, "tree", 1.0, lit, _rounded(points), False, about)


def _rounded(points: Sequence[tuple[float, float]]) -> tuple[tuple[float, float], ...]:
    return tuple((round(x, 5), round(y, 2)) for x, y in points)
