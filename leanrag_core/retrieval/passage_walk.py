"""A random walk over entity-passage edges: where its mass comes to rest, and which entity carried it to which passage.

Outside the paper. After HippoRAG 2 (Gutierrez et al. 2025), without its relation and synonym edges.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from leanrag_core.errors import PartMissing
from leanrag_core.retrieval.anchoring import Seed
from leanrag_core.retrieval.tools import Tools
from leanrag_core.retrieval.vector_search import similarity
from leanrag_core.storage.layout import CHUNKS
from leanrag_core.types.index import Index
from leanrag_core.types.passage_walk import WalkOperator, walk_operator

PART = "passage_walk"
TOLERANCE = 1e-7  # change of the whole mass in a round, at which the walk rests
MAX_ROUNDS = 200
CARRIERS = 3  # entities that are shown of each passage


@dataclass(frozen=True, eq=False)
class Walk:
    """Where a walk came to rest. entity_mass: (n_entities,), chunk_mass: (n_chunks,); together they sum to 1.
    damping: see walk()."""

    operator: WalkOperator
    entity_mass: np.ndarray
    chunk_mass: np.ndarray
    damping: float

    def ranked(self, candidates: np.ndarray | None = None) -> np.ndarray:
        """Chunk rows by mass, the most first, ties by row: all of them, or those candidates (ascending)."""
        rows = np.arange(len(self.chunk_mass)) if candidates is None else candidates
        # Rounded, so that processors which add up in another order rank alike.
        return np.asarray(rows[np.argsort(-np.round(self.chunk_mass[rows], 12), kind="stable")])

    def carriers(self, chunk: int, n: int = CARRIERS) -> list[tuple[int, float]]:
        """The n entities that carry most mass to the chunk at each step of the walk at rest, and how much."""
        steps = self.operator.to_chunks
        start, end = steps.indptr[chunk : chunk + 2]
        entities = steps.indices[start:end]
        flow = self.damping * steps.data[start:end] * self.entity_mass[entities]
        best = np.lexsort((entities, -np.round(flow, 12)))[:n]
        return [(int(entities[place]), float(flow[place])) for place in best]


def operator_of(index: Index, tools: Tools) -> WalkOperator:
    """The walk's operator: the index part where it was made, else computed."""
    try:
        stored: WalkOperator = tools.part(PART)
    except PartMissing:
        return walk_operator(index.entity_chunks)
    return stored


def walk(
    index: Index,
    operator: WalkOperator,
    seeds: Sequence[Seed],
    vector: np.ndarray,
    *,
    passage_weight: float,
    damping: float,
) -> Walk:
    """The walk at rest: at each step it follows an edge with probability `damping`, else it starts again.

    It starts at the seeds (base entities), each with its cosine to the question over the number of chunks that mention
    it, and at all chunks, each with its cosine times passage_weight. Negative cosines count as 0; where nothing is
    left, it starts at all chunks alike. vector: (d,) of the question.
    """
    from_entities, from_chunks = np.zeros(len(index.layers[0])), np.zeros(index.chunks.num_rows)
    for seed in seeds:
        from_entities[seed.row] = max(seed.score, 0.0) / max(1, len(index.layers[0].chunks_of(seed.row)))
    from_chunks += passage_weight * np.maximum(similarity(index, CHUNKS, vector), 0.0)
    if not from_entities.sum() + from_chunks.sum():
        from_chunks += 1.0
    return _at_rest(operator, from_entities, from_chunks, damping)


def _at_rest(operator: WalkOperator, from_entities: np.ndarray, from_chunks: np.ndarray, damping: float) -> Walk:
    """The mass x of x = damping T x + (1 - damping) restart, scaled to sum 1.

    Every second step of the walk is at a chunk, so that the rounds go over chunks alone, two steps each: half as many
    rounds, and fewer chunks than entities. A walk that comes to a node without an edge restarts, which changes the
    solution by a factor alone (retrieval.pagerank gives the same).
    """
    started = from_chunks + damping * (operator.to_chunks @ from_entities)
    chunks = started
    for _ in range(MAX_ROUNDS):
        following = started + damping**2 * (operator.to_chunks @ (operator.to_entities @ chunks))
        change, chunks = np.abs(following - chunks).sum(), following
        if change < TOLERANCE * chunks.sum():
            break
    entities = from_entities + damping * (operator.to_entities @ chunks)
    total = entities.sum() + chunks.sum()
    return Walk(operator, entities / total, chunks / total, damping)
