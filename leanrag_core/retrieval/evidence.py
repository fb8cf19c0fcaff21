"""Source chunks of the seeds (section B.3.1), and rank fusion with the vector ranking (outside the paper)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from leanrag_core.messages.message import Message, message
from leanrag_core.retrieval.anchoring import Seed
from leanrag_core.retrieval.vector_search import similarity
from leanrag_core.storage.layout import CHUNKS
from leanrag_core.types.index import Index
from leanrag_core.types.trace import Source, TraceItem

TIES = ("cosine", "seed_rank")
_RRF = 60  # constant of reciprocal rank fusion (Cormack, Clarke, Buettcher 2009)


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
        keys.insert(2, -np.round(similarity(index, CHUNKS, vector, held), 5))
    ranked = np.lexsort(keys)
    return SeededChunks(held[ranked], ordered, held, starts, mentions)


def ranked_by_vector(index: Index, vector: np.ndarray) -> np.ndarray:
    """All chunk rows by cosine to the question, best first."""
    return np.argsort(-similarity(index, CHUNKS, vector), kind="stable")


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


def passages(
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
