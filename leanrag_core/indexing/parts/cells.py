"""The clustering as a search index: the nearest entities of a large layer without looking at every vector."""

from dataclasses import dataclass
from pathlib import Path

from leanrag_core.indexing.part_base import Options, PartBase, PartTools
from leanrag_core.messages.message import message
from leanrag_core.storage.cell_search import CELLS, CellSearch, write_cells
from leanrag_core.storage.search_store import EXACT_UP_TO
from leanrag_core.types.config import option
from leanrag_core.types.forecast import Range
from leanrag_core.types.index import Index
from leanrag_core.types.manifest import ENTITIES, VECTORS


@dataclass(frozen=True)
class Config(Options):
    """Options of the search index."""

    recall: int = option(99, low=50, high=100, help=message("part.cells.option.recall"))


class Part(PartBase):
    """Vectors of every layer in 1 and in 8 bits, in the order of the clusters that they are in."""

    name = CELLS
    version = 2
    help = message("part.cells.help", n=EXACT_UP_TO)
    needs: tuple[str, ...] = (ENTITIES, VECTORS)
    seconds = Range(0.01, 0.1, 1.0)
    seconds_a_vector = Range(2e-6, 6e-6, 3e-5)

    def offered(self, index: Index) -> bool:
        """Return whether a layer is too large to be searched exactly in a moment."""
        return any(len(layer) > EXACT_UP_TO for layer in index.layers)

    def build(self, index: Index, folder: Path, config: Config, tools: PartTools) -> None:
        """Write the cells and measure with how many of them a question has to be compared."""
        write_cells(folder, index.layers, tools.counting("vectors"), wanted_recall=config.recall / 100)

    def read(self, folder: Path, index: Index) -> CellSearch:
        """Return the search index; questions have it from the SearchStore, which opens it once. Raises PartDamaged."""
        return CellSearch(folder)
