"""GraphRAG's local search: entities near to a vector with their communities, relations and chunks, as a context."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from leanrag_core.messages.message import message
from leanrag_core.retrieval.base_graph import (
    Around,
    EntityChunk,
    chunks_by_entity,
    end_rows,
    entity_items,
    entity_line,
    entity_passages,
    relation_items,
    relation_line,
    relations_around,
)
from leanrag_core.retrieval.budgets import Candidate, affordable, section, text_line
from leanrag_core.retrieval.communities import COMMUNITIES, LEVELS, communities_holding, community_line, held_reports
from leanrag_core.retrieval.context import CHUNKS, ENTITIES, RELATIONS, joined_sections, passage_line
from leanrag_core.retrieval.tracing import Retrieval
from leanrag_core.retrieval.vector_search import Nearest, nearest_entities
from leanrag_core.types.communities import Communities
from leanrag_core.types.index import Index
from leanrag_core.types.job import nothing
from leanrag_core.types.trace import Context, TraceItem, TraceRelation

_ENTITIES = replace(ENTITIES, nouns={"entity": "count.entities", "claim": "count.claims"})
_RELATIONS = replace(RELATIONS, nouns={"inside": "count.relations", "outside": "count.relations"})


@dataclass(frozen=True, eq=False)
class LocalEvidence:
    """What a local search found, and the context that it makes.

    near: the entities. entities, others, reports, passages: as items; others are neighbours at the ends of relations.
    n_holding: communities that hold some of the entities. chunks: all that mention the entities, best first.
    """

    near: Nearest
    entities: tuple[TraceItem, ...]
    others: tuple[TraceItem, ...]
    reports: tuple[TraceItem, ...]
    n_holding: int
    around: Around
    relations: tuple[TraceRelation, ...]
    chunks: Sequence[EntityChunk]
    passages: tuple[TraceItem, ...]
    context: Context


def local_chunks(run: Retrieval, vector: np.ndarray) -> Sequence[EntityChunk]:
    """Return the chunks of local_evidence() alone, for a search whose context nobody reads. vector: (d,)."""
    near = nearest_entities(run.index, vector, run.options.top_k, run.tools)
    return chunks_by_entity(run.index.layers[0], near.rows.tolist())


def local_evidence(
    run: Retrieval, communities: Communities, vector: np.ndarray, max_tokens: int, lap: Callable[[str], None] = nothing
) -> LocalEvidence:
    """Return what is found for the vector; no language model is called. vector: (d,) of the question. lap: called with
    the name of each step when it is done.

    The options of the retrieval have top_k entities, the level of the communities, community_percent and text_percent
    of max_tokens for reports and for chunks, and top_relations to neighbours for each entity.
    Source: GraphRAG 3.3.0, `query/structured_search/local_search/mixed_context.py`.
    """
    index, options = run.index, run.options
    base, community_tokens = index.layers[0], max_tokens * options.community_percent // 100
    text_tokens = min(max_tokens * options.text_percent // 100, max_tokens - community_tokens)
    local_tokens = max_tokens - community_tokens - text_tokens  # of entities with relations
    near = nearest_entities(index, vector, options.top_k, run.tools)
    rows = near.rows.tolist()
    entities = entity_items(index, rows, dict(zip(rows, near.scores.tolist(), strict=True)))
    lap("entities")
    holding = communities_holding(communities, rows, communities.at_level(LEVELS.index(options.level)))
    reports = held_reports(communities, holding, community_tokens)
    lap("communities")
    around = relations_around(base, rows, most_outside=options.top_relations * len(rows))
    relations = _relations(index, around)
    known = set(rows)
    others = entity_items(index, [row for row in end_rows(index, around.outside) if row not in known], role="neighbour")
    lap("relations")
    chunks = chunks_by_entity(base, rows)
    fitting = affordable(index.chunks["tokens"], [chunk.row for chunk in chunks], text_tokens)
    passages = entity_passages(index, chunks[: len(fitting)], entities)
    lap("chunks")
    names = {item.id: item.name for item in (*entities, *others)}
    lines = [*(entity_line(index, each) for each in entities), *_claim_lines(communities, entities)]
    local = section(_ENTITIES, lines, local_tokens)
    context = joined_sections(
        section(COMMUNITIES, [community_line(communities, each) for each in reports], community_tokens),
        local,
        # Entities are few and come first; relations take what is left of the part that both share.
        section(_RELATIONS, [relation_line(index, each, names) for each in relations], local_tokens - local.tokens),
        section(CHUNKS, [passage_line(index, each) for each in passages], text_tokens),
    )
    lap("context")
    return LocalEvidence(near, entities, others, reports, len(holding), around, relations, chunks, passages, context)


def _claim_lines(communities: Communities, entities: Sequence[TraceItem]) -> list[Candidate]:
    """Return what is claimed of those entities, as lines of their section."""
    by_row = {item.row: item for item in entities}
    claims = communities.claims_of(np.array(list(by_row), dtype=np.int64))
    return [text_line("claim", by_row[row].id, f"Claim on {by_row[row].name}:", text) for row, text in claims]


def _relations(index: Index, around: Around) -> tuple[TraceRelation, ...]:
    inside = dict.fromkeys(around.inside.tolist(), message("graphrag_local.inside"))
    links = dict(zip(around.outside.tolist(), around.links.tolist(), strict=True))
    scores = {row: float(n) for row, n in links.items()}
    outside = {row: message("graphrag_local.outside", n=n) for row, n in links.items()}
    return (
        *relation_items(index, around.inside, role="inside", reasons=inside),
        *relation_items(index, around.outside, scores, role="outside", reasons=outside),
    )
