"""GraphRAG, local search: entities near to the question with their communities, relations and chunks."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from leanrag_core.messages.message import message
from leanrag_core.retrieval.base import COSINE, Options, Query, StrategyBase
from leanrag_core.retrieval.base_graph import (
    Around,
    chunks_by_entity,
    end_rows,
    entity_items,
    entity_line,
    entity_passages,
    relation_items,
    relation_line,
    relations_around,
)
from leanrag_core.retrieval.budgets import Candidate, section, text_line
from leanrag_core.retrieval.communities import (
    COMMUNITIES,
    COMMUNITY,
    LEVELS,
    MEMBER,
    affordable,
    communities_holding,
    community_items,
    community_line,
    community_notes,
    member_links,
)
from leanrag_core.retrieval.context import CHUNKS, ENTITIES, RELATIONS, context_caption, joined_sections, passage_line
from leanrag_core.retrieval.passages import affordable_chunks
from leanrag_core.retrieval.tools import Tools
from leanrag_core.retrieval.tracing import Retrieval
from leanrag_core.retrieval.vector_search import nearest_entities
from leanrag_core.types.communities import Communities
from leanrag_core.types.config import option
from leanrag_core.types.index import Index
from leanrag_core.types.trace import Style, Trace, TraceItem, TraceRelation

_ENTITIES = replace(ENTITIES, nouns={"entity": "count.entities", "claim": "count.claims"})
_RELATIONS = replace(RELATIONS, nouns={"inside": "count.relations", "outside": "count.relations"})
_STYLES = (
    Style("entity", message("style.entity"), "seed", "disc"),
    Style("neighbour", message("style.neighbour"), "base", "disc"),
    COMMUNITY,
    Style("passage", message("style.passage"), "chunk", "chip"),
    MEMBER,
    Style("inside", message("style.inside"), "inter", "arc", on="relation"),
    Style("outside", message("style.outside"), "base", "dotted", on="relation"),
)


@dataclass(frozen=True)
class Config(Options):
    """Options of the local search."""

    top_k: int = option(10, low=1, high=100, help=message("graphrag_local.option.top_k"), in_row=True, scale=30)
    level: str = option("C2", choices=LEVELS, help=message("graphrag.option.level"))
    community_percent: int = option(15, low=0, high=100, help=message("graphrag_local.option.community_percent"))
    text_percent: int = option(50, low=0, high=100, help=message("graphrag_local.option.text_percent"))
    top_relations: int = option(10, low=0, high=100, help=message("graphrag_local.option.top_relations"))
    max_tokens: int = option(12000, low=0, high=64000, help=message("option.max_tokens"))


@dataclass(frozen=True)
class _Budgets:
    communities: int
    local: int
    text: int


class Strategy(StrategyBase[Config]):
    """Local search of the release; the paper describes global search alone."""

    name = "graphrag_local"
    badge = "own-part"
    score = COSINE
    parts = ("communities",)

    def retrieve(self, query: Query, index: Index, tools: Tools) -> Trace:
        """Return the trace of one retrieval; no language model is called."""
        config, run = self.config, Retrieval(self, query, index, tools)
        communities: Communities = tools.part("communities")
        base, budgets = index.layers[0], self._budgets()
        near = nearest_entities(index, query.vector, config.top_k, tools)
        rows = near.rows.tolist()
        entities = entity_items(index, rows, dict(zip(rows, near.scores.tolist(), strict=True)))
        run.lap("entities")
        holding = communities_holding(communities, rows, communities.at_level(int(config.level[1])))
        taken = affordable(communities, [row for row, _ in holding], budgets.communities)
        counts = dict(holding)
        reports = community_items(
            communities,
            taken,
            {row: float(counts[row]) for row in taken},
            {
                row: message("graphrag_local.reason", n=counts[row], rating=communities.rating[row].item())
                for row in taken
            },
        )
        run.lap("communities")
        around = relations_around(base, rows, most_outside=config.top_relations * len(rows))
        relations = _relations(index, around)
        others = entity_items(
            index,
            [row for row in end_rows(index, around.outside) if row not in set(rows)],
            role="neighbour",
        )
        run.lap("relations")
        chunks = chunks_by_entity(base, rows)
        fitting = affordable_chunks(index, [chunk.row for chunk in chunks], budgets.text)
        passages = entity_passages(index, chunks[: len(fitting)], entities)
        run.lap("chunks")
        names = {item.id: item.name for item in (*entities, *others)}
        local = section(
            _ENTITIES,
            [*(entity_line(index, each) for each in entities), *_claim_lines(communities, entities)],
            budgets.local,
        )
        context = joined_sections(
            section(COMMUNITIES, [community_line(communities, each) for each in reports], budgets.communities),
            local,
            # Entities are few and come first; relations take what is left of the part that both share.
            section(
                _RELATIONS, [relation_line(index, each, names) for each in relations], budgets.local - local.tokens
            ),
            section(CHUNKS, [passage_line(index, each) for each in passages], budgets.text),
        )
        run.lap("context")
        kept = {item.ref for part in context.sections for item in part.items}
        drawn = tuple(each for each in relations if each.id in kept)
        ends = {end for each in drawn for end in (each.source, each.target)}
        seen = tuple(item for item in others if item.id in ends)
        members = member_links(communities, reports, {item.row: item.id for item in entities if item.row is not None})
        run.search = near.kind
        run.notes += community_notes(communities)
        run.note(None if communities.claims.num_rows else message("communities.note.no_claims"))
        reached = message("count.communities", n=len(holding))
        related = message(
            "graphrag_local.relations",
            inside=message("count.relations", n=len(around.inside)),
            outside=message("count.relations", n=len(around.outside)),
        )
        n_chunks = message("count.chunks", n=len(chunks))
        return run.trace(
            context,
            steps=(
                run.step("entities", message("graphrag_local.entities", n=len(entities)), entities),
                run.step(
                    "communities",
                    message("graphrag_local.communities", n=len(reports), of=reached),
                    (*reports, *entities),
                    members,
                ),
                run.step("relations", related, (*entities, *seen), drawn),
                run.step("chunks", message("graphrag_local.chunks", n=len(passages), of=n_chunks), passages),
                run.step("context", context_caption(context), (*reports, *entities, *seen, *passages), drawn),
            ),
            styles=_STYLES,
            items=(*entities, *seen, *reports, *passages),
            relations=(*drawn, *members),
            ranked_chunks=[chunk.row for chunk in chunks],
        )

    def _budgets(self) -> _Budgets:
        """Return tokens of communities, of entities with relations, and of chunks."""
        config = self.config
        first = config.max_tokens * config.community_percent // 100
        text = min(config.max_tokens * config.text_percent // 100, config.max_tokens - first)
        return _Budgets(first, config.max_tokens - first - text, text)


def _claim_lines(communities: Communities, entities: Sequence[TraceItem]) -> list[Candidate]:
    """Return what is claimed of those entities, as lines of their section."""
    by_row = {item.row: item for item in entities}
    claims = communities.claims_of(np.array(list(by_row), dtype=np.int64))
    return [text_line("claim", by_row[row].id, f"Claim on {by_row[row].name}:", text) for row, text in claims]


def _relations(index: Index, around: Around) -> tuple[TraceRelation, ...]:
    inside = message("graphrag_local.inside")
    reasons = {int(row): inside for row in around.inside}
    return (
        *relation_items(index, around.inside, role="inside", reasons=reasons),
        *relation_items(
            index,
            around.outside,
            {int(row): float(n) for row, n in zip(around.outside, around.links, strict=True)},
            role="outside",
            reasons={
                int(row): message("graphrag_local.outside", n=int(n))
                for row, n in zip(around.outside, around.links, strict=True)
            },
        ),
    )
