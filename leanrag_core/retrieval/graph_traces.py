"""Traces of strategies whose context is entities, relations and chunks of the base graph, without a hierarchy."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from leanrag_core.messages.message import Message, message
from leanrag_core.retrieval.base_graph import end_rows, entity_items, entity_line, relation_items, relation_line
from leanrag_core.retrieval.budgets import scaled, section
from leanrag_core.retrieval.context import CHUNKS, ENTITIES, RELATIONS, context_caption, joined_sections, passage_line
from leanrag_core.retrieval.passages import PASSAGE, SEARCHED, PassageRanking
from leanrag_core.retrieval.tracing import Retrieval, link
from leanrag_core.types.index import Index
from leanrag_core.types.trace import ContextSection, Style, Trace, TraceItem, TraceRelation, TraceStep

DRAWN = 20  # entities of the picture where the context holds chunks alone
ASKED = Style("keywords", message("style.asked"), "path", "box")
ENTITY = Style("entity", message("style.entity"), "seed", "disc")
BETWEEN = Style("between", message("style.between"), "base", "disc")
BASE = Style("base", message("style.base"), "base", "dotted", on="relation")
ON_PATH = Style("on-path", message("style.on_path"), "path", "line", on="relation")
_BUDGETS = {"entities": "entity_tokens", "relations": "relation_tokens", "chunks": "chunk_tokens"}


@dataclass(frozen=True, eq=False)
class RankedGraph:
    """What a strategy ranked. Rows of base entities, of base relations, and of chunks, best first, with scores by row;
    many chunks as an array, (k,) int.

    chunk_reason: code of a message with a value `score`.
    """

    entities: Sequence[int] = ()
    relations: Sequence[int] = ()
    chunks: Sequence[int] | np.ndarray = ()
    entity_scores: Mapping[int, float] = field(default_factory=dict)
    relation_scores: Mapping[int, float] = field(default_factory=dict)
    chunk_scores: Mapping[int, float] = field(default_factory=dict)
    chunk_reason: str = ""


def walked_graph(
    run: Retrieval, entities: np.ndarray, mass: np.ndarray, chunks: np.ndarray, scores: np.ndarray, reason: str
) -> RankedGraph:
    """Return the rows of entities and of chunks that a walk led to, (k,) each, best first. mass: (n_entities,). scores:
    (n_chunks,). reason: code, see RankedGraph."""
    rows, of_entities = chunks[: run.options.top_c], by_row(entities, mass[entities])
    return RankedGraph(entities.tolist(), (), chunks, of_entities, {}, by_row(rows, scores[rows]), reason)


@dataclass(frozen=True)
class Asked:
    """Something of the question that was searched for, and the rows of the entities that it led to. title: what it is
    where the same words may be asked for twice."""

    id: str
    text: str
    reason: Message
    rows: Collection[int]
    kind: str = "keyword"
    title: Message | None = None


def asked_keywords(words: Mapping[str, str], rows: Mapping[str, Collection[int]]) -> list[Asked]:
    """Return the keywords of each level, low or high, and the entities that they led to. words: joined, by level."""
    asked = []
    for level, text in words.items():
        reason, title = message(f"lightrag.reason.{level}"), message(f"lightrag.step.{level}")
        asked.append(Asked(f"keywords-{level}", text, reason, set(rows[level]), title=title))
    return asked


@dataclass(frozen=True)
class GraphStep:
    """A step and what it lights up. entities, relations: rows of the base graph. asked, links: ids of items and
    relations that are no such rows. name: of the step and of its lap. title: see Retrieval.step()."""

    name: str
    caption: Message
    entities: Collection[int] = ()
    relations: Collection[int] = ()
    asked: Collection[str] = ()
    links: Collection[str] = ()
    title: Message | None = None


@dataclass(frozen=True)
class GraphContext:
    """The sections before the chunks, and what is drawn of the graph: their entities and relations, and the ends of
    these. styles: of what else is drawn. after: sections after the chunks."""

    sections: tuple[ContextSection, ...]
    drawn: tuple[TraceItem, ...]
    drawn_relations: tuple[TraceRelation, ...]
    styles: tuple[Style, ...] = ()
    after: tuple[ContextSection, ...] = ()

    def rows(self, name: str) -> list[int]:
        """Return rows of what is in the section of that name, in its order."""
        row_of = {item.id: item.row for item in self.drawn}
        row_of |= {relation.id: relation.row for relation in self.drawn_relations}
        refs = [item.ref for part in self.sections if part.name == name for item in part.items]
        return [row for ref in refs if (row := row_of[ref]) is not None]


def graph_picture(index: Index, ranked: RankedGraph) -> GraphContext:
    """Return the graph of strategies whose context is chunks alone: all of the ranking is drawn, no section holds
    it."""
    relations = relation_items(index, ranked.relations, ranked.relation_scores)
    known = set(ranked.entities)
    ends = [row for row in end_rows(index, ranked.relations) if row not in known]
    entities = entity_items(index, [*ranked.entities, *ends], ranked.entity_scores)
    return GraphContext((), entities, relations)


def graph_context(
    run: Retrieval, ranked: RankedGraph, budgets: Mapping[str, int] | None = None, *, flowing: bool = True
) -> GraphContext:
    """Return the sections of entities and relations, and what is drawn of both. budgets: tokens of "entities",
    "relations" and "chunks"; else those of the options. flowing: room that the entities leave goes to the relations."""
    index, options = run.index, run.options
    if budgets is None:
        budgets = {name: getattr(options, option) for name, option in _BUDGETS.items()}
    room = scaled(budgets, options.max_tokens)
    entities = entity_items(index, ranked.entities, ranked.entity_scores)
    relations = relation_items(index, ranked.relations, ranked.relation_scores)
    known = set(ranked.entities)
    ends = entity_items(index, [row for row in end_rows(index, ranked.relations) if row not in known])
    names = {item.id: item.name for item in (*entities, *ends)}
    first = section(ENTITIES, [entity_line(index, each) for each in entities], room["entities"])
    relation_room = room["relations"] + (room["entities"] - first.tokens if flowing else 0)
    second = section(RELATIONS, [relation_line(index, each, names) for each in relations], relation_room)
    refs = {item.ref for part in (first, second) for item in part.items}
    drawn_relations = tuple(each for each in relations if each.id in refs)
    joined = refs | {end for each in drawn_relations for end in (each.source, each.target)}
    # Ends alone have no rank of their own.
    others = tuple(replace(item, rank=None) for item in ends)
    drawn = tuple(item for item in (*entities, *others) if item.id in joined)
    return GraphContext((first, second), drawn, drawn_relations)


def graph_trace(
    run: Retrieval,
    ranked: RankedGraph,
    filled: GraphContext,
    *,
    steps: Sequence[GraphStep],
    chunk_caption: Message,
    chunk_tokens: int | None = None,
    asked: Sequence[Asked] = (),
) -> Trace:
    """Return the trace: the chunks of the ranking fill what entities and relations leave of max_tokens, or chunk_tokens
    of it.

    Steps of chunks and context are added to the given ones.
    """
    ranking = PassageRanking(np.asarray(ranked.chunks, dtype=np.int64), ranked.chunk_scores, ranked.chunk_reason)
    passages = ranking.items(run.index, run.options.top_c)
    run.lap("chunks")
    room = run.options.max_tokens - sum(part.tokens for part in (*filled.sections, *filled.after))
    room = room if chunk_tokens is None else min(room, chunk_tokens)
    chunks = section(CHUNKS, [passage_line(run.index, passage) for passage in passages], room)
    context = joined_sections(*filled.sections, chunks, *filled.after)
    run.lap("context")
    questions, links = _asked_items(asked, filled.drawn)
    marks = context.mark_of
    in_context = [item for item in (*filled.drawn, *passages) if item.id in marks]
    title = message("passages.step.context")
    return run.trace(
        context,
        steps=(
            *(_step(run, step, filled, links) for step in steps),
            run.step("chunks", chunk_caption, passages, title=message("passages.step.chunks")),
            run.step("context", context_caption(context), in_context, filled.drawn_relations, title),
        ),
        styles=(ENTITY, *((ASKED, SEARCHED) if questions else ()), PASSAGE, BASE, *filled.styles),
        items=(*filled.drawn, *questions, *passages),
        relations=(*filled.drawn_relations, *links),
        ranked_chunks=ranking.rows,
    )


def announce(run: Retrieval, step: GraphStep) -> GraphStep:
    """Pass the finished step to the listener, and return it. Nothing is drawn yet, so that it lights up nothing."""
    run.announce(run.step(step.name, step.caption, title=step.title))
    return step


def _step(run: Retrieval, step: GraphStep, filled: GraphContext, links: Sequence[TraceRelation]) -> TraceStep:
    entities, relations, asked = set(step.entities), set(step.relations), set(step.asked)
    items = tuple(item.id for item in filled.drawn if item.row in entities)
    lit = tuple(each.id for each in filled.drawn_relations if each.row in relations or each.id in step.links)
    lit += tuple(each.id for each in links if each.source in asked and each.target in set(items))
    return run.step(step.name, step.caption, (*step.asked, *items), lit, step.title)


def _asked_items(
    asked: Sequence[Asked], drawn: Sequence[TraceItem]
) -> tuple[tuple[TraceItem, ...], tuple[TraceRelation, ...]]:
    """Return what was asked for as items, joined to the entities of the picture that it led to."""
    items = tuple(
        TraceItem(each.id, each.kind, each.text, ("keywords",), reason=each.reason, text=each.text, title=each.title)
        for each in asked
    )
    links = tuple(
        link(each.id, item.id, "searched", "search") for each in asked for item in drawn if item.row in each.rows
    )
    return items, links


def by_row(rows: Sequence[int] | np.ndarray, scores: np.ndarray) -> dict[int, float]:
    """Return each row's score. rows, scores: (k,)."""
    return {int(row): float(score) for row, score in zip(rows, scores, strict=True)}
