"""The passages of a retrieval as cards below its graph with the threads that lead to them, and the places of its nodes
in the whole hierarchy.
"""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from leanrag_core.figures.drawn_nodes import kind_title
from leanrag_core.figures.layered_places import Dot, LayeredGraph, Point, link_points
from leanrag_core.figures.palette import known_colour
from leanrag_core.messages.catalog import sentence
from leanrag_core.messages.message import message
from leanrag_core.types.index import Index
from leanrag_core.types.trace import Trace, TraceItem

_LEAST, _WIDEST, _GAP, _HEIGHT, _ABOVE, _BELOW = 104.0, 240.0, 8.0, 62.0, 30.0, 12.0  # px
_MOST_ROWS = 2


def anchors(trace: Trace) -> list[TraceItem]:
    """Return the items that led to the passages: all of the role of those that passages name.

    None where these are of several roles: their number ranks no passage then.
    """
    roles = {item.id: item.role for item in trace.items}
    named = [roles[id_] for each in trace.passages if each.source for id_ in each.source.items if id_ in roles]
    return list(trace.with_role(named[0])) if len(set(named)) == 1 else []


def is_card(item: TraceItem) -> bool:
    """Tell whether the item is a passage that is drawn as a card below the graph, not as a node of a layer."""
    return item.source is not None and item.layer is None


def sources_of(trace: Trace) -> dict[str, tuple[str, ...]]:
    """Return the nodes that each card hangs on: those it names, those a relation joins it to, and its parent.

    Cards are in the order of the trace, so that the same trace makes the same file.
    """
    linked: dict[str, dict[str, None]] = {item.id: {} for item in trace.items if is_card(item)}
    known = {item.id for item in trace.items} - linked.keys()
    for item in trace.items:
        if item.id in linked:
            named = item.source.items if item.source else ()
            linked[item.id] |= dict.fromkeys(id_ for id_ in (*named, item.parent) if id_ in known)
    for relation in trace.relations:
        for end, other in ((relation.source, relation.target), (relation.target, relation.source)):
            if end in linked and other in known:
                linked[end][other] = None
    return {id_: tuple(ends) for id_, ends in linked.items()}


@dataclass(frozen=True)
class Card:
    """A passage. x, width: fractions of the plot's width, x of its middle; y: px of its middle; height: px. more: how
    many passages it stands for, where it is the last place; their ids are members."""

    id: str
    x: float
    y: float
    width: float
    height: float
    more: int = 0
    members: tuple[str, ...] = ()


@dataclass(frozen=True)
class Thread:
    """From a node, or its tray, to a card. n: how many of the node's items lead to the passage."""

    source: str
    card: str
    points: tuple[Point, ...]
    n: int


@dataclass(frozen=True)
class Cards:
    """top, bottom: px of the band; both 0 without a passage. label, facts: of the band."""

    cards: tuple[Card, ...] = ()
    threads: tuple[Thread, ...] = ()
    top: float = 0.0
    bottom: float = 0.0
    label: str = ""
    facts: str = ""


def passage_cards(
    trace: Trace,
    passages: Sequence[TraceItem],
    graph: LayeredGraph,
    *,
    plot_px: int,
    language: str,
    uncounted: Collection[str] = (),
) -> Cards:
    """Return the cards of those passages, best first, below that graph. uncounted: ids of those that are no part of
    this retrieval."""
    if not passages:
        return Cards()
    top = graph.height
    cards = _placed(passages, top + (_ABOVE if graph.nodes else _BELOW + 8.0), plot_px)
    bottom = max(card.y + card.height / 2 for card in cards) + _BELOW
    ids = {passage.id for passage in passages}
    passage_section = next(
        (each for each in trace.context.sections if any(item.ref in ids for item in each.items)), None
    )
    label = sentence(passage_section.title, language) if passage_section else kind_title(passages[0].kind, language)
    n, candidates = len(ids.difference(uncounted)), len(trace.ranked_chunks)
    facts = sentence(message("figure.nodes_of", n=n, total=candidates), language) if candidates >= n else f"{n:,}"
    return Cards(cards, _threads(trace, graph, cards), top, bottom, label, facts)


def _placed(passages: Sequence[TraceItem], top: float, plot_px: int) -> tuple[Card, ...]:
    """Place equal cards in rows; what has no place is counted in the last one."""
    per_row = max(2, int((plot_px + _GAP) // (_LEAST + _GAP)))
    n_rows = min(_MOST_ROWS, -(-len(passages) // per_row))
    columns = min(per_row, -(-len(passages) // n_rows))
    places = n_rows * columns
    shown = list(passages) if len(passages) <= places else list(passages[: places - 1])
    left_over = tuple(passage.id for passage in passages[len(shown) :])
    ids = [passage.id for passage in shown] + (["more"] if left_over else [])
    gap = _GAP / plot_px
    width = min(_WIDEST / plot_px, (1 - gap * (columns - 1)) / columns)
    cards = []
    for place, id_ in enumerate(ids):
        row, column = divmod(place, columns)
        x, y = column * (width + gap) + width / 2, top + row * (_HEIGHT + _GAP) + _HEIGHT / 2
        members = left_over if id_ == "more" else ()
        cards.append(Card(id_, round(x, 5), round(y, 2), round(width, 5), _HEIGHT, len(members), members))
    return tuple(cards)


def _threads(trace: Trace, graph: LayeredGraph, cards: Sequence[Card]) -> tuple[Thread, ...]:
    holder = _holders(graph.nodes)
    sources = sources_of(trace)
    lowest = max(row.bottom for row in graph.rows) if graph.rows else 0.0
    drawn = []
    for card in cards:
        counts = Counter(holder[id_].id for id_ in sources.get(card.id, ()) if id_ in holder)
        ends = sorted(counts, key=lambda id_: holder[id_].x)
        for place, id_ in enumerate(ends):
            dot = holder[id_]
            # The names of seeds are below them: a thread begins where these end.
            start = lowest - 2.0 if dot.kind == "dot" else dot.y + dot.height / 2
            across = card.x + card.width * ((place + 0.5) / len(ends) - 0.5) * 0.6
            points = link_points((dot.x, start), (across, card.y - card.height / 2))
            drawn.append(Thread(id_, card.id, points, counts[id_]))
    return tuple(drawn)


def _holders(nodes: Sequence[Dot]) -> Mapping[str, Dot]:
    """Return the node that stands for each item: itself, its tray, or what it is folded into."""
    holder = {dot.id: dot for dot in nodes}
    holder |= {id_: dot for dot in nodes if dot.kind in ("tray", "fold") for id_ in dot.members}
    return holder


@dataclass(frozen=True)
class Span:
    """A node in its layer, from left to right: fractions of all base entities. colour: of its role."""

    id: str
    layer: int
    left: float
    right: float
    colour: str


def spans(trace: Trace, index: Index) -> tuple[Span, ...]:
    """Return the place of every node of the trace that is in the hierarchy; every node lies below its ancestors."""
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
    """Return how many base entities lie left of a node, where siblings are in the order of their rows."""
    n = 0
    for above, parent in index.ancestors(layer, row):
        siblings = index.children_of(above, parent)
        n += int(index.leaf_counts[above - 1][siblings[siblings < row]].sum())
        row = parent
    return n + int(index.leaf_counts[-1][:row].sum())
