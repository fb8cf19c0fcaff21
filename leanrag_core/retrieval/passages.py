"""Source chunks: rankings of them, passages of a trace, and traces of strategies whose context is passages alone."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa

from leanrag_core.messages.message import Message, message
from leanrag_core.retrieval.anchoring import Seed
from leanrag_core.retrieval.budgets import section
from leanrag_core.retrieval.context import CHUNKS, joined_sections, passage_line
from leanrag_core.retrieval.tracing import Retrieval, link
from leanrag_core.retrieval.vector_search import Ranked, best_first, similarity
from leanrag_core.storage.layout import CHUNKS as CHUNK_VECTORS
from leanrag_core.types.index import Index
from leanrag_core.types.rows import starts_of_runs
from leanrag_core.types.trace import Source, Style, Trace, TraceItem, TraceRelation, TraceStep

TIES = ("cosine", "seed_rank")
RANK_CONSTANT = 60  # of reciprocal rank fusion (Cormack, Clarke, Buettcher 2009)
PASSAGE = Style("passage", message("style.passage"), "chunk", "chip")
SUB_QUESTION = Style("sub-question", message("style.sub_question"), "path", "box")
SEARCHED = Style("searched", message("style.searched"), "tree", "line", on="relation")


@dataclass(frozen=True)
class PassageReason:
    """Why a passage is here. led_by: ids of the items that led to it, best first."""

    reason: Message
    led_by: tuple[str, ...] = ()


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
        """Return for each of those chunks the seeds that it mentions, best first. rows: (k,)."""
        lists: list[list[Seed]] = []
        for row, place in zip(rows, self.held.searchsorted(rows).tolist(), strict=True):
            mentioned = place < len(self.held) and self.held[place] == row
            places = self.mentions[self.starts[place] : self.starts[place + 1]].tolist() if mentioned else ()
            lists.append([self.seeds[place_of_seed] for place_of_seed in places])
        return lists

    def items(self, index: Index, rows: Sequence[int] | np.ndarray) -> tuple[TraceItem, ...]:
        """Return those chunks as items; the score is the number of seeds in one. rows: (k,)."""
        seeds_in = dict(zip(map(int, rows), self.seeds_in(rows), strict=True))
        reasons = {
            row: PassageReason(message("passage.holds_seeds", n=len(seeds)), tuple(seed.id for seed in seeds))
            for row, seeds in seeds_in.items()
        }
        return passage_items(index, rows, {row: float(len(seeds)) for row, seeds in seeds_in.items()}, reasons)


def chunks_by_seeds(index: Index, seeds: Sequence[Seed], vector: np.ndarray | None = None) -> SeededChunks:
    """Return chunks with most seeds first, ties by their cosine to the question, then by the best seed's rank, then by
    position in the corpus.

    vector: (d,) of the question; without it the best seed's rank decides ties.
    """
    ordered = tuple(sorted(seeds, key=lambda seed: seed.rank))
    chunks_of = [index.layers[seed.layer].chunks_of(seed.row) for seed in ordered]
    every = np.concatenate([*chunks_of, np.zeros(0, dtype=np.int32)])
    by_chunk = np.argsort(every, kind="stable")
    every = every[by_chunk]
    mentions = np.repeat(np.arange(len(chunks_of)), [len(rows) for rows in chunks_of])[by_chunk]
    first = starts_of_runs(every)
    starts = np.append(first, len(every))
    chunk_rows = every[first]
    keys = [chunk_rows, mentions[first], -np.diff(starts)]
    if vector is not None:
        # Rounded, so that processors which add up in another order rank alike.
        keys.insert(2, -np.round(similarity(index, CHUNK_VECTORS, vector, chunk_rows), 5))
    ranked = np.lexsort(keys)
    return SeededChunks(chunk_rows[ranked], ordered, chunk_rows, starts, mentions)


def ranked_by_vector(index: Index, vector: np.ndarray) -> np.ndarray:
    """Return all chunk rows by cosine to the question, best first. vector: (d,). Returns (n_chunks,) int."""
    return best_first(similarity(index, CHUNK_VECTORS, vector))


def cosines_of(index: Index, vector: np.ndarray, rows: Sequence[int] | np.ndarray) -> dict[int, float]:
    """Return the cosines of those chunks to the vector, by row. vector: (d,). rows: (k,)."""
    if not len(rows):
        return {}
    return dict(zip(map(int, rows), similarity(index, CHUNK_VECTORS, vector, rows).tolist(), strict=True))


def reciprocal_rank_fusion(rankings: Sequence[np.ndarray], constant: int = RANK_CONSTANT) -> Ranked:
    """Return one ranking: a row scores the sum of 1 / (constant + rank) over the rankings that it is in. rankings:
    (k_i,) rows each, best first."""
    rows = np.unique(np.concatenate(rankings))
    scores = np.zeros(len(rows))
    for ranking in rankings:
        scores[np.searchsorted(rows, ranking)] += 1.0 / (constant + np.arange(1, len(ranking) + 1))
    order = np.argsort(-scores, kind="stable")
    return Ranked(rows[order], scores[order])


def append_missing(ranking: np.ndarray, other: np.ndarray) -> np.ndarray:
    """Return the ranking, followed by the rows that only the other one has, in the other's order. ranking, other: (k,)
    and (m,) rows."""
    return np.concatenate([ranking, other[~np.isin(other, ranking)]])


def source_in(
    index: Index, document_row: int, start: int, end: int, tokens: int, items: tuple[str, ...] = ()
) -> Source:
    """Return the place of a passage in that document. start, end: its characters. items: see Source."""
    name, title = (index.document_cells.value(cell, document_row) for cell in ("name", "title"))
    return Source(name, document_row, title, start, end, index.page_of(document_row, start), tokens, items)


def document_title(index: Index, row: int) -> str:
    """Return the title of the document of that chunk."""
    return str(index.document_cells.value("title", index.chunk_cells.value("document", row)))


def passage_items(
    index: Index,
    rows: Sequence[int] | np.ndarray,
    scores: Mapping[int, float] | None = None,
    reasons: Mapping[int, PassageReason] | None = None,
) -> tuple[TraceItem, ...]:
    """Return those chunks as items of a trace, ranked as they come.

    rows: (k,) of chunks. scores, reasons: by row; what a score is, is for the strategy to say in its reason.
    """
    items = []
    for rank, row in enumerate(map(int, rows), start=1):
        chunk = index.chunk(row)
        reason = reasons[row] if reasons is not None else None
        led_by = reason.led_by if reason else ()
        source = source_in(
            index, index.chunk_cells.value("document", row), chunk.start, chunk.end, chunk.tokens, led_by
        )
        ranked: dict[str, Any] = {"score": None if scores is None else scores[row], "rank": rank}
        ranked["reason"] = reason.reason if reason else None
        items.append(passage_item(chunk.id, row, source, chunk.text, **ranked))
    return tuple(items)


def passage_item(id_: str, chunk: int, source: Source, text: str, **ranked: Any) -> TraceItem:
    """Return a passage as an item. chunk: row of the chunk that holds it. ranked: its score, rank and reason."""
    return TraceItem(id_, "passage", source.title, ("passage",), row=chunk, text=text, source=source, **ranked)


def chunks_without(index: Index, ranking: np.ndarray, without: frozenset[str]) -> np.ndarray:
    """Return the ranked rows of chunks whose ids are not among those. ranking: (k,)."""
    if not without:
        return ranking
    import pyarrow.compute as pc

    is_left_out = pc.is_in(index.chunks["id"], value_set=pa.array(sorted(without), pa.string())).to_numpy()
    return np.asarray(ranking[~is_left_out[ranking]])


@dataclass(frozen=True, eq=False)
class PassageRanking:
    """rows: (n,) int, of all candidate chunks, best first; an array or a list. scores: of those that are taken, by row.
    reason: code of the message with a value `score` that says why a passage is here. reasons: by row, in place of that
    message."""

    rows: np.ndarray | Sequence[int]
    scores: Mapping[int, float]
    reason: str
    reasons: Mapping[int, PassageReason] = field(default_factory=dict)

    @classmethod
    def by_cosine(
        cls, index: Index, rows: np.ndarray, vector: np.ndarray, n: int, reason: str = "passage.near"
    ) -> "PassageRanking":
        """Return the ranking with the cosines of its first n chunks to the vector, (d,), as scores. rows: (k,)."""
        return cls(rows, cosines_of(index, vector, rows[:n]), reason)

    def items(self, index: Index, n: int) -> tuple[TraceItem, ...]:
        """Return the first n chunks as items."""
        reasons = {
            row: self.reasons.get(row) or PassageReason(message(self.reason, score=score))
            for row, score in self.scores.items()
        }
        return passage_items(index, self.rows[:n], self.scores, reasons)


@dataclass(frozen=True)
class Search:
    """A search of a strategy: what was looked for, why, and the rows of the passages that it led to."""

    text: str
    reason: Message
    rows: tuple[int, ...]


def passage_trace(
    run: Retrieval,
    ranking: PassageRanking,
    *,
    caption: Message,
    before: Sequence[TraceStep] = (),
    searches: Sequence[Search] = (),
) -> Trace:
    """Return the trace whose context is the first top_c passages of the ranking, as many as the budget holds.

    before: the steps that led to the ranking; the steps of passages and context are added. searches: become items, each
    joined to the passages of the context that it led to.
    """
    passages = ranking.items(run.index, run.options.top_c)
    run.lap("chunks")
    lines = [passage_line(run.index, passage) for passage in passages]
    context = joined_sections(section(CHUNKS, lines, run.options.max_tokens))
    run.lap("context")
    questions, links = _drawn(searches, passages)
    filled = message("passages.context", tokens=context.tokens)
    return run.trace(
        context,
        steps=(
            *before,
            run.step("chunks", caption, passages, links, title=message("passages.step.chunks")),
            run.step("context", filled, passages, title=message("passages.step.context")),
        ),
        styles=(PASSAGE, *((SUB_QUESTION, SEARCHED) if searches else ())),
        items=(*questions, *passages),
        relations=links,
        ranked_chunks=np.asarray(ranking.rows),
    )


def question_item(id_: str, text: str, reason: Message, *, rank: int | None = None) -> TraceItem:
    """Return a text that is searched for as an item."""
    return TraceItem(id_, "sub-question", text, ("sub-question",), rank=rank, reason=reason, text=text)


def search_ids(n_searches: int) -> tuple[str, ...]:
    """Return the ids of the items that so many searches become."""
    return tuple(f"search-{number}" for number in range(1, n_searches + 1))


def _drawn(
    searches: Sequence[Search], passages: Sequence[TraceItem]
) -> tuple[tuple[TraceItem, ...], tuple[TraceRelation, ...]]:
    """Return the searches as items, and a link from each to the passages of the context that it led to."""
    ids = search_ids(len(searches))
    items = tuple(
        question_item(id_, search.text, search.reason, rank=rank)
        for rank, (id_, search) in enumerate(zip(ids, searches, strict=True), start=1)
    )
    links = tuple(
        link(id_, passage.id, "searched", "search")
        for id_, search in zip(ids, searches, strict=True)
        for passage in passages
        if passage.row in search.rows
    )
    return items, links
