"""GraphRAG, local search: entities near to the question with their communities, relations and chunks."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace

import numpy as np

from leanrag_core.messages.message import Message, message
from leanrag_core.retrieval.base import Query, published, trace_index
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
from leanrag_core.retrieval.budgets import section, text_line
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
from leanrag_core.retrieval.laps import Laps
from leanrag_core.retrieval.passages import affordable_chunks
from leanrag_core.retrieval.tools import Tools
from leanrag_core.retrieval.vector_search import nearest_entities
from leanrag_core.types.communities import Communities
from leanrag_core.types.config import option, validate
from leanrag_core.types.index import Index
from leanrag_core.types.trace import Context, Style, Trace, TraceItem, TraceRelation, TraceStep

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
class Config:
    """Options of the local search."""

    top_k: int = option(10, low=1, high=100, help=message("graphrag_local.option.top_k"), in_row=True, scale=30)
    level: str = option("C2", choices=LEVELS, help=message("graphrag.option.level"))
    community_percent: int = option(15, low=0, high=100, help=message("graphrag_local.option.community_percent"))
    text_percent: int = option(50, low=0, high=100, help=message("graphrag_local.option.text_percent"))
    top_relations: int = option(10, low=0, high=100, help=message("graphrag_local.option.top_relations"))
    max_tokens: int = option(12000, low=0, high=64000, help=message("option.max_tokens"))

    def __post_init__(self) -> None:
        validate(self)


@dataclass(frozen=True)
class _Budgets:
    communities: int
    local: int
    text: int


class Strategy:
    """Local search of the release; the paper describes global search alone."""

    name = "graphrag_local"
    title = message("strategy.graphrag_local.title")
    help = message("strategy.graphrag_local.help")
    badge = "own-part"
    differs = message("strategy.graphrag_local.differs")
    calls_model = False
    parts = ("communities",)
    presets = (published("official"),)

    def __init__(self, config: Config) -> None:
        self.config = config

    def retrieve(self, query: Query, index: Index, tools: Tools) -> Trace:
        """The trace of one retrieval; no language model is called."""
        config, laps = self.config, Laps()
        communities: Communities = tools.part("communities")
        base, budgets = index.layers[0], self._budgets()
        near = nearest_entities(index, query.vector, config.top_k, tools)
        rows = near.rows.tolist()
        entities = entity_items(index, rows, dict(zip(rows, near.scores.tolist(), strict=True)))
        laps.lap("entities")
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
        laps.lap("communities")
        around = relations_around(base, rows, most_outside=config.top_relations * len(rows))
        relations = _relations(index, around)
        others = entity_items(
            index,
            [row for row in end_rows(index, around.outside) if row not in set(rows)],
            role="neighbour",
        )
        laps.lap("relations")
        chunks = chunks_by_entity(base, rows)
        fitting = affordable_chunks(index, [chunk.row for chunk in chunks], budgets.text)
        passages = entity_passages(index, chunks[: len(fitting)], entities)
        laps.lap("chunks")
        context = self._context(index, communities, reports, entities, others, relations, passages, budgets)
        laps.lap("context")
        kept = {item.ref for part in context.sections for item in part.items}
        drawn = tuple(each for each in relations if each.id in kept)
        ends = {end for each in drawn for end in (each.source, each.target)}
        seen = tuple(item for item in others if item.id in ends)
        members = member_links(communities, reports, {item.row: item.id for item in entities if item.row is not None})
        return Trace(
            question=query.text,
            strategy=self.name,
            title=self.title,
            parameters=asdict(config),
            items=(*entities, *seen, *reports, *passages),
            relations=(*drawn, *members),
            context=context,
            steps=_steps(
                entities, seen, reports, len(holding), drawn, around, members, passages, len(chunks), context, laps
            ),
            styles=_STYLES,
            index=trace_index(index),
            notes=(
                *community_notes(communities),
                *(() if communities.claims.num_rows else (message("communities.note.no_claims"),)),
            ),
            ranked_chunks=tuple(chunk.row for chunk in chunks),
            search=near.kind,
        )

    def _budgets(self) -> _Budgets:
        """Tokens of communities, of entities with relations, and of chunks."""
        config = self.config
        first = config.max_tokens * config.community_percent // 100
        text = min(config.max_tokens * config.text_percent // 100, config.max_tokens - first)
        return _Budgets(first, config.max_tokens - first - text, text)

    def _context(
        self,
        index: Index,
        communities: Communities,
        reports: Sequence[TraceItem],
        entities: Sequence[TraceItem],
        others: Sequence[TraceItem],
        relations: Sequence[TraceRelation],
        passages: Sequence[TraceItem],
        budgets: _Budgets,
    ) -> Context:
        names = {item.id: item.name for item in (*entities, *others)}
        ids = {item.row: item.id for item in entities}
        claims = communities.claims_of(np.array(list(ids), dtype=np.int64))
        listed = section(
            _ENTITIES,
            [
                *(entity_line(index, each) for each in entities),
                *(text_line("claim", ids[row], f"Claim on {names[ids[row]]}:", text) for row, text in claims),
            ],
            budgets.local,
        )
        return joined_sections(
            section(COMMUNITIES, [community_line(communities, each) for each in reports], budgets.communities),
            listed,
            # Entities are few and come first; relations take what is left of the part that both share.
            section(
                _RELATIONS, [relation_line(index, each, names) for each in relations], budgets.local - listed.tokens
            ),
            section(CHUNKS, [passage_line(index, each) for each in passages], budgets.text),
        )


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


def _steps(
    entities: Sequence[TraceItem],
    others: Sequence[TraceItem],
    reports: Sequence[TraceItem],
    n_holding: int,
    relations: Sequence[TraceRelation],
    around: Around,
    members: Sequence[TraceRelation],
    passages: Sequence[TraceItem],
    n_chunks: int,
    context: Context,
    laps: Laps,
) -> tuple[TraceStep, ...]:
    def step(name: str, caption: Message, items: Sequence[TraceItem], lit: Sequence[TraceRelation] = ()) -> TraceStep:
        return TraceStep(
            name,
            message(f"graphrag_local.step.{name}"),
            caption,
            tuple(item.id for item in items),
            tuple(each.id for each in lit),
            milliseconds=laps.milliseconds[name],
        )

    related = message(
        "graphrag_local.relations",
        inside=message("count.relations", n=len(around.inside)),
        outside=message("count.relations", n=len(around.outside)),
    )
    return (
        step("entities", message("graphrag_local.entities", n=len(entities)), entities),
        step(
            "communities",
            message("graphrag_local.communities", n=len(reports), of=message("count.communities", n=n_holding)),
            (*reports, *entities),
            members,
        ),
        step("relations", related, (*entities, *others), relations),
        step(
            "chunks",
            message("graphrag_local.chunks", n=len(passages), of=message("count.chunks", n=n_chunks)),
            passages,
        ),
        step("context", context_caption(context), (*reports, *entities, *others, *passages), relations),
    )
