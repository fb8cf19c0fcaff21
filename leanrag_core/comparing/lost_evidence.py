"""Where a retrieval lost what it should have found: six stages, read from its trace and its index alone."""

from collections.abc import Sequence
from dataclasses import dataclass

from leanrag_core.comparing.gold_passages import Gold
from leanrag_core.evaluation.gold import normalised
from leanrag_core.messages.message import Message, message
from leanrag_core.retrieval.context import passage_section
from leanrag_core.types.index import Index
from leanrag_core.types.trace import ContextItem, ContextSection, Trace

INDEX, REACHED, RANKED, TAKEN, BUDGET, CONTEXT = "index", "reached", "ranked", "taken", "budget", "context"
STAGES = (INDEX, REACHED, RANKED, TAKEN, BUDGET, CONTEXT)


@dataclass(frozen=True)
class Lane:
    """How far a piece of evidence came. said: what is known of each stage that it passed, then of the one that lost it.

    lost_at: that stage, "" when the context holds it. place: among the ranked passages, from 1; None where it is not
    ranked. mark: its citation mark in the context. short: tokens that its section lacks for it.
    """

    said: tuple[Message, ...]
    lost_at: str = ""
    place: int | None = None
    mark: str = ""
    short: int = 0

    @property
    def is_found(self) -> bool:
        """Whether the context holds it."""
        return not self.lost_at

    @property
    def depth(self) -> int:
        """How many stages it passed."""
        return len(STAGES) if self.is_found else STAGES.index(self.lost_at)


def lane(trace: Trace, index: Index, gold: Gold) -> Lane:
    """Follow that evidence through the stages of the retrieval; where several chunks hold it, the one that came
    farthest."""
    if not gold.rows:
        return Lane((message("lost.not_in_index"),), INDEX)
    if gold.kind == "entity":
        return _of_entity(trace, gold)
    lanes = [_of_chunk(trace, index, gold, row) for row in gold.rows]
    return max(lanes, key=lambda each: (each.depth, -(each.place or 0)))


def found_ids(trace: Trace, lanes: Sequence[Lane]) -> tuple[str, ...]:
    """Return the ids of the passages and entities that the context holds, one for each lane that reaches it."""
    ref_of = {item.mark: item.ref for item in trace.context.items}
    return tuple(ref_of.get(way.mark, "") for way in lanes if way.is_found)


def held_ids(trace: Trace, index: Index, gold: Sequence[Gold], lanes: Sequence[Lane]) -> tuple[str, ...]:
    """Return the ids of the passages and entities with gold that the context holds: of a quote that lies in several
    chunks, all of them. lanes: of the gold, in its order."""
    ids = set(found_ids(trace, lanes))
    for piece, way in zip(gold, lanes, strict=True):
        if way.is_found and piece.kind != "entity":
            ids |= trace.context.mark_of.keys() & {index.chunk_cells.value("id", row) for row in piece.rows}
    return tuple(sorted(ids))


def ranking_of(trace: Trace) -> list[int]:
    """Return the rows of the ranked chunks, best first: of all candidates, or of the passages that were taken."""
    return list(trace.ranked_chunks) or [each.row for each in trace.passages if each.row is not None]


def _of_chunk(trace: Trace, index: Index, gold: Gold, row: int) -> Lane:
    n_entities = int(index.entity_chunks[:, row].nnz)
    uses_entities = any(item.kind == "entity" for item in trace.items)
    messages: list[Message] = [message("lost.entities", n=n_entities) if uses_entities else message("lost.indexed")]
    if uses_entities and not n_entities:
        return Lane((message("lost.no_entity"),), INDEX)
    id_ = index.chunk_cells.value("id", row)
    passage = next((each for each in trace.passages if each.id == id_), None)
    ranking = ranking_of(trace)
    place = ranking.index(row) + 1 if row in ranking else None
    reaching = _reaching(trace, index, row)
    if uses_entities and place is None and passage is None and not reaching:
        return Lane((*messages, message("lost.not_reached", n=n_entities, retrieved=_n_entities(trace))), REACHED)
    if reaching:
        messages.append(message("lost.by_entity", n=len(reaching), name=reaching[0]))
    else:
        messages.append(message("lost.by_vectors"))
    if place is None and passage is None:
        return Lane((*messages, message("lost.not_ranked", n=len(ranking))), RANKED)
    messages.append(message("lost.ranked", place=place or (passage.rank if passage else None), n=len(ranking)))
    if passage is None:
        return Lane((*messages, message("lost.beyond", place=place, taken=len(trace.passages))), TAKEN, place)
    messages.append(message("lost.taken", n=len(trace.passages)))
    return _in_context(
        trace, id_, gold, messages, place or passage.rank, passage.source.tokens if passage.source else 0
    )


def _reaching(trace: Trace, index: Index, row: int) -> list[str]:
    """Return the names of the retrieved base entities that occur in the chunk, best first."""
    column = index.entity_chunks[:, row]
    rows = set(column.nonzero()[0].tolist())
    return [item.name for item in trace.items if item.kind == "entity" and item.layer == 0 and item.row in rows]


def _n_entities(trace: Trace) -> int:
    return sum(item.kind == "entity" for item in trace.items)


def _in_context(
    trace: Trace, id_: str, gold: Gold, messages: Sequence[Message], place: int | None, tokens: int
) -> Lane:
    """Check the last two stages, budget and context, of an item that was taken."""
    section, item = _held(trace, id_)
    if item is None or section is None:
        holding = passage_section(trace)
        budget = holding.budget if holding else 0
        used = holding.tokens if holding else 0
        short = max(1, used + tokens - budget)
        return Lane((*messages, message("lost.cut", short=short, budget=budget)), BUDGET, place, short=short)
    messages = [*messages, message("lost.within", tokens=section.tokens, budget=section.budget)]
    if item.trimmed and gold.quote and normalised(gold.quote) not in normalised(item.text):
        return Lane((*messages, message("lost.trimmed", mark=item.mark)), CONTEXT, place, item.mark)
    position = next(n for n, each in enumerate(section.items, start=1) if each.ref == id_)
    return Lane((*messages, message("lost.found", place=position)), "", place, item.mark)


def _held(trace: Trace, id_: str) -> tuple[ContextSection | None, ContextItem | None]:
    return next(
        ((section, item) for section in trace.context.sections for item in section.items if item.ref == id_),
        (None, None),
    )


def _of_entity(trace: Trace, gold: Gold) -> Lane:
    """Follow an entity through the stages: ranking and taking are those of the strategy's own items."""
    item = next(
        (each for each in trace.items if each.kind == "entity" and each.name.casefold() == gold.quote.casefold()), None
    )
    messages = [message("lost.extracted")]
    if item is None:
        return Lane((*messages, message("lost.entity_not_reached", retrieved=_n_entities(trace))), REACHED)
    messages.append(message("lost.entity_reached"))
    messages.append(message("lost.entity_ranked", place=item.rank) if item.rank else message("lost.unranked"))
    messages.append(message("lost.entity_taken", n=_n_entities(trace)))
    section, context_item = _held(trace, item.id)
    if section is None or context_item is None:
        entities_section = next((part for part in trace.context.sections if part.name == "entities"), None)
        return Lane(
            (*messages, message("lost.entity_cut", budget=entities_section.budget if entities_section else 0)),
            BUDGET,
            item.rank,
        )
    messages.append(message("lost.within", tokens=section.tokens, budget=section.budget))
    return Lane((*messages, message("lost.found_as", mark=context_item.mark)), "", item.rank, context_item.mark)
