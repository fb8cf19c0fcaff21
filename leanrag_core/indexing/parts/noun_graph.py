"""E2GraphRAG's graph: entities joined by the sentences that hold both, and how often each occurs in a chunk."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa

from leanrag_core.indexing.part_base import Options, PartBase, PartTools
from leanrag_core.indexing.sentence_mentions import occurrences_in, sentences_by_chunk
from leanrag_core.storage.tables import read_table, require_columns, require_range, write_table
from leanrag_core.types.forecast import Range
from leanrag_core.types.index import Index
from leanrag_core.types.manifest import CHUNKS, ENTITIES
from leanrag_core.types.rows import numbers
from leanrag_core.types.walks import OCCURRENCE_SCHEMA, PAIR_SCHEMA, NounGraph


def noun_graph(index: Index, report: Callable[[int, int], None]) -> NounGraph:
    """Return the graph of the index's own entities. report(done, total): called before each chunk is read."""
    from scipy.sparse import coo_array, triu

    n_entities, n_chunks = len(index.layers[0]), index.chunks.num_rows
    sentence_rows: list[int] = []
    entity_rows: list[int] = []
    n_sentences = 0
    chunks = list(sentences_by_chunk(index, report))
    for chunk in chunks:
        for entity, places in chunk.held.items():
            sentence_rows += [n_sentences + place for place in places]
            entity_rows += [entity] * len(places)
        n_sentences += len(chunk.sentences)
    unit_weights = np.ones(len(entity_rows), dtype=np.int32)
    holds = coo_array((unit_weights, (sentence_rows, entity_rows)), shape=(n_sentences, n_entities)).tocsr()
    together = triu(holds.T @ holds, k=1).tocoo()
    order = np.lexsort((together.col, together.row))
    pairs = (together.row[order], together.col[order], together.data[order])
    return NounGraph(
        pa.table(dict(zip(PAIR_SCHEMA.names, pairs, strict=True))).cast(PAIR_SCHEMA),
        occurrences_in(chunks),
        (n_entities, n_chunks),
    )


_PAIRS, _OCCURRENCES = "pairs.arrow", "occurrences.arrow"


Config = Options


class Part(PartBase):
    """The index's own entities are the nouns; nothing is extracted again."""

    name = "noun_graph"
    needs: tuple[str, ...] = (ENTITIES, CHUNKS)
    seconds = Range(0.01, 0.1, 0.5)
    seconds_a_chunk = Range(0.0001, 0.0005, 0.005)

    def build(self, index: Index, folder: Path, config: Options, tools: PartTools) -> None:
        """Write the pairs and the occurrences."""
        graph = noun_graph(index, tools.counting("chunks"))
        write_table(folder / _PAIRS, graph.pairs)
        write_table(folder / _OCCURRENCES, graph.occurrences)

    def read(self, folder: Path, index: Index) -> NounGraph:
        """Return the graph. Raises IndexDamaged where a number leads outside."""
        n_entities, n_chunks = len(index.layers[0]), index.chunks.num_rows
        pairs, occurrences = read_table(folder / _PAIRS), read_table(folder / _OCCURRENCES)
        require_columns(pairs, PAIR_SCHEMA, folder / _PAIRS)
        require_columns(occurrences, OCCURRENCE_SCHEMA, folder / _OCCURRENCES)
        for table, name, end in (
            (pairs, "source", n_entities),
            (pairs, "target", n_entities),
            (occurrences, "entity", n_entities),
            (occurrences, "chunk", n_chunks),
        ):
            require_range(numbers(table[name]), end, folder / (_PAIRS if table is pairs else _OCCURRENCES), name)
        return NounGraph(pairs, occurrences, (n_entities, n_chunks))
