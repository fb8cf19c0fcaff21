"""Which entities of an index a retrieval found."""

from leanrag_core.queries.browse import locate
from leanrag_core.types.graph import Place
from leanrag_core.types.index import Index
from leanrag_core.types.trace import Trace

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
