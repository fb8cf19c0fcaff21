"""Source chunks of the seeds (section B.3.1), and rank fusion with the vector ranking (outside the paper)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from leanrag_core.retrieval.vector_search import cosines
from leanrag_core.types.index import Index
from leanrag_core.types.trace import RetrievedChunk, Seed

_RRF = 60  # constant of reciprocal rank fusion (Cormack, Clarke, Buettcher 2009)


@dataclass(frozen=True, eq=False)
class SeededChunks:
    """The chunks that mention a seed, ranked. rows: (k,) chunk rows, best first. seeds: in rank order.
    chunks_of: for each seed its chunk rows, ascending."""

    rows: np.ndarray
    seeds: tuple[Seed, ...]
    chunks_of: tuple[np.ndarray, ...]

    def seeds_in(self, rows: Sequence[int] | np.ndarray) -> list[list[Seed]]:
        """For each of those chunks the seeds that it mentions, best first."""
        found: list[list[Seed]] = [[] for _ in rows]
        wanted = np.asarray(rows)
        for seed, held in zip(self.seeds, self.chunks_of, strict=True):
            if len(held):
                places = held.searchsorted(wanted).clip(max=len(held) - 1)
                for position in np.flatnonzero(held[places] == wanted).tolist():
                    found[position].append(seed)
        return found


def chunks_by_seeds(index: Index, seeds: Sequence[Seed]) -> SeededChunks:
    """Chunks with most seeds first, ties by the best seed's rank, then by position in the corpus."""
    ordered = tuple(sorted(seeds, key=lambda one: one.rank))
    chunks_of = tuple(index.layers[seed.layer].chunks_of(seed.row) for seed in ordered)
    every = np.concatenate([*chunks_of, np.zeros(0, dtype=np.int32)])
    place = np.repeat(np.arange(len(chunks_of)), [len(rows) for rows in chunks_of])
    rows, first, counts = np.unique(every, return_index=True, return_counts=True)
    # np.unique returns the first occurrence, which is that of the best seed.
    order = np.lexsort((rows, place[first], -counts))
    return SeededChunks(rows[order], ordered, chunks_of)


def ranked_by_vector(index: Index, vector: np.ndarray) -> np.ndarray:
    """All chunk rows by cosine to the question, best first."""
    return np.argsort(-cosines(index.chunk_vectors, vector), kind="stable")


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
