"""What a layered graph is drawn from: which relations are lines, and dots and bands, with the widths that a plot may
have.

x is a fraction of the plot's width, y is in pixels.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from leanrag_core.figures.direction import isolated
from leanrag_core.messages.catalog import codes, sentence
from leanrag_core.messages.message import Message, Value, message
from leanrag_core.types.trace import Trace, TraceRelation

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
    parents = {(item.id, item.parent) for item in trace.items if item.parent}
    for relation in trace.relations:
        ends = (relation.source, relation.target)
        if not band_of.keys() >= set(ends):
            continue
        if ends in parents or ends[::-1] in parents:
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
    """Return the ends, then how many relations it is made of where it is aggregated, and what it says, if anything."""
    code = f"made.{relation.made.replace('-', '_')}"
    values: dict[str, Value] = {
        "first": isolated(names[0]),
        "second": isolated(names[-1]),
        "n": int(relation.strength + 0.5),
        "made": message(code) if code in codes() else relation.made,
        "description": relation.description,
    }
    said = "figure.base_relation" if relation.description else "figure.relation_without_text"
    return sentence(Message("figure.aggregated_relation" if relation.layer else said, values), language)


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
    name is on, and the width it may take. names, more, names_y: of a tray, its best names, how many seeds follow, and
    where the names begin. colour: of its role, a name of the palette. filled: with that colour; else outlined.
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
    """All that the drawing needs. plot_px: the least width of the plot. height: px. n_seeds: in layer 0. trays: whether
    they are in trays. folded: nodes above layer 0 that a count stands for. hidden: relations that are not drawn."""

    nodes: tuple[Dot, ...]
    edges: tuple[Line, ...]
    rows: tuple[Row, ...]
    height: float
    plot_px: int = WIDE
    n_seeds: int = 0
    trays: bool = False
    folded: int = 0
    hidden: int = 0
