"""Source chunks: rankings of them, passages of a trace, and traces of strategies whose context is passages alone."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np
import pyarrow as pa

from leanrag_core.messages.message import Message, message
from leanrag_core.retrieval.anchoring import Seed
from leanrag_core.retrieval.base import Query, trace_index
from leanrag_core.retrieval.budgets import section
from leanrag_core.retrieval.context import CHUNKS, joined_sections, passage_line
from leanrag_core.retrieval.laps import Laps
from leanrag_core.retrieval.vector_search import similarity
from leanrag_core.storage.layout import CHUNKS as CHUNK_VECTORS
from leanrag_core.types.index import Index
from leanrag_core.types.trace import Source, Style, Trace, TraceItem, TraceRelation, TraceStep
from leanrag_core.types.usage import NO_USAGE, Usage

TIES = ("cosine", "seed_rank")
_RRF = 60  # constant of reciprocal rank fusion (Cormack, Clarke, Buettcher 2009)
PASSAGE = Style("passage", message("style.passage"), "chunk", "chip")
SUB_QUESTION = Style("sub-question", message("style.sub_question"), "path", "box")
SEARCHED = Style("searched", message("style.searched"), "tree", "line", on="relation")


@dataclass(frozen=True)
class PassageReason:
    """Why a passage is here. led_by: ids of the items that led to it, best first."""

    reason: Message
    led_by: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class SeededChunks:
    """The chunks that mention a seed. rows: (k,) chunk rows, ranked. seeds: in rank order.

    held: the same rows ascending. The seeds in held[i] are, by place among the seeds and ascending,
    mentions[starts[i] : starts[i + 1]].
    """

    rows: np.ndarray
    seeds: tuple[Seed, ...]
    held: np.ndarray
    starts: np.ndarray
    mentions: np.ndarray

    def seeds_in(self, rows: Sequence[int] | np.ndarray) -> list[list[Seed]]:
        """For each of those chunks the seeds that it mentions, best first."""
        lists: list[list[Seed]] = []
        for row, place in zip(rows, self.held.searchsorted(rows).tolist(), strict=True):
            mentioned = place < len(self.held) and self.held[place] == row
            places = self.mentions[self.starts[place] : self.starts[place + 1]].tolist() if mentioned else ()
            lists.append([self.seeds[place_of_seed] for place_of_seed in places])
        return lists


def chunks_by_seeds(index: Index, seeds: Sequence[Seed], vector: np.ndarray | None = None) -> SeededChunks:
    """Chunks with most seeds first, ties by their cosine to the question, then by the best seed's rank, then by
    position in the corpus.

    vector: (d,) of the question; without it the best seed's rank decides ties.
    """
    ordered = tuple(sorted(seeds, key=lambda seed: seed.rank))
    chunks_of = [index.layers[seed.layer].chunks_of(seed.row) for seed in ordered]
    every = np.concatenate([*chunks_of, np.zeros(0, dtype=np.int32)])
    by_chunk = np.argsort(every, kind="stable")
    every = every[by_chunk]
    mentions = np.repeat(np.arange(len(chunks_of)), [len(rows) for rows in chunks_of])[by_chunk]
    first = np.flatnonzero(np.append(True, every[1:] != every[:-1])[: len(every)])
    starts = np.append(first, len(every))
    held = every[first]
    keys = [held, mentions[first], -np.diff(starts)]
    if vector is not None:
        # Rounded, so that processors which add up in another order rank alike.
        keys.insert(2, -np.round(similarity(index, CHUNK_VECTORS, vector, held), 5))
    ranked = np.lexsort(keys)
    return SeededChunks(held[ranked], ordered, held, starts, mentions)


def ranked_by_vector(index: Index, vector: np.ndarray) -> np.ndarray:
    """All chunk rows by cosine to the question, best first."""
    return np.argsort(-similarity(index, CHUNK_VECTORS, vector), kind="stable")


def fused(rankings: Sequence[np.ndarray]) -> np.ndarray:
    """One ranking by reciprocal rank fusion; ties by row."""
    rows = np.unique(np.concatenate(rankings))
    score = np.zeros(len(rows))
    for ranking in rankings:
        score[np.searchsorted(rows, ranking)] += 1.0 / (_RRF + np.arange(1, len(ranking) + 1))
    return rows[np.argsort(-score, kind="stable")]


def followed(ranking: np.ndarray, other: np.ndarray) -> np.ndarray:
    """The ranking, and after it what the other one has beside it, in the other's order."""
    return np.concatenate([ranking, other[~np.isin(other, ranking)]])


def passage_items(
    index: Index,
    rows: Sequence[int] | np.ndarray,
    seeded: SeededChunks | None = None,
    scores: Mapping[int, float] | None = None,
    reasons: Mapping[int, PassageReason] | None = None,
) -> tuple[TraceItem, ...]:
    """Those chunks as items of a trace, ranked as they come, with the seeds in each.

    scores: of each row, its cosine to the question; without them the number of seeds is the score. reasons: of each
    row, in place of these.
    """
    items, documents = [], index.document_cells
    seeds_in = seeded.seeds_in(rows) if seeded else [[] for _ in rows]
    for rank, (row, seeds) in enumerate(zip(map(int, rows), seeds_in, strict=True), start=1):
        chunk = index.chunk(row)
        document_row = index.chunk_cells["document"][row].as_py()
        title = documents["title"][document_row].as_py()
        score = float(len(seeds)) if scores is None else scores[row]
        reason = (
            message("passage.holds_seeds", n=len(seeds)) if scores is None else message("passage.near", score=score)
        )
        led_by = tuple(seed.id for seed in seeds)
        if reasons is not None:
            reason, led_by = reasons[row].reason, reasons[row].led_by
        source = Source(
            document=documents["name"][document_row].as_py(),
            document_row=document_row,
            title=title,
            start=chunk.start,
            end=chunk.end,
            page=index.page_of(document_row, chunk.start),
            tokens=chunk.tokens,
            items=led_by,
        )
        items.append(
            TraceItem(
                id=chunk.id,
                kind="passage",
                name=title,
                roles=("passage",),
                row=row,
                score=score,
                rank=rank,
                reason=reason,
                text=chunk.text,
                source=source,
            )
        )
    return tuple(items)


def chunks_without(index: Index, ranking: np.ndarray, without: frozenset[str]) -> np.ndarray:
    """The ranked rows of chunks whose ids are not among those."""
    if not without:
        return ranking
    import pyarrow.compute as pc

    gone = pc.is_in(index.chunks["id"], value_set=pa.array(sorted(without), pa.string())).to_numpy()
    return np.asarray(ranking[~gone[ranking]])


def affordable_chunks(index: Index, rows: Sequence[int], max_tokens: int) -> list[int]:
    """The first rows, until the chunks hold more tokens than the budget, and one more, which may be trimmed."""
    tokens = np.asarray(index.chunks["tokens"])[np.asarray(rows, dtype=np.int64)]
    return list(rows[: int(np.searchsorted(np.cumsum(tokens), max_tokens)) + 1])


def passages_with_reasons(
    index: Index,
    rows: Sequence[int],
    scores: Mapping[int, float],
    reasons: Mapping[int, Message],
    items: Mapping[int, tuple[str, ...]],
) -> tuple[TraceItem, ...]:
    """Those chunks as items, ranked as they come. All by row; items: ids of what led to a chunk."""
    return tuple(
        replace(
            passage,
            reason=reasons[passage.row or 0],
            source=replace(passage.source, items=items[passage.row or 0]) if passage.source else None,
        )
        for passage in passage_items(index, rows, scores=scores)
    )


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
        for passage in passage_items(index, rows, scores=ranking.scores)
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
            _passage_step(
                "chunks", message("passages.step.chunks"), caption, ids, laps, tuple(link.id for link in links)
            ),
            _passage_step("context", message("passages.step.context"), filled, ids, laps),
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
    return _passage_step(name, title, caption, search_ids(n_searches), laps)


def _passage_step(
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
