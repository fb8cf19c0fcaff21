"""Traces of strategies whose context is entities, relations and chunks of the base graph, without a hierarchy."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from leanrag_core.messages.message import Message, message
from leanrag_core.retrieval.base import Query, trace_index
from leanrag_core.retrieval.base_graph import end_rows, entity_items, entity_line, relation_items, relation_line
from leanrag_core.retrieval.budgets import scaled, section
from leanrag_core.retrieval.context import CHUNKS, ENTITIES, RELATIONS, context_caption, joined_sections, passage_line
from leanrag_core.retrieval.laps import Laps
from leanrag_core.retrieval.passages import PASSAGE, SEARCHED, Titled, passage_items
from leanrag_core.types.index import Index
from leanrag_core.types.trace import ContextSection, Style, Trace, TraceItem, TraceRelation, TraceStep
from leanrag_core.types.usage import NO_USAGE

ASKED = Style("keywords", message("style.asked"), "path", "box")
ENTITY = Style("entity", message("style.entity"), "seed", "disc")
BASE = Style("base", message("style.base"), "base", "dotted", on="relation")


@dataclass(frozen=True, eq=False)
class RankedGraph:
    """What a strategy ranked. Rows of base entities, of base relations, and of chunks, best first, with scores by row.

    chunk_reason: code of a message with a value `score`.
    """

    entities: Sequence[int] = ()
    relations: Sequence[int] = ()
    chunks: Sequence[int] = ()
    entity_scores: Mapping[int, float] = field(default_factory=dict)
    relation_scores: Mapping[int, float] = field(default_factory=dict)
    chunk_scores: Mapping[int, float] = field(default_factory=dict)
    chunk_reason: str = "passage.near"


@dataclass(frozen=True)
class Asked:
    """Something of the question that was searched for, and the rows of the entities that it led to."""

    id: str
    text: str
    reason: Message
    rows: Collection[int]
    kind: str = "keyword"


@dataclass(frozen=True)
class GraphStep:
    """A step: which rows it lights up, and whether it lights up what was asked for. name: of its lap too."""

    name: str
    title: Message
    caption: Message
    entities: Collection[int] = ()
    relations: Collection[int] = ()
    asked: Collection[str] = ()


@dataclass(frozen=True)
class GraphContext:
    """The sections before the chunks, and what is drawn of the graph: what is in them, and ends of relations."""

    sections: tuple[ContextSection, ...]
    drawn: tuple[TraceItem, ...]
    drawn_relations: tuple[TraceRelation, ...]

    def rows(self, name: str) -> list[int]:
        """Rows of what is in the section of that name, in its order."""
        row_of = {item.id: item.row for item in self.drawn}
        row_of |= {relation.id: relation.row for relation in self.drawn_relations}
        refs = [item.ref for part in self.sections if part.name == name for item in part.items]
        return [row for ref in refs if (row := row_of[ref]) is not None]


def graph_picture(index: Index, ranked: RankedGraph) -> GraphContext:
    """Of strategies whose context is chunks alone: all of the ranking is drawn, and no section holds it."""
    relations = relation_items(index, ranked.relations, ranked.relation_scores)
    known = set(ranked.entities)
    ends = [row for row in end_rows(index, ranked.relations) if row not in known]
    entities = entity_items(index, [*ranked.entities, *ends], ranked.entity_scores)
    return GraphContext((), entities, relations)


def graph_context(
    index: Index, ranked: RankedGraph, budgets: Mapping[str, int], max_tokens: int, *, flowing: bool = True
) -> GraphContext:
    """The first two sections. budgets: tokens of "entities", "relations" and "chunks". flowing: room that the entities
    leave goes to the relations."""
    room = scaled(budgets, max_tokens)
    entities = entity_items(index, ranked.entities, ranked.entity_scores)
    relations = relation_items(index, ranked.relations, ranked.relation_scores)
    known = set(ranked.entities)
    ends = entity_items(index, [row for row in end_rows(index, ranked.relations) if row not in known])
    names = {item.id: item.name for item in (*entities, *ends)}
    first = section(ENTITIES, [entity_line(index, each) for each in entities], room["entities"])
    left = room["relations"] + (room["entities"] - first.tokens if flowing else 0)
    second = section(RELATIONS, [relation_line(index, each, names) for each in relations], left)
    refs = {item.ref for part in (first, second) for item in part.items}
    drawn_relations = tuple(each for each in relations if each.id in refs)
    joined = refs | {end for each in drawn_relations for end in (each.source, each.target)}
    # Ends alone have no rank of their own.
    others = tuple(replace(item, rank=None) for item in ends)
    drawn = tuple(item for item in (*entities, *others) if item.id in joined)
    return GraphContext((first, second), drawn, drawn_relations)


def graph_trace(
    strategy: Titled,
    query: Query,
    index: Index,
    ranked: RankedGraph,
    filled: GraphContext,
    *,
    parameters: Mapping[str, Any],
    top_c: int,
    max_tokens: int,
    laps: Laps,
    steps: Sequence[GraphStep],
    chunk_caption: Message,
    chunk_tokens: int | None = None,
    asked: Sequence[Asked] = (),
    notes: Sequence[Message] = (),
    search: str = "exact",
    title: Message | None = None,
) -> Trace:
    """The trace: the chunks of the ranking fill what entities and relations leave of max_tokens, or chunk_tokens of it.

    Steps of chunks and context are added to the given ones. title: of the strategy in this mode.
    """
    rows = [int(row) for row in ranked.chunks[:top_c]]
    passages = tuple(
        replace(passage, reason=message(ranked.chunk_reason, score=passage.score))
        for passage in passage_items(index, rows, scores=ranked.chunk_scores)
    )
    laps.lap("chunks")
    room = max_tokens - sum(part.tokens for part in filled.sections)
    room = room if chunk_tokens is None else min(room, chunk_tokens)
    chunks = section(CHUNKS, [passage_line(index, passage) for passage in passages], room)
    context = joined_sections(*filled.sections, chunks)
    laps.lap("context")
    questions, links = _asked_items(asked, filled.drawn)
    refs = {item.ref for part in context.sections for item in part.items}
    passage_ids = tuple(passage.id for passage in passages)
    added = (
        ("chunks", message("passages.step.chunks"), chunk_caption, passage_ids, ()),
        (
            "context",
            message("passages.step.context"),
            context_caption(context),
            tuple(item.id for item in (*filled.drawn, *passages) if item.id in refs),
            tuple(each.id for each in filled.drawn_relations),
        ),
    )
    spent = sum(laps.usage.values(), NO_USAGE)
    return Trace(
        question=query.text,
        strategy=strategy.name,
        title=title or strategy.title,
        parameters=dict(parameters),
        items=(*filled.drawn, *questions, *passages),
        relations=(*filled.drawn_relations, *links),
        context=context,
        steps=(
            *(_step(step, filled, links, laps) for step in steps),
            *(
                TraceStep(name, title, caption, items, lit, milliseconds=laps.milliseconds[name])
                for name, title, caption, items, lit in added
            ),
        ),
        styles=(ENTITY, *((ASKED, SEARCHED) if questions else ()), PASSAGE, BASE),
        index=trace_index(index),
        notes=tuple(notes),
        usage=spent if spent.calls else NO_USAGE,
        ranked_chunks=tuple(map(int, ranked.chunks)),
        search=search,
    )


def announced(step: GraphStep, laps: Laps) -> TraceStep:
    """The step as a listener hears of it while the strategy is at work: nothing is drawn yet, so it lights up nothing.

    Its lap has to be over.
    """
    return TraceStep(
        step.name,
        step.title,
        step.caption,
        usage=laps.usage.get(step.name, NO_USAGE),
        milliseconds=laps.milliseconds.get(step.name, 0.0),
    )


def _step(step: GraphStep, filled: GraphContext, links: Sequence[TraceRelation], laps: Laps) -> TraceStep:
    entities, relations, asked = set(step.entities), set(step.relations), set(step.asked)
    items = tuple(item.id for item in filled.drawn if item.row in entities)
    lit = tuple(each.id for each in filled.drawn_relations if each.row in relations)
    lit += tuple(link.id for link in links if link.source in asked and link.target in set(items))
    return TraceStep(
        step.name,
        step.title,
        step.caption,
        (*step.asked, *items),
        lit,
        laps.usage.get(step.name, NO_USAGE),
        laps.milliseconds.get(step.name, 0.0),
    )


def _asked_items(
    asked: Sequence[Asked], drawn: Sequence[TraceItem]
) -> tuple[tuple[TraceItem, ...], tuple[TraceRelation, ...]]:
    """What was asked for as items, joined to the entities of the picture that it led to."""
    items = tuple(
        TraceItem(each.id, each.kind, each.text, ("keywords",), reason=each.reason, text=each.text) for each in asked
    )
    links = tuple(
        TraceRelation(f"{each.id}-{item.id}", each.id, item.id, "searched", None, "search", 1.0, "")
        for each in asked
        for item in drawn
        if item.row in each.rows
    )
    return items, links


def by_row(rows: Sequence[int] | np.ndarray, scores: np.ndarray) -> dict[int, float]:
    """Each row's score."""
    return {int(row): float(score) for row, score in zip(rows, scores, strict=True)}
