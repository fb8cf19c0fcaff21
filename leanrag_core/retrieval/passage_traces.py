"""Traces of strategies whose context is passages alone."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np

from leanrag_core.messages.message import Message, message
from leanrag_core.retrieval import evidence
from leanrag_core.retrieval.base import Query, trace_index
from leanrag_core.retrieval.context import CHUNKS, joined_sections, passage_line
from leanrag_core.retrieval.filling import section
from leanrag_core.retrieval.laps import Laps
from leanrag_core.types.index import Index
from leanrag_core.types.trace import Style, Trace, TraceItem, TraceRelation, TraceStep
from leanrag_core.types.usage import NO_USAGE, Usage

PASSAGE = Style("passage", message("style.passage"), "chunk", "chip")
SUB_QUESTION = Style("sub-question", message("style.sub_question"), "path", "box")
SEARCHED = Style("searched", message("style.searched"), "tree", "line", on="relation")


class Titled(Protocol):
    """Of a strategy, what its traces repeat."""

    name: str
    title: Message


@dataclass(frozen=True, eq=False)
class PassageRanking:
    """rows: of all candidate chunks, best first. scores: of those that are taken, by row. reason: code of the message
    with a value `score` that says why a passage is here."""

    rows: np.ndarray
    scores: Mapping[int, float]
    reason: str = "passage.near"


@dataclass(frozen=True)
class Search:
    """A search on the way: what was looked for, why, and the rows of the passages that it led to."""

    text: str
    reason: Message
    rows: tuple[int, ...]


def passage_trace(
    strategy: Titled,
    query: Query,
    index: Index,
    ranking: PassageRanking,
    *,
    parameters: Mapping[str, Any],
    top_c: int,
    max_tokens: int,
    laps: Laps,
    caption: Message,
    before: Sequence[TraceStep] = (),
    searches: Sequence[Search] = (),
    notes: Sequence[Message] = (),
    search: str = "exact",
) -> Trace:
    """The trace whose context is the first top_c passages of the ranking, as many as the budget holds.

    before: the steps that led to the ranking; the steps of passages and context are added. searches: become items, each
    joined to the passages of the context that it led to. The laps "chunks" and "context" are of those two steps.
    """
    rows = [int(row) for row in ranking.rows[:top_c]]
    passages = tuple(
        replace(passage, reason=message(ranking.reason, score=passage.score))
        for passage in evidence.passages(index, rows, scores=ranking.scores)
    )
    laps.lap("chunks")
    context = joined_sections(section(CHUNKS, [passage_line(index, passage) for passage in passages], max_tokens))
    laps.lap("context")
    filled = message("passages.context", tokens=context.tokens)
    ids = tuple(passage.id for passage in passages)
    questions, links = _drawn(searches, passages)
    spent = sum(laps.usage.values(), NO_USAGE)
    return Trace(
        question=query.text,
        strategy=strategy.name,
        title=strategy.title,
        parameters=dict(parameters),
        items=(*questions, *passages),
        relations=links,
        context=context,
        steps=(
            *before,
            _step("chunks", message("passages.step.chunks"), caption, ids, laps, tuple(link.id for link in links)),
            _step("context", message("passages.step.context"), filled, ids, laps),
        ),
        styles=(PASSAGE, *((SUB_QUESTION, SEARCHED) if searches else ())),
        index=trace_index(index),
        notes=tuple(notes),
        usage=spent if spent.calls else NO_USAGE,
        ranked_chunks=tuple(ranking.rows.tolist()),
        search=search,
    )


def search_ids(n_searches: int) -> tuple[str, ...]:
    """Ids of the items that so many searches become."""
    return tuple(f"search-{number}" for number in range(1, n_searches + 1))


def search_step(name: str, title: Message, caption: Message, n_searches: int, laps: Laps) -> TraceStep:
    """The step in which the first n searches were made."""
    return _step(name, title, caption, search_ids(n_searches), laps)


def _step(
    name: str, title: Message, caption: Message, items: tuple[str, ...], laps: Laps, relations: tuple[str, ...] = ()
) -> TraceStep:
    usage: Usage = laps.usage.get(name, NO_USAGE)
    return TraceStep(name, title, caption, items, relations, usage, laps.milliseconds.get(name, 0.0))


def _drawn(
    searches: Sequence[Search], passages: Sequence[TraceItem]
) -> tuple[tuple[TraceItem, ...], tuple[TraceRelation, ...]]:
    """The searches as items, and a link from each to the passages of the context that it led to."""
    ids = search_ids(len(searches))
    items = tuple(
        TraceItem(
            id_, "sub-question", search.text, ("sub-question",), rank=rank, reason=search.reason, text=search.text
        )
        for rank, (id_, search) in enumerate(zip(ids, searches, strict=True), start=1)
    )
    links = tuple(
        TraceRelation(f"{id_}-{passage.id}", id_, passage.id, "searched", None, "search", 1.0, "")
        for id_, search in zip(ids, searches, strict=True)
        for passage in passages
        if passage.row in search.rows
    )
    return items, links
