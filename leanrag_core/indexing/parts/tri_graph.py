"""LinearRAG's graph of entities, sentences and passages: who is named where, and nothing extracted by a model.

Source: LinearRAG (Zhuang et al. 2025), Tri-Graph. The entities are the index's own.
"""

from pathlib import Path

import numpy as np

from leanrag_core.indexing.part_base import Options, PartBase, PartTools
from leanrag_core.indexing.sentence_mentions import (
    occurrences_in,
    read_statements,
    sentences_by_chunk,
    sentences_with_entities,
    write_statements,
)
from leanrag_core.storage.tables import mapped_vectors, read_table, require_columns, require_range, write_table
from leanrag_core.types.forecast import Range
from leanrag_core.types.index import Index
from leanrag_core.types.manifest import CHUNKS, ENTITIES, VECTORS
from leanrag_core.types.rows import numbers
from leanrag_core.types.statements import TriGraph
from leanrag_core.types.walks import OCCURRENCE_SCHEMA

_NAMES, _OCCURRENCES = "names.npy", "occurrences.arrow"


Config = Options


class Part(PartBase):
    """Sentences that name an entity, with their vectors; vectors of the names; how often a chunk names each."""

    name = "tri_graph"
    needs: tuple[str, ...] = (ENTITIES, CHUNKS, VECTORS)
    seconds_an_entity = Range(0.0005, 0.003, 0.02)  # to embed its name
    seconds_a_chunk = Range(0.005, 0.03, 0.2)  # to embed its sentences

    def build(self, index: Index, folder: Path, config: Options, tools: PartTools) -> None:
        """Write the sentences, the occurrences, and the vectors of sentences and names."""
        chunks = list(sentences_by_chunk(index, tools.counting("chunks")))
        sentences, dimension = sentences_with_entities(chunks, least=1), int(index.layers[0].vectors.shape[1])
        write_table(folder / _OCCURRENCES, occurrences_in(chunks))
        names = tools.embed_all(index.layers[0].entities["name"].to_pylist(), dimension)
        np.save(folder / _NAMES, names, allow_pickle=False)
        write_statements(folder, sentences, tools.embed_all(sentences["text"].to_pylist(), dimension))

    def read(self, folder: Path, index: Index) -> TriGraph:
        """Return the graph. Raises IndexDamaged where a number leads outside, or a vector is missing."""
        from scipy.sparse import coo_array

        sentences, path = read_statements(folder, index), folder / _OCCURRENCES
        table = read_table(path)
        require_columns(table, OCCURRENCE_SCHEMA, path)
        entity, chunk, times = (numbers(table[name]) for name in OCCURRENCE_SCHEMA.names)
        for values, end, name in ((entity, sentences.size[0], "entity"), (chunk, sentences.size[1], "chunk")):
            require_range(values, end, path, name)
        names = mapped_vectors(folder / _NAMES, sentences.size[0], int(index.layers[0].vectors.shape[1]))
        occurrences = coo_array((times.astype(np.float32), (entity, chunk)), shape=sentences.size).tocsr()
        document = numbers(index.chunks["document"])
        return TriGraph(sentences, names, occurrences, np.flatnonzero(document[1:] == document[:-1]))
