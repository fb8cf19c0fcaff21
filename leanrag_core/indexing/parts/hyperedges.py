"""HyperGraphRAG's hyperedges: facts of several entities, each a statement of text and the entities that it ties.

Source: HyperGraphRAG (Luo et al. 2025), section 4.1. Here a sentence that names two entities or more is a fact.
"""

from pathlib import Path

from leanrag_core.indexing.part_base import SECONDS_OF_A_PART, NoOptions, PartBase, PartModels, PartTools, part_forecast
from leanrag_core.indexing.sentence_mentions import (
    read_statements,
    sentences_by_chunk,
    sentences_with_entities,
    write_statements,
)
from leanrag_core.types.forecast import Forecast, Range
from leanrag_core.types.index import Index
from leanrag_core.types.job import Progress
from leanrag_core.types.manifest import CHUNKS, ENTITIES, VECTORS
from leanrag_core.types.statements import Statements

_LEAST_ENTITIES = 2  # definition 3 of the paper: a hyperedge ties two entities or more
_SECONDS_A_CHUNK = Range(0.005, 0.03, 0.2)  # to embed its sentences


Config = NoOptions


class Part(PartBase):
    """Sentences that name several entities of the index, with their vectors; no language model is called."""

    name = "hyperedges"
    needs: tuple[str, ...] = (ENTITIES, CHUNKS, VECTORS)

    def forecast(self, index: Index, config: NoOptions, models: PartModels) -> Forecast:
        """Estimate the seconds by chunks, whose sentences are embedded; no language model is called."""
        return part_forecast(SECONDS_OF_A_PART + _SECONDS_A_CHUNK.scaled(index.chunks.num_rows))

    def build(self, index: Index, folder: Path, config: NoOptions, tools: PartTools) -> None:
        """Write the facts and their vectors."""
        chunks = sentences_by_chunk(index, lambda done, total: tools.report(Progress("make", done, total, "chunks")))
        facts = sentences_with_entities(list(chunks), least=_LEAST_ENTITIES)
        dimension = int(index.layers[0].vectors.shape[1])
        write_statements(folder, facts, tools.embed_all(facts["text"].to_pylist(), dimension))

    def read(self, folder: Path, index: Index) -> Statements:
        """Return the facts. Raises IndexDamaged where a number leads outside, or a vector is missing."""
        return read_statements(folder, index)
