"""Source chunks of the seeds (section B.3.1), and rank fusion with the vector ranking (outside the paper)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from leanrag_core.retrieval.vector_search import CHUNKS, similarity
from leanrag_core.types.index import Index
from leanrag_core.types.trace import RetrievedChunk, Seed

_RRF = 60  # constant of reciprocal rank fusion (Cormack, Clarke, Buettcher 2009)


@dataclass(frozen=True, eq=False)
class SeededChunks:
    """The chunks that mention a seed. rows: (k,) chunk rows, ranked. seeds: in rank order.

    held: the same rows ascending. The seeds in held[i] stand, by place among the seeds and ascending, in
    mentions[starts[i] : starts[i + 1]].
    """

    rows: np.ndarray
    seeds: tuple[Seed, ...]
    held: np.ndarray
    starts: np.ndarray
    mentions: np.ndarray

    def seeds_in(self, rows: Sequence[int] | np.ndarray) -> list[list[Seed]]:
        """For each of those chunks the seeds that it mentions, best first."""
        found: list[list[Seed]] = []
        for row, place in zip(rows, self.held.searchsorted(rows).tolist(), strict=True):
            mentioned = place < len(self.held) and self.held[place] == row
            places = self.mentions[self.starts[place] : self.starts[place + 1]].tolist() if mentioned else ()
            found.append([self.seeds[one] for one in places])
        return found


def chunks_by_seeds(index: Index, seeds: Sequence[Seed]) -> SeededChunks:
    """Chunks with most seeds first, ties by the best seed's rank, then by position in the corpus."""
    ordered = tuple(sorted(seeds, key=lambda one: one.rank))
    chunks_of = [index.layers[seed.layer].chunks_of(seed.row) for seed in ordered]
    every = np.concatenate([*chunks_of, np.zeros(0, dtype=np.int32)])
    by_chunk = np.argsort(every, kind="stable")
    every = every[by_chunk]
    mentions = np.repeat(np.arange(len(chunks_of)), [len(rows) for rows in chunks_of])[by_chunk]
    first = np.flatnonzero(np.append(True, every[1:] != every[:-1])[: len(every)])
    starts = np.append(first, len(every))
    held = every[first]
    ranked = np.lexsort((held, mentions[first], -np.diff(starts)))
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


def retrieved_chunks(
    index: Index, rows: Sequence[int] | np.ndarray, seeded: SeededChunks | None, scores: Mapping[int, float]
) -> tuple[RetrievedChunk, ...]:
    """The chunks with their text, place and the seeds in each."""
    found, documents = [], index.document_cells
    seeds_in = seeded.seeds_in(rows) if seeded else [[] for _ in rows]
    for row, seeds in zip(map(int, rows), seeds_in, strict=True):
        chunk = index.chunk(row)
        document_row = index.chunk_cells["document"][row].as_py()
        found.append(
            RetrievedChunk(
                id=chunk.id,
                row=row,
                document=documents["name"][document_row].as_py(),
                document_row=document_row,
                title=documents["title"][document_row].as_py(),
                start=chunk.start,
                end=chunk.end,
                page=index.page_of(document_row, chunk.start),
                seed_count=len(seeds),
                seeds=tuple(seed.id for seed in seeds),
                best_rank=seeds[0].rank if seeds else 0,
                score=scores.get(row, float(len(seeds))),
                text=chunk.text,
                tokens=chunk.tokens,
            )
        )
    return tuple(found)
