"""Why something is not in a context: every stage on the way there checked in order, and the first that lost it."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from leanrag_core.comparing import lost_evidence as lost
from leanrag_core.comparing.gold_passages import Gold
from leanrag_core.comparing.lost_evidence import Lane, lane, ranking_of
from leanrag_core.messages.message import Message, Value, message
from leanrag_core.retrieval.anchoring import SeedRank, seed_rank
from leanrag_core.types.index import Index
from leanrag_core.types.trace import Trace

DOCUMENTS, CHUNK, EXTRACTED, SEED = "documents", "chunk", "extracted", "seed"  # stages, in their order
REACHED, PATH, TAKEN, CONTEXT = "reached", "path", "taken", "context"
PASSED, LOST, OPEN = "passed", "lost", "open"
_ENTITIES = ("entity", "aggregated-entity")


@dataclass(frozen=True)
class Check:
    """A stage: passed, lost, or open where an earlier stage leaves nothing to check. decides: losing it keeps the
    evidence out of the context; other stages are listed because they help to understand."""

    stage: str
    state: str
    said: Message
    decides: bool = True


@dataclass(frozen=True)
class WhyNot:
    """Why something that should be in the context is not there. gold: what is followed; lane: how far it came.

    rank: of the entity among all that could be seeds, of a passage that of its best entity; None where the strategy
    takes no seeds. distance: by how much the first loss missed. notes: what else helps to understand it.
    """

    gold: Gold
    lane: Lane
    checks: tuple[Check, ...]
    rank: SeedRank | None = None
    distance: Message | None = None
    notes: tuple[Message, ...] = ()

    @property
    def loss(self) -> Check | None:
        """The first stage that lost it; None when the context holds it."""
        return next((check for check in self.checks if check.decides and check.state == LOST), None)

    @property
    def headline(self) -> Message:
        """The first loss in a sentence."""
        loss = self.loss
        if loss is None:
            return message("why.is_found")
        values: dict[str, Value] = {"step": self.checks.index(loss) + 1, "stage": message(f"why.stage.{loss.stage}")}
        return (
            message("why.lost_by", distance=self.distance, **values) if self.distance else message("why.lost", **values)
        )

    @property
    def enough_seeds(self) -> int:
        """The number of seeds that takes its entity, 0 where that is not known."""
        return self.rank.rank if self.rank else 0


def why_not(trace: Trace, index: Index, wanted: Gold, vector: np.ndarray, *, n_documents: int = 0) -> WhyNot:
    """Follow what is wanted through the retrieval.

    vector: (d,) float32 unit vector of the question. n_documents: how many documents hold its words, for what no
    chunk holds.
    """
    gold, notes = _followed(trace, index, wanted)
    way = lane(trace, index, gold)
    chunks = _chunk_rows(index, gold)
    if not gold.rows:
        return WhyNot(gold, way, _not_in_a_chunk(n_documents), notes=notes)
    owners = {index.chunk_cells.value("document", row) for row in chunks}
    checks = [
        Check(DOCUMENTS, PASSED, message("why.documents", n=len(owners))),
        Check(CHUNK, PASSED, message("why.chunks", n=len(chunks))),
    ]
    entities = _entity_rows(index, gold, chunks)
    uses_entities = any(item.kind in _ENTITIES for item in trace.items)
    if uses_entities:
        if not entities:
            lost_here = Check(EXTRACTED, LOST, message("lost.no_entity"))
            return WhyNot(gold, way, (*checks, lost_here, *_open(SEED, PATH, TAKEN, CONTEXT)), notes=notes)
        code = "lost.extracted" if gold.kind == "entity" else "lost.entities"
        checks.append(Check(EXTRACTED, PASSED, message(code, n=len(entities))))
    rank = _rank(trace, index, entities, vector)
    seeds = trace.with_role("seed")
    checks += _reaching(trace, index, gold, way, rank) if uses_entities else []
    checks.append(_chosen(trace, gold, way, chunks))
    checks.append(_kept(way))
    if gold.kind == "entity" and not way.is_found and checks[-2].state == PASSED:
        notes = (*notes, message("why.text_is_there", chunk=checks[-2].said))
    followed = WhyNot(gold, way, tuple(checks), rank, notes=notes)
    distance = _distance(followed.loss, way, rank, len(seeds), len(trace.passages))
    return WhyNot(gold, way, followed.checks, rank, distance, notes)


def _followed(trace: Trace, index: Index, wanted: Gold) -> tuple[Gold, tuple[Message, ...]]:
    """Return what is followed: in place of an entity the chunks that mention it where the strategy retrieves no
    entities."""
    if wanted.kind != "entity" or not wanted.rows or any(item.kind in _ENTITIES for item in trace.items):
        return wanted, ()
    rows = _chunk_rows(index, wanted)
    return Gold("passage", wanted.quote, tuple(rows), title=wanted.quote), (message("why.by_chunks"),)


def _chunk_rows(index: Index, gold: Gold) -> list[int]:
    """Return the rows of the chunks that hold it."""
    if gold.kind != "entity":
        return list(gold.rows)
    return [int(row) for entity in gold.rows for row in index.layers[0].chunks_of(entity)]


def _entity_rows(index: Index, gold: Gold, chunks: Sequence[int]) -> list[int]:
    """Return the rows of the base entities: the wanted one, or those that its chunks mention."""
    if gold.kind == "entity":
        return list(gold.rows)
    return sorted({int(row) for chunk in chunks for row in index.entity_chunks[:, chunk].nonzero()[0]})


def _not_in_a_chunk(n_documents: int) -> tuple[Check, ...]:
    if not n_documents:
        first = Check(DOCUMENTS, LOST, message("why.in_no_document"))
        return (first, *_open(CHUNK, EXTRACTED, SEED, PATH, TAKEN, CONTEXT))
    first = Check(DOCUMENTS, PASSED, message("why.documents", n=n_documents))
    return (first, Check(CHUNK, LOST, message("why.in_no_chunk")), *_open(EXTRACTED, SEED, PATH, TAKEN, CONTEXT))


def _open(*stages: str) -> list[Check]:
    return [Check(stage, OPEN, message("why.not_checked")) for stage in stages]


def _rank(trace: Trace, index: Index, entities: Sequence[int], vector: np.ndarray) -> SeedRank | None:
    """Return the rank of the best of those entities, by the options of the trace; None where it takes no seeds by
    cosine. vector: (d,) float32 unit vector of the question."""
    layers = trace.parameters.get("seed_layers")
    if not isinstance(layers, str) or not trace.with_role("seed"):
        return None
    by_name = bool(trace.parameters.get("match_names"))
    return seed_rank(index, trace.question, vector, entities, layers=layers, match_names=by_name)


def _reaching(trace: Trace, index: Index, gold: Gold, way: Lane, rank: SeedRank | None) -> list[Check]:
    """Check whether the gold is a seed, or a seed led to it; and whether the parent of its entity is on a path."""
    reached = way.depth > lost.STAGES.index(lost.REACHED)
    explanation = way.said[1] if len(way.said) > 1 else message("why.not_checked")
    if rank is None:
        if trace.with_role("seed"):
            explanation = explanation if reached else message("why.no_base_seeds")
            return [Check(SEED, PASSED if reached else LOST, explanation)]
        return [Check(REACHED, PASSED if reached else LOST, explanation)]
    seeds = trace.with_role("seed")
    last = min((seed.score for seed in seeds if seed.score is not None), default=0.0)
    values = {"rank": rank.rank, "of": rank.of, "score": rank.score}
    name = index.layers[0].entity_cells.value("name", rank.place.row)
    if reached:
        as_seed = any(seed.layer == 0 and seed.row == rank.place.row for seed in seeds)
        explanation = message("why.seed", **values) if gold.kind == "entity" and as_seed else explanation
    elif gold.kind == "entity":
        explanation = message("why.no_seed", last=last, **values)
    else:
        explanation = message("why.best_no_seed", name=name, last=last, **values)
    return [Check(SEED, PASSED if reached else LOST, explanation), *_on_path(trace, index, rank)]


def _on_path(trace: Trace, index: Index, rank: SeedRank) -> list[Check]:
    on_path = {(item.layer, item.row) for item in trace.nodes}
    checks = []
    for layer, row in index.ancestors(rank.place.layer, rank.place.row)[:1]:
        name = message("plain", text=index.layers[layer].entity_cells.value("name", row))
        checks.append(Check(PATH, PASSED if (layer, row) in on_path else LOST, name, decides=False))
    return checks


def _chosen(trace: Trace, gold: Gold, way: Lane, chunks: Sequence[int]) -> Check:
    """Check whether one of its chunks was chosen, and its place among the ranked ones."""
    decides = gold.kind != "entity"
    chosen_passages = [passage for passage in trace.passages if passage.row in chunks]
    marks = trace.context.mark_of
    marked = [marks[passage.id] for passage in chosen_passages if passage.id in marks]
    if marked:
        return Check(TAKEN, PASSED, message("plain", text=marked[0]), decides)
    ranking = ranking_of(trace)
    place = min((ranking.index(row) + 1 for row in chunks if row in ranking), default=None)
    if chosen_passages:
        return Check(
            TAKEN, PASSED, message("lost.ranked", place=place or chosen_passages[0].rank, n=len(ranking)), decides
        )
    if place is not None:
        return Check(
            TAKEN, LOST, message("why.beyond", place=place, n=len(ranking), taken=len(trace.passages)), decides
        )
    early = decides and way.lost_at in (lost.INDEX, lost.REACHED)
    return Check(TAKEN, OPEN if early else LOST, message("lost.not_ranked", n=len(ranking)), decides)


def _kept(way: Lane) -> Check:
    """Check whether the context holds the gold."""
    if way.is_found:
        return Check(CONTEXT, PASSED, way.said[-1])
    if way.lost_at in (lost.BUDGET, lost.CONTEXT):
        return Check(CONTEXT, LOST, way.said[-1])
    return Check(CONTEXT, OPEN, message("why.not_checked"))


def _distance(loss: Check | None, way: Lane, rank: SeedRank | None, n_seeds: int, n_passages: int) -> Message | None:
    """Say by how much the first loss missed, where that can be counted."""
    if loss is None:
        return None
    if loss.stage == SEED and rank is not None and rank.rank > n_seeds:
        return message("why.by_places", n=rank.rank - n_seeds)
    if loss.stage == TAKEN and way.place is not None:
        return message("why.by_places", n=way.place - n_passages)
    if loss.stage == CONTEXT and way.short:
        return message("why.by_tokens", n=way.short)
    return None
