"""The progress of a build, with what it has just found or written."""

from leanrag_core.indexing.extraction.base import Extractor
from leanrag_core.types.progress import Progress, Report

_UNITS = {
    "embed": "texts",
    "cluster": "layers",
    "aggregate entities": "clusters",
    "aggregate relations": "relations",
}


def extraction_progress(extractor: Extractor, done: int, total: int) -> Progress:
    """Chunks done, the names that were found last, and how much was found in all."""
    n_names, n_relations = len(extractor.names), extractor.n_relations
    return Progress("extract", done, total, "chunks", extractor.latest, found=n_names, relations=n_relations)


class HierarchyProgress:
    """Reports the progress of the hierarchy, with the text that was written last."""

    def __init__(self, report: Report) -> None:
        self._report, self._last = report, ""

    def written(self, text: str) -> None:
        """The text goes with the next report."""
        self._last = text

    def progress(self, stage: str, done: int, total: int) -> None:
        """So much of the stage is done."""
        self._report(Progress(stage, done, total, _UNITS.get(stage, ""), self._last))
        self._last = ""
