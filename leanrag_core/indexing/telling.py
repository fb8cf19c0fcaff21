"""What a build says of itself while it goes on."""

from leanrag_core.indexing.extraction.base import Extractor
from leanrag_core.types.progress import Progress, Report

_UNITS = {
    "embed": "texts",
    "cluster": "layers",
    "aggregate entities": "clusters",
    "aggregate relations": "relations",
}


def read_so_far(extractor: Extractor, done: int, total: int) -> Progress:
    """Chunks done, what was found last, and how much in all."""
    found, relations = len(extractor.names), extractor.n_relations
    return Progress("extract", done, total, "chunks", extractor.latest, found=found, relations=relations)


class HierarchyTelling:
    """Tells the progress of the hierarchy, with what was written last."""

    def __init__(self, report: Report) -> None:
        self._report, self._last = report, ""

    def written(self, text: str) -> None:
        """The text goes with the next progress."""
        self._last = text

    def progress(self, stage: str, done: int, total: int) -> None:
        """So much of the stage is done."""
        self._report(Progress(stage, done, total, _UNITS.get(stage, ""), self._last))
        self._last = ""
