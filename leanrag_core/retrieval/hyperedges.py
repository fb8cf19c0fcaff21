"""A bipartite graph of entities and the facts that tie them: from a question to facts, and on to the other side.

Source: HyperGraphRAG (Luo et al. 2025), sections 4.2 and 4.3; the orders are those of its release (`operate.py`).
"""

from collections.abc import Sequence

import numpy as np

from leanrag_core.retrieval.tools import Tools
from leanrag_core.retrieval.vector_search import Ranked, nearest_rows
from leanrag_core.types.index import Index
from leanrag_core.types.statements import Statements


def facts_near(facts: Statements, vector: np.ndarray, k: int, *, at_least: float, tools: Tools) -> Ranked:
    """Return the k facts nearest to the vector, of those with that cosine or a higher one; of equally near ones those
    that more chunks state come first. vector: (d,) float32, unit length."""
    near = nearest_rows(facts.vectors, vector, k, at_least=at_least, tools=tools)
    # Rounded, so that the last bit does not decide before the chunks do.
    order = np.lexsort((near.rows, -_stated(facts, near.rows), -np.round(near.scores, 5)))
    return Ranked(near.rows[order], near.scores[order])


def facts_of_entities(facts: Statements, entities: Sequence[int]) -> np.ndarray:
    """Return the facts that tie one of these entities, (k,) rows: by the degrees of both in the bipartite graph, of the
    entity with most facts where a fact ties several; then by the chunks that state a fact, then by row.

    entities: rows. Source: equation of section 4.3.1, expansion from entities to hyperedges.
    """
    n_facts = np.diff(facts.by_entity.indptr)
    tied = facts.by_entity[_rows(entities)]
    degrees = np.repeat(n_facts[_rows(entities)], np.diff(tied.indptr))
    by_fact = np.lexsort((-degrees, tied.indices))
    rows, first = np.unique(tied.indices[by_fact], return_index=True)
    both = degrees[by_fact][first] + np.diff(facts.entities.offsets)[rows]
    return np.asarray(rows[np.lexsort((rows, -_stated(facts, rows), -both))], dtype=np.int64)


def entities_of_facts(facts: Statements, rows: Sequence[int]) -> list[int]:
    """Return rows of the entities that these facts tie, each once, in the facts' order."""
    return list(dict.fromkeys(facts.entities.joined(_rows(rows)).tolist()))


def chunks_of_facts(facts: Statements, rows: Sequence[int]) -> list[int]:
    """Return rows of the chunks that state these facts, each once, in the facts' order."""
    return list(dict.fromkeys(facts.chunks.joined(_rows(rows)).tolist()))


def chunks_of_entities(index: Index, facts: Statements, entities: Sequence[int]) -> list[int]:
    """Return rows of the chunks that mention these entities: by the first entity of a chunk, then by how many facts of
    these entities it states, one that ties two of them twice; then by row."""
    mentioned = index.entity_chunks[_rows(entities)]
    chunks, first = np.unique(mentioned.indices, return_index=True)
    place = np.searchsorted(mentioned.indptr, first, side="right")
    tied_facts = facts.by_entity[_rows(entities)].indices
    n_stated = np.bincount(facts.chunks.joined(tied_facts), minlength=index.chunks.num_rows)
    return [int(row) for row in chunks[np.lexsort((chunks, -n_stated[chunks], place))]]


def _stated(facts: Statements, rows: np.ndarray) -> np.ndarray:
    """Return how many chunks state each fact, (k,). rows: (k,)."""
    return np.asarray(np.diff(facts.chunks.offsets)[rows])


def _rows(values: Sequence[int] | np.ndarray) -> np.ndarray:
    """Return the row numbers as an array, (k,) int64."""
    return np.asarray(values, dtype=np.int64)
