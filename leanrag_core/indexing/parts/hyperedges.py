"""HyperGraphRAG's hyperedges: facts of several entities, each a statement of text and the entities that it ties.

Source: HyperGraphRAG (Luo et al. 2025), section 4.1. Here a sentence that names two entities or more is a fact.
"""

from pathlib import Path

from leanrag_core.indexing.part_base import Options, PartBase, PartTools
from leanrag_core.indexing.sentence_mentions import (
    read_statements,
    sentences_by_chunk,
    sentences_with_entities,
    write_statements,
)
from leanrag_core.types.forecast import Range
from leanrag_core.types.index import Index
from leanrag_core.types.manifest import CHUNKS, ENTITIES, VECTORS
from leanrag_core.types.statements import Statements

_LEAST_ENTITIES = 2  # definition 3 of the paper: a hyperedge ties two entities or more


Config = Options


class Part(PartBase):
    """Sentences that name several entities of the index, with their vectors; no language model is called."""

    name = "hyperedges"
    needs: tuple[str, ...] = (ENTITIES, CHUNKS, VECTORS)
    seconds_a_chunk = Range(0.005, 0.03, 0.2)  # to embed its sentences

    def build(self, index: Index, folder: Path, config: Options, tools: PartTools) -> None:
        """Write the facts and their vectors."""
        chunks = sentences_by_chunk(index, tools.counting("chunks"))
        facts = sentences_with_entities(list(chunks), least=_LEAST_ENTITIES)
        dimension = int(index.layers[0].vectors.shape[1])
        write_statements(folder, facts, tools.embed_all(facts["text"].to_pylist(), dimension))

    def read(self, folder: Path, index: Index) -> Statements:
        """Return the facts. Raises IndexDamaged where a number leads outside, or a vector is missing."""
        return read_statements(folder, index)
