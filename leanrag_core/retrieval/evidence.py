"""Source chunks of the seeds (section B.3.1), and rank fusion with the vector ranking (outside the paper)."""

from collections.abc import Sequence

import numpy as np

from leanrag_core.types.index import Index
from leanrag_core.types.trace import RetrievedChunk, Seed

_RRF = 60  # constant of reciprocal rank fusion (Cormack, Clarke, Buettcher 2009)


def seeds_by_chunk(index: Index, seeds: Sequence[Seed]) -> dict[int, list[Seed]]:
    """For each chunk row that mentions a seed: those seeds, best first."""
    found: dict[int, list[Seed]] = {}
    for seed in sorted(seeds, key=lambda one: one.rank):
        for row in index.layers[seed.layer].entities["chunks"][seed.row].as_py():
            found.setdefault(row, []).append(seed)
    return found


def ranked_by_seeds(by_chunk: dict[int, list[Seed]]) -> list[int]:
    """Chunk rows: most seeds first, ties by the best seed's rank, then by position in the corpus."""
    return sorted(by_chunk, key=lambda row: (-len(by_chunk[row]), by_chunk[row][0].rank, row))


def ranked_by_vector(index: Index, vector: np.ndarray) -> list[int]:
    """All chunk rows by cosine to the question, best first."""
    scores = np.asarray(index.chunk_vectors) @ vector
    return [int(row) for row in np.argsort(-scores, kind="stable")]


def fused(rankings: Sequence[Sequence[int]]) -> list[int]:
    """One ranking by reciprocal rank fusion; ties by row."""
    score: dict[int, float] = {}
    for ranking in rankings:
        for place, row in enumerate(ranking, start=1):
            score[row] = score.get(row, 0.0) + 1.0 / (_RRF + place)
    return sorted(score, key=lambda row: (-score[row], row))


def retrieved_chunks(
    index: Index, rows: Sequence[int], by_chunk: dict[int, list[Seed]], scores: dict[int, float]
) -> tuple[RetrievedChunk, ...]:
    """The chunks with their text, place and the seeds in each."""
    found = []
    for row in rows:
        chunk = index.chunk(row)
        document_row = index.chunks["document"][row].as_py()
        seeds = by_chunk.get(row, [])
        pages = index.documents["pages"][document_row].as_py()
        page = next((n for n, span in enumerate(pages, start=1) if span["start"] <= chunk.start < span["end"]), None)
        found.append(
            RetrievedChunk(
                id=chunk.id,
                row=row,
                document=index.documents["name"][document_row].as_py(),
                document_row=document_row,
                title=index.documents["title"][document_row].as_py(),
                start=chunk.start,
                end=chunk.end,
                page=page,
                seed_count=len(seeds),
                seeds=tuple(seed.id for seed in seeds),
                best_rank=seeds[0].rank if seeds else 0,
                score=scores.get(row, float(len(seeds))),
                text=chunk.text,
                tokens=chunk.tokens,
            )
        )
    return tuple(found)
