"""Graphs of an index that other systems walk on: of nouns, of passages, of entities by their names."""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from leanrag_core.types.rows import numbers, place_of_each

if TYPE_CHECKING:
    from scipy.sparse import csr_array

PAIR_SCHEMA = pa.schema([("source", pa.int32()), ("target", pa.int32()), ("sentences", pa.int32())])  # source < target
OCCURRENCE_SCHEMA = pa.schema([("entity", pa.int32()), ("chunk", pa.int32()), ("sentences", pa.int32())])


@dataclass(frozen=True, eq=False)
class NounGraph:
    """pairs: of PAIR_SCHEMA, entities that share sentences, and how many. occurrences: of OCCURRENCE_SCHEMA, in how
    many sentences of a chunk an entity occurs, 1 where the chunk names it in other words. size: entities and chunks."""

    pairs: pa.Table
    occurrences: pa.Table
    size: tuple[int, int]

    @cached_property
    def adjacency(self) -> "csr_array":
        """(n_entities, n_entities) float32, symmetric: sentences that hold both."""
        from scipy.sparse import coo_array

        source, target, weight = (numbers(self.pairs[name]) for name in PAIR_SCHEMA.names)
        ends = np.concatenate([source, target]), np.concatenate([target, source])
        weights = np.concatenate([weight, weight]).astype(np.float32)
        return coo_array((weights, ends), shape=(self.size[0], self.size[0])).tocsr()

    @cached_property
    def counts(self) -> "csr_array":
        """(n_entities, n_chunks) float32: sentences of the chunk that hold the entity."""
        from scipy.sparse import coo_array

        entity, chunk, count = (numbers(self.occurrences[name]) for name in OCCURRENCE_SCHEMA.names)
        return coo_array((count.astype(np.float32), (entity, chunk)), shape=self.size).tocsr()

    @cached_property
    def by_chunk(self) -> "csr_array":
        """(n_chunks, n_entities) float32: the counts by chunk."""
        return self.counts.T.tocsr()


ARRAYS = ("data", "indices", "indptr")  # of a sparse matrix
_MOST_FILLED = 4  # cells of both steps in one, for each of one step, up to which a product with it takes less time


@dataclass(frozen=True, eq=False)
class PackedTransition:
    """A transition matrix in the order in which a processor multiplies by it fastest.

    matrix: (n, n) float32 or float64; its row and column place[i] are those of node i. place: (n,) int64.
    """

    matrix: "csr_array"
    place: np.ndarray


def alike_rows_together(matrix: "csr_array") -> PackedTransition:
    """Return the matrix, (n, n), with rows of equally many entries one after another, so that a processor foresees the
    end of a row. The entries of a row stay in their order, so that sums are the same to the last bit."""
    from scipy.sparse import csr_array

    order = np.argsort(np.diff(matrix.indptr), kind="stable")
    place = place_of_each(order, len(order))
    rows = matrix[order]
    columns = place[rows.indices].astype(rows.indices.dtype)
    return PackedTransition(csr_array((rows.data, columns, rows.indptr), shape=matrix.shape), place)


@dataclass(frozen=True, eq=False)
class WalkOperator:
    """Probabilities of a step.

    to_chunks: (n_chunks, n_entities) float64, from an entity (column) to each chunk that mentions it alike.
    to_entities: (n_entities, n_chunks), from a chunk to each of its entities alike.
    between_chunks: (n_chunks, n_chunks), both steps in one, of an operator that is kept for many questions.
    """

    to_chunks: "csr_array"
    to_entities: "csr_array"
    between_chunks: PackedTransition | None = None


def walk_operator(mentions: "csr_array") -> WalkOperator:
    """Return the walk operator of those mentions. mentions: (n_entities, n_chunks), see Index.entity_chunks."""
    return WalkOperator(_share_of_columns(mentions.T.tocsr()), _share_of_columns(mentions))


def with_both_steps(operator: WalkOperator) -> WalkOperator:
    """Return the operator with both steps in one, unless entities that are in many chunks would fill that matrix."""
    n_chunks_of = np.diff(operator.to_entities.indptr).astype(np.int64)
    if int((n_chunks_of**2).sum()) > _MOST_FILLED * operator.to_chunks.nnz:
        return operator
    both = (operator.to_chunks @ operator.to_entities).tocsr()
    return replace(operator, between_chunks=alike_rows_together(both))


def _share_of_columns(matrix: "csr_array") -> "csr_array":
    """Return the matrix (n, m) with the entries of each column replaced by one over their number."""
    from scipy.sparse import csr_array

    ends = np.bincount(matrix.indices, minlength=matrix.shape[1])
    return csr_array((1.0 / ends[matrix.indices], matrix.indices, matrix.indptr), shape=matrix.shape)


def normalised(weights: "csr_array") -> "csr_array":
    """Return the transition matrix of a graph: weights of the edges j -> i in [i, j], each column divided by its
    sum.

    weights: (n, n), not negative; entry [i, j] is the weight from j to i. Columns without an edge stay empty.
    """
    from scipy.sparse import diags_array

    sums = np.asarray(weights.sum(axis=0)).ravel()
    inverse = np.divide(1.0, sums, out=np.zeros(len(sums)), where=sums > 0)
    return (weights @ diags_array(inverse)).tocsr()


_ROWS_ALIKE = 512  # rows among which those with equally many edges stand together


@dataclass(frozen=True, eq=False)
class Transition:
    """Probabilities of a step on an undirected graph. matrix: (n, n) float64, see normalised(), symmetric weights."""

    matrix: "csr_array"

    def __len__(self) -> int:
        return int(self.matrix.shape[0])

    @cached_property
    def packed(self) -> PackedTransition:
        """The matrix for walks over a large graph, made once for all questions: neighbours lie near each other, so that
        they are read from the cache, and rows with equally many edges follow one another, so that the end of a row is
        foreseen. 100,000 nodes take a twentieth of a second, and a product with them a third of the time."""
        from scipy.sparse.csgraph import reverse_cuthill_mckee

        order = reverse_cuthill_mckee(self.matrix, symmetric_mode=True)
        n_edges = np.diff(self.matrix.indptr)[order]
        order = order[np.lexsort((n_edges, np.arange(len(order)) // _ROWS_ALIKE))]
        packed = self.matrix[order][:, order].tocsr()
        packed.sort_indices()
        return PackedTransition(packed.astype(np.float32), place_of_each(order, len(order)))


@dataclass(frozen=True, eq=False)
class EntityLinks:
    """links: (n, n) float32, symmetric, the cosine of each linked pair. statements: (n, n), symmetric, in how many
    chunks a relation between the two is stated; each counts as one triple. mentions: see Index.entity_chunks. The
    transition matrices are made once for all questions."""

    links: "csr_array"
    statements: "csr_array"
    mentions: "csr_array"

    @cached_property
    def over_entities(self) -> Transition:
        """(n, n) transition matrix over relations and links (HippoRAG 1)."""
        return Transition(normalised((self.statements + self.links).tocsr()))

    @cached_property
    def over_passages(self) -> Transition:
        """(n + m, n + m) transition matrix over relations, links, and mentions of entities in the m chunks, entities
        first (HippoRAG 2)."""
        from scipy.sparse import block_array

        blocks = [[self.statements + self.links, self.mentions], [self.mentions.T, None]]
        return Transition(normalised(block_array(blocks, format="csr")))

    @cached_property
    def over_passages_released(self) -> Transition:
        """over_passages as the release of HippoRAG 2 weighs it: it enters relations and links once in each direction
        into an undirected graph, so that they weigh twice, and a link takes the place of a relation."""
        from scipy.sparse import block_array

        linked = self.links.copy()
        linked.data = np.ones_like(linked.data)
        related = self.statements - self.statements * linked
        blocks = [[2 * (related + self.links), self.mentions], [self.mentions.T, None]]
        return Transition(normalised(block_array(blocks, format="csr")))
