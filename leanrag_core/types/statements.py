"""Texts that hold base entities: sentences of the corpus, or facts of several entities; and the graph of them."""

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from leanrag_core.types.rows import Lists, Rows, entries_of, incidence
from leanrag_core.types.walks import Transition, normalised

if TYPE_CHECKING:
    from scipy.sparse import csr_array

STATEMENT_SCHEMA = pa.schema(
    [("text", pa.string()), ("chunks", pa.list_(pa.int32())), ("entities", pa.list_(pa.int32()))]
)


@dataclass(frozen=True, eq=False)
class Statements(Rows):
    """table: of STATEMENT_SCHEMA, s rows: a text, the chunks that say it, the base entities in it, ascending.
    vectors: (s, d) float32 unit rows. size: entities and chunks of the index."""

    table: pa.Table
    vectors: np.ndarray
    size: tuple[int, int]

    @cached_property
    def entities(self) -> Lists:
        """The entities of each text."""
        return Lists(self.table["entities"])

    @cached_property
    def chunks(self) -> Lists:
        """The chunks of each text."""
        return Lists(self.table["chunks"])

    @cached_property
    def by_entity(self) -> "csr_array":
        """(n_entities, s) float32: 1 where the text holds the entity."""
        return incidence(self.entities.offsets, self.entities.values, self.size[0]).T.tocsr()

    def of_entity(self, row: int) -> np.ndarray:
        """Return the rows of the texts that hold that entity, (k,), ascending."""
        return np.sort(entries_of(self.by_entity, row))


@dataclass(frozen=True, eq=False)
class TriGraph:
    """Entities, sentences and passages of LinearRAG, without relations.

    sentences: those that hold an entity. names: (n_entities, d) float32 unit rows, of the entities' names alone.
    occurrences: (n_entities, n_chunks) float32, how many sentences of the chunk name the entity, 1 where it is there
    in other words. following: (k,) rows of the chunks after which another one of the same document comes.
    """

    sentences: Statements
    names: np.ndarray
    occurrences: "csr_array"
    following: np.ndarray

    @cached_property
    def transition(self) -> Transition:
        """Steps between the n_entities + n_chunks nodes, entities first: over mentions, each with its share of the
        chunk's occurrences, and over chunks that follow each other, each with 1."""
        from scipy.sparse import block_array, coo_array

        n_chunks = self.occurrences.shape[1]
        ends = (
            np.concatenate([self.following, self.following + 1]),
            np.concatenate([self.following + 1, self.following]),
        )
        beside = coo_array((np.ones(len(ends[0])), ends), shape=(n_chunks, n_chunks))
        share = normalised(self.occurrences)
        return Transition(normalised(block_array([[None, share], [share.T, beside]], format="csr")))
