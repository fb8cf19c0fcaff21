"""Where the nodes of a retrieval are in the whole hierarchy of their index."""

from dataclasses import dataclass

from leanrag_core.figures.palette import known_colour
from leanrag_core.types.index import Index
from leanrag_core.types.trace import Trace


@dataclass(frozen=True)
class Span:
    """A node in its layer, from left to right: fractions of all base entities. colour: of its role."""

    id: str
    layer: int
    left: float
    right: float
    colour: str


def spans(trace: Trace, index: Index) -> tuple[Span, ...]:
    """The place of every node of the trace that is in the hierarchy; every node lies below its ancestors."""
    total = max(1, len(index.layers[0]))
    placed = []
    for item in trace.nodes:
        if item.layer is None or item.row is None or item.layer >= len(index.layers):
            continue
        if item.row >= len(index.layers[item.layer]):
            continue
        left = _before(index, item.layer, item.row)
        right = left + int(index.leaf_counts[item.layer][item.row])
        style = trace.style(item.role)
        colour = known_colour(style.colour if style else "")
        placed.append(Span(item.id, item.layer, round(left / total, 5), round(right / total, 5), colour))
    return tuple(placed)


def _before(index: Index, layer: int, row: int) -> int:
    """How many base entities lie left of a node, where siblings are in the order of their rows."""
    n = 0
    for above, parent in index.ancestors(layer, row):
        siblings = index.children_of(above, parent)
        n += int(index.leaf_counts[above - 1][siblings[siblings < row]].sum())
        row = parent
    return n + int(index.leaf_counts[-1][:row].sum())
