"""Which relations of a trace are drawn in the layered figure, and as what: links between bands, curves within one."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from leanrag_core.figures.direction import isolated
from leanrag_core.messages.catalog import codes, sentence
from leanrag_core.messages.message import Message, Value, message
from leanrag_core.types.trace import Trace, TraceRelation

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
    """The relations whose ends are both drawn, by where these are. band_of: each drawn node."""
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
    """The strongest relations of each band whose ends have a place."""
    kept: list[TraceRelation] = []
    bands = {relation.id: min(band_of[relation.source], band_of[relation.target]) for relation in relations}
    for band in sorted(set(bands.values())):
        row = [each for each in relations if bands[each.id] == band and {each.source, each.target} <= placed]
        kept += sorted(row, key=lambda relation: (-relation.strength, relation.id))[:MOST_ARCS]
    return kept


def described(relation: TraceRelation, names: Sequence[str], language: str) -> str:
    """The ends, then how many relations it is made of where it is aggregated, and what it says, if anything."""
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
    """From the lower edge of a node to the upper edge of one below it, vertical at both."""
    middle = (upper[1] + lower[1]) / 2
    return rounded((upper, (upper[0], middle), (lower[0], middle), lower))


def curve_points(start: Point, end: Point, rise: float) -> tuple[Point, ...]:
    """Above both ends by `rise` px."""
    return rounded((start, ((start[0] + end[0]) / 2, min(start[1], end[1]) - 2 * rise), end))


def rounded(points: Sequence[Point]) -> tuple[Point, ...]:
    """Short enough to be sent, exact enough to be drawn."""
    return tuple((round(x, 5), round(y, 2)) for x, y in points)
