"""Where the nodes of a layered subgraph are: slots side by side, so that no box can meet another.

Every leaf of the drawn tree has a slot of its own and every other node the slots of what lies below it, so boxes of a
row cannot overlap. Boxes of a row have one height, so links between two rows stay in the strip between them.
x is a fraction of the plot's width; slots are wide enough at `plot_px` and at every greater width.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from leanrag_core.figures.drawing import isolated
from leanrag_core.figures.drawn_nodes import DrawnNode
from leanrag_core.messages.catalog import codes, sentence
from leanrag_core.messages.message import Message, Value, message
from leanrag_core.types.trace import Trace, TraceRelation

MOST_SEEDS = 15  # each with its name; above it they are in trays below their parents
LEAST_BOX, LEAST_SEED = 60.0, 31.0  # px
FOLD = "fold"  # id of the column of what is folded
_GAP = 6.0  # px between two boxes
_WIDEST_BOX, _WIDEST_TRAY = 178.0, 150.0  # px
_HEAVIEST = 16  # seeds; what is left of the width goes to the trays by their seeds, up to so many


@dataclass(frozen=True)
class Slot:
    """The room of a node: from left to right, its middle at x; width: of its box. Fractions of the plot's width."""

    left: float
    right: float
    x: float
    width: float


@dataclass(frozen=True)
class Tree:
    """Nodes as a tree; each list in the order of the best seed below. best: that seed's rank for each node."""

    nodes: tuple[DrawnNode, ...]
    best: dict[str, float]

    @cached_property
    def below(self) -> dict[str, tuple[DrawnNode, ...]]:
        """Return the children of each node; those of "" have no parent here."""
        ids = {node.id for node in self.nodes}
        lists: dict[str, list[DrawnNode]] = {"": [], **{id_: [] for id_ in ids}}
        for node in self.nodes:
            lists[node.parent if node.parent in ids else ""].append(node)
        return {id_: tuple(sorted(children, key=self.order)) for id_, children in lists.items()}

    @cached_property
    def leaves(self) -> tuple[DrawnNode, ...]:
        """Return the nodes without children, the best first."""
        return tuple(sorted((node for node in self.nodes if not self.below[node.id]), key=self.order))

    def order(self, node: DrawnNode) -> tuple[float, str]:
        """Return the key by which nodes are sorted, the best rank first."""
        return self.best[node.id], node.id


@dataclass(frozen=True)
class Plan:
    """What is drawn of a subgraph. trays: seeds of layer 0 below each node ("" without one, FOLD for the folded);
    empty where each seed has a place of its own. folded: nodes outside of layer 0 that only a count stands for.
    apart: nodes of bands that no tree link reaches; their rows are divided without regard to the tree."""

    tree: Tree
    trays: dict[str, tuple[DrawnNode, ...]]
    folded: tuple[DrawnNode, ...]
    apart: tuple[DrawnNode, ...] = ()

    def row(self, band: int) -> tuple[DrawnNode, ...]:
        """Return the nodes of a band that have a place of their own."""
        return tuple(node for node in (*self.tree.nodes, *self.apart) if node.band == band)


def plan(nodes: Sequence[DrawnNode], *, plot_px: float) -> Plan:
    """Return which nodes have a place of their own in a plot of that width."""
    apart = _bands_apart(nodes)
    most = max(2, int(plot_px // LEAST_BOX))
    kept: list[DrawnNode] = []
    folded: list[DrawnNode] = []
    for band in apart:
        row = sorted((node for node in nodes if node.band == band), key=lambda node: (node.rank or 1_000_000, node.id))
        places = len(row) if len(row) <= most else most - 1
        kept += row[:places]
        folded += row[places:]
    tree = _plan_tree([node for node in nodes if node.band not in apart], plot_px=plot_px)
    return Plan(tree.tree, tree.trays, (*tree.folded, *folded), tuple(kept))


def _bands_apart(nodes: Sequence[DrawnNode]) -> list[int]:
    """Return the bands beside layer 0 in which no node is a parent or a child, such as passages and communities."""
    ids = {node.id for node in nodes}
    parents = {node.parent for node in nodes}
    linked = {node.band for node in nodes if node.parent in ids or node.id in parents}
    return sorted({node.band for node in nodes} - linked - {0})


def _plan_tree(nodes: Sequence[DrawnNode], *, plot_px: float) -> Plan:
    """Return the plan of the nodes that share the columns of the tree."""
    full_tree = Tree(tuple(nodes), _best_ranks(nodes))
    seeds = [node for node in nodes if node.band == 0]
    if len(seeds) <= MOST_SEEDS and _need(full_tree) <= plot_px:
        return Plan(full_tree, {}, ())
    upper = Tree(tuple(node for node in nodes if node.band != 0), full_tree.best)
    ids = {node.id for node in upper.nodes}
    without_parent = [node for node in seeds if node.parent not in ids]
    ordered = upper.leaves
    columns = max(2, int(plot_px // LEAST_BOX)) - bool(without_parent)
    kept = _with_ancestors(upper, ordered if len(ordered) <= columns else ordered[: columns - 1])
    folded = tuple(node for node in sorted(upper.nodes, key=upper.order) if node.id not in kept)
    trays: dict[str, list[DrawnNode]] = {}
    for seed in sorted(seeds, key=full_tree.order):
        held_by = "" if seed in without_parent else seed.parent if seed.parent in kept else FOLD
        trays.setdefault(str(held_by), []).append(seed)
    drawn = Tree(tuple(node for node in upper.nodes if node.id in kept), full_tree.best)
    return Plan(drawn, {id_: tuple(discs) for id_, discs in trays.items()}, folded)


def slots(drawn: Plan, *, plot_px: float) -> dict[str, Slot]:
    """Return the slot of every drawn node, of FOLD where something of the tree is folded, of fold_apart(band) where
    something of a row apart is, and of "" for a tray without a parent."""
    tree = drawn.tree
    widths = _leaf_widths(drawn, plot_px)
    for node in sorted(tree.nodes, key=lambda node: node.band):
        if node.id not in widths:
            widths[node.id] = max(LEAST_BOX, sum(widths[child.id] for child in tree.below[node.id]))
    columns = [*(node.id for node in tree.below[""]), *(id_ for id_ in ("", FOLD) if id_ in widths)]
    total = sum(widths[id_] for id_ in columns)
    placed: dict[str, Slot] = {}

    def place(id_: str, left: float) -> None:
        right = left + widths[id_] / total
        children = tree.below[id_] if id_ not in ("", FOLD) else ()
        at = (left + right - sum(widths[child.id] for child in children) / total) / 2
        for child in children:
            place(child.id, at)
            at += widths[child.id] / total
        x = (placed[children[0].id].x + placed[children[-1].id].x) / 2 if children else (left + right) / 2
        room = 2 * min(x - left, right - x) - _GAP / plot_px
        placed[id_] = Slot(left, right, x, min(room, _WIDEST_BOX / plot_px))

    left = 0.0
    for id_ in columns:
        place(id_, left)
        left += widths[id_] / total
    return placed | _slots_apart(drawn, plot_px)


def fold_apart(band: int) -> str:
    """Return the id of the place of what is folded in a row apart from the tree."""
    return f"{FOLD}{band}"


def _slots_apart(drawn: Plan, plot_px: float) -> dict[str, Slot]:
    """Return equal slots over the whole width for each row apart from the tree."""
    placed: dict[str, Slot] = {}
    for band in {node.band for node in drawn.apart}:
        ids = [node.id for node in drawn.apart if node.band == band]
        ids += [fold_apart(band)] if any(node.band == band for node in drawn.folded) else []
        share = 1 / len(ids)
        width = min(share - _GAP / plot_px, _WIDEST_BOX / plot_px)
        for place, id_ in enumerate(ids):
            placed[id_] = Slot(place * share, (place + 1) * share, (place + 0.5) * share, width)
    return placed


def tray_width(slot: Slot, *, plot_px: float, parent: str) -> float:
    """Return the width of the tray in a slot, a fraction. One without a parent may fill its slot."""
    widest = _WIDEST_TRAY / plot_px if parent else 1.0
    return min(slot.right - slot.left - _GAP / plot_px, widest)


def _leaf_widths(drawn: Plan, plot_px: float) -> dict[str, float]:
    """Return the px of each leaf. With trays what is left over goes to the leaves by their seeds."""
    rows_apart = {node.band for node in drawn.apart}
    folded = any(node.band not in rows_apart for node in drawn.folded)
    if not (drawn.trays or folded):
        return {node.id: LEAST_BOX if node.band else LEAST_SEED for node in drawn.tree.leaves}
    ids = [node.id for node in drawn.tree.leaves]
    ids += [""] if "" in drawn.trays else []
    ids += [FOLD] if folded else []
    discs_of = {id_: min(_HEAVIEST, len(drawn.trays.get(id_, ()))) for id_ in ids}
    spare, total = max(0.0, plot_px - LEAST_BOX * len(ids)), sum(discs_of.values()) or 1
    return {id_: LEAST_BOX + spare * discs_of[id_] / total for id_ in ids}


def _best_ranks(nodes: Sequence[DrawnNode]) -> dict[str, float]:
    """Return the best rank of a seed at or below each node."""
    best = {node.id: float(node.rank or 1_000_000) for node in nodes}
    for node in sorted(nodes, key=lambda node: node.band):
        if node.parent in best:
            best[node.parent] = min(best[node.parent], best[node.id])
    return best


def _need(tree: Tree) -> float:
    """Return the px that the tree needs where each seed has a place of its own."""
    needs: dict[str, float] = {}
    for node in sorted(tree.nodes, key=lambda node: node.band):
        least = LEAST_BOX if node.band else LEAST_SEED
        needs[node.id] = max(least, sum(needs[child.id] for child in tree.below[node.id]))
    return sum(needs[node.id] for node in tree.below[""])


def _with_ancestors(tree: Tree, nodes: Iterable[DrawnNode]) -> set[str]:
    parent_of = {node.id: node.parent for node in tree.nodes}
    kept: set[str] = set()
    for node in nodes:
        id_: str | None = node.id
        while id_ in parent_of and id_ not in kept:
            kept.add(id_)
            id_ = parent_of[id_]
    return kept


NARROW, MEDIUM, WIDE = 300, 490, 640  # px of the plots that the browser chooses from
MOST_ARCS = 10  # relations drawn within a band or beside its tree links, the strongest; the table has all
Point = tuple[float, float]


@dataclass(frozen=True)
class Line:
    """An edge as it is drawn. kind: its role. points: control points of a Bezier curve, four for a link between bands,
    else three; x fractions, y px. pill: whether its strength may be written on it. colour, shape: of its role."""

    id: str
    source: str
    target: str
    kind: str
    strength: float
    lit: bool
    points: tuple[Point, ...]
    pill: bool
    about: str
    colour: str
    shape: str = "line"


@dataclass(frozen=True)
class SortedRelations:
    """tree: between a node and its parent. across: other relations between two bands. low: within layer 0. arcs: within
    a band above it."""

    tree: tuple[TraceRelation, ...]
    across: tuple[TraceRelation, ...]
    low: tuple[TraceRelation, ...]
    arcs: tuple[TraceRelation, ...]


def sorted_relations(trace: Trace, band_of: Mapping[str, int]) -> SortedRelations:
    """Return the relations whose ends are both drawn, by where these are. band_of: each drawn node."""
    tree, across, low, arcs = [], [], [], []
    for relation in trace.relations:
        if not band_of.keys() >= {relation.source, relation.target}:
            continue
        if relation.id in trace.tree_links:
            tree.append(relation)
        elif band_of[relation.source] != band_of[relation.target]:
            across.append(relation)
        elif band_of[relation.source] == 0:
            low.append(relation)
        else:
            arcs.append(relation)
    return SortedRelations(tuple(tree), tuple(across), tuple(low), tuple(arcs))


def strongest(
    relations: Sequence[TraceRelation], band_of: Mapping[str, int], placed: frozenset[str]
) -> list[TraceRelation]:
    """Return the strongest relations of each band whose ends have a place."""
    kept: list[TraceRelation] = []
    bands = {relation.id: min(band_of[relation.source], band_of[relation.target]) for relation in relations}
    for band in sorted(set(bands.values())):
        row = [each for each in relations if bands[each.id] == band and {each.source, each.target} <= placed]
        kept += sorted(row, key=lambda relation: (-relation.strength, relation.id))[:MOST_ARCS]
    return kept


def described(relation: TraceRelation, names: Sequence[str], language: str) -> str:
    """Describe a relation: its ends, the number of relations behind an aggregated one, and its text, if it has one."""
    words = (f"explore.inspect.kind.{relation.made}", f"made.{relation.made.replace('-', '_')}")
    code = next((each for each in words if each in codes()), "")
    values: dict[str, Value] = {
        "first": isolated(names[0]),
        "second": isolated(names[-1]),
        "n": int(relation.strength + 0.5),
        "made": message(code) if code else relation.made,
        "description": relation.description,
    }
    code_of_base = "figure.base_relation" if relation.description else "figure.relation_without_text"
    return sentence(Message("figure.aggregated_relation" if relation.layer else code_of_base, values), language)


def link_points(upper: Point, lower: Point) -> tuple[Point, ...]:
    """Return a line from the lower edge of a node to the upper edge of one below it, vertical at both."""
    middle = (upper[1] + lower[1]) / 2
    return rounded((upper, (upper[0], middle), (lower[0], middle), lower))


def curve_points(start: Point, end: Point, rise: float) -> tuple[Point, ...]:
    """Return a curve above both ends by `rise` px."""
    return rounded((start, ((start[0] + end[0]) / 2, min(start[1], end[1]) - 2 * rise), end))


def rounded(points: Sequence[Point]) -> tuple[Point, ...]:
    """Round the points: short enough to be sent, exact enough to be drawn."""
    return tuple((round(x, 5), round(y, 2)) for x, y in points)


@dataclass(frozen=True)
class Dot:
    """A node as it is drawn. kind: dot, disc, box, double, tray, fold. layer: its band.

    x, y: its middle. x, width: fractions of the plot's width; y, height: px. line, room: which of two lines a seed's
    name is on, and the width it may take. names, more, names_y, name_lines: of a tray, its best names, how many seeds
    follow, where the names begin and how many lines each may take. colour: of its role, a name of the palette. filled:
    with that colour; else outlined.
    """

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
    name_lines: int = 1
    colour: str = ""
    filled: bool = False
    members: tuple[str, ...] = ()


@dataclass(frozen=True)
class Row:
    """A band: from top to bottom px, with its label and a second line of facts."""

    layer: int
    top: float
    bottom: float
    label: str
    facts: str


@dataclass(frozen=True)
class LayeredGraph:
    """All that the drawing needs. plot_px: the least width of the plot. height: px. trays: whether
    seeds are in trays. folded: nodes above layer 0 that a count stands for. hidden: relations that are not drawn."""

    nodes: tuple[Dot, ...]
    edges: tuple[Line, ...]
    rows: tuple[Row, ...]
    height: float
    plot_px: int = WIDE
    trays: bool = False
    folded: int = 0
    hidden: int = 0
