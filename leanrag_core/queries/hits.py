"""What a retrieval found in an index: which entities, and in which role each."""

from dataclasses import dataclass

from leanrag_core.queries.browse import locate
from leanrag_core.types.graph import Place
from leanrag_core.types.index import Index
from leanrag_core.types.trace import Trace, TraceItem

_SEED = "seed"
_ENTITIES = ("entity", "aggregated-entity")
_MOST = 60


def hits_of(index: Index, trace: Trace) -> dict[Place, int]:
    """Return the entities that the retrieval found, with their ranks from 1: its seeds; all its entities where it names
    no seeds. What the index does not hold (it was built anew) is left out.
    """
    items = trace.with_role(_SEED) or tuple(item for item in trace.nodes if item.kind in _ENTITIES)
    ranked = sorted(enumerate(items), key=lambda pair: (pair[1].rank or len(items), pair[0]))
    places = [place for _, item in ranked[:_MOST] if (place := locate(index, item.id)) is not None]
    return {place: rank for rank, place in enumerate(dict.fromkeys(places), start=1)}


@dataclass(frozen=True)
class Mark:
    """A citation mark of the context. colour: of its section, a name of the palette."""

    name: str
    colour: str


@dataclass(frozen=True)
class QuestionHits:
    """item: the entity itself, where the retrieval met it. below: ranked items that are the entity or lie below it,
    best first. marks: of what the context says of it, and of the passages in which it occurs, in order."""

    item: TraceItem | None
    below: tuple[TraceItem, ...]
    marks: tuple[Mark, ...]

    def __bool__(self) -> bool:
        return self.item is not None or bool(self.below)


def question_hits(index: Index, trace: Trace, place: Place) -> QuestionHits:
    """Return how the retrieval used the entity in that place. trace: of this index."""
    own_item = next((item for item in trace.nodes if (item.layer, item.row) == (place.layer, place.row)), None)
    ranked = [item for item in trace.nodes if item.rank is not None and _lies_below(index, item, place)]
    below = tuple(sorted(ranked, key=lambda item: item.rank or 0))
    ids = {item.id for item in below} | ({own_item.id} if own_item is not None else set())
    return QuestionHits(own_item, below, _marks(trace, ids))


def chunk_marks(trace: Trace, row: int) -> tuple[Mark, ...]:
    """Return the citation marks of the chunk in that row."""
    return _marks(trace, {item.id for item in trace.passages if item.row == row})


def _lies_below(index: Index, item: TraceItem, place: Place) -> bool:
    """Return whether the item is the entity in that place or one below it."""
    if item.layer is None or item.row is None or not item.layer <= place.layer:
        return False
    row = item.row
    for layer in index.layers[item.layer : place.layer]:
        if not row < len(layer):  # a trace of another state of the index
            return False
        row = int(layer.parent[row])
    return row == place.row


def _marks(trace: Trace, ids: set[str]) -> tuple[Mark, ...]:
    refs = ids | {item.id for item in trace.passages if item.source is not None and ids & set(item.source.items)}
    return tuple(
        Mark(item.mark, section.colour)
        for section in trace.context.sections
        for item in section.items
        if item.ref in refs
    )
