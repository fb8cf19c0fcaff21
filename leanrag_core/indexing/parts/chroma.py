"""The search index by Chroma: the nearest entities of a large layer without looking at every vector.

Its record, search.json, is that of the search index of earlier formats.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from leanrag_core.errors import PartDamaged
from leanrag_core.indexing.part_base import Options, PartBase, PartTools
from leanrag_core.messages.message import message
from leanrag_core.storage.search_connection import SEARCH, SearchPlace, changed_file, recorded
from leanrag_core.storage.search_store import EXACT_UP_TO
from leanrag_core.storage.search_writer import write_safely
from leanrag_core.types.config import option
from leanrag_core.types.forecast import Range
from leanrag_core.types.index import Index
from leanrag_core.types.manifest import VECTORS, LayerSearch


@dataclass(frozen=True)
class Config(Options):
    """Options of the search index."""

    recall: int = option(
        99, low=50, high=100, help="Percent of the true ten nearest that a search must find; more takes longer."
    )


class Part(PartBase):
    """Vectors of every layer in Chroma's files, or on the Chroma server of the settings."""

    name = "chroma"
    help = message("part.chroma.help", n=EXACT_UP_TO)
    needs: tuple[str, ...] = (VECTORS,)
    seconds = Range(0.5, 1.5, 6.0)  # importing chromadb, and a process of its own
    seconds_a_vector = Range(0.0001, 0.00045, 0.002)  # 100,000 vectors of 384 dimensions took 45 s on two processors

    def build(self, index: Index, folder: Path, config: Config, tools: PartTools) -> None:
        """Write the search index; an earlier attempt is begun again, since Chroma cannot go on with it."""
        assert index.path is not None
        write_safely(
            SearchPlace(index.path, folder),
            index,
            tools.counting("vectors"),
            connect=tools.connect,
            recall=config.recall / 100,
        )

    def lasting_files(self, folder: Path) -> Iterable[str]:
        """Return the record and the graphs that Chroma has written completely; it changes its other files when
        opened.
        """
        return [SEARCH, *(recorded(folder).files or ())]

    def read(self, folder: Path, index: Index) -> tuple[LayerSearch, ...]:
        """Return how each layer is searched. The search index itself is opened by the SearchStore, once for all
        questions.

        Raises SearchIndexFailed, and PartDamaged where Chroma's database is not the one that was written.
        """
        record = recorded(folder)
        if changed := changed_file(folder, record):
            problem = message("damage.changed")
            raise PartDamaged("part.damaged", part=self.name, path=str(folder / changed), problem=problem)
        return record.layers
