"""E2GraphRAG's graph: entities joined by the sentences that hold both, and how often each occurs in a chunk."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from leanrag_core.indexing.part_base import PartModels, PartTools, every_file, fingerprint_of
from leanrag_core.indexing.trees.nouns import noun_graph
from leanrag_core.messages.message import message
from leanrag_core.storage.tables import read_table, require_columns, require_range, write_table
from leanrag_core.types.forecast import Forecast, Range
from leanrag_core.types.index import Index
from leanrag_core.types.job import Progress
from leanrag_core.types.manifest import CHUNKS, ENTITIES
from leanrag_core.types.rows import numbers
from leanrag_core.types.walks import OCCURRENCE_SCHEMA, PAIR_SCHEMA, NounGraph

_VERSION = 1
_SECONDS_A_CHUNK = Range(0.0001, 0.0005, 0.005)
_PAIRS, _OCCURRENCES = "pairs.arrow", "occurrences.arrow"


@dataclass(frozen=True)
class Config:
    """There is nothing to set."""


class Part:
    """The index's own entities are the nouns; nothing is extracted again."""

    name = "noun_graph"
    title = message("part.noun_graph.title")
    help = message("part.noun_graph.help")
    needs: tuple[str, ...] = (ENTITIES, CHUNKS)

    def offered(self, index: Index) -> bool:
        """Return False: the part is made when a person, or a strategy, asks for it."""
        return False

    def fingerprint(self, index: Index, config: Config, models: PartModels) -> str:
        """Return a hash of the entities and the chunks."""
        return fingerprint_of(self, _VERSION, index, config, models)

    def forecast(self, index: Index, config: Config, models: PartModels) -> Forecast:
        """Estimate calls and seconds by the number of chunks; no model is called."""
        seconds = _SECONDS_A_CHUNK.scaled(index.chunks.num_rows) + Range(0.01, 0.1, 0.5)
        return Forecast(chunks=0, sampled=0, entities=Range(), stages=(), seconds=seconds)

    def build(self, index: Index, folder: Path, config: Config, tools: PartTools) -> None:
        """Write the pairs and the occurrences."""
        graph = noun_graph(index, lambda done, total: tools.report(Progress("make", done, total, "chunks")))
        write_table(folder / _PAIRS, graph.pairs)
        write_table(folder / _OCCURRENCES, graph.occurrences)

    def lasting_files(self, folder: Path) -> Iterable[str]:
        """Return every file: nothing changes them."""
        return every_file(folder)

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
