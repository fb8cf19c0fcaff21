"""How far the stages of an aggregation are, over all layers, with the text that was written last."""

from leanrag_core.clustering.options import n_components
from leanrag_core.types.job import Progress, Report

_UNITS = {
    "embed": "texts",
    "cluster": "layers",
    "aggregate entities": "clusters",
    "aggregate relations": "relations",
}


class StageProgress:
    """Counts each stage over all layers. A layer's share of a total is an estimate until the layer is there."""

    def __init__(self, report: Report, n: int, cluster_size: int) -> None:
        self._report = report
        sizes = [n]
        while sizes[-1] > 1:
            sizes.append(n_components(sizes[-1], cluster_size))
        above = sum(sizes[1:])
        self._done = {"embed": 0, "cluster": 0, "aggregate entities": 0, "aggregate relations": 0}
        self._total = {
            "embed": sum(sizes),
            "cluster": len(sizes) - 1,
            "aggregate entities": above,
            "aggregate relations": 0,
        }

    def expect(self, stage: str, total: int) -> None:
        """Announce that the stage has begun and has at least so much ahead: its first step may wait long for a
        server.
        """
        self._total[stage] = max(self._total[stage], self._done[stage] + total)
        if total:
            self.advance(stage, 0)

    def advance(self, stage: str, steps: int, text: str = "") -> None:
        """Report that so much more is done. text: what was written."""
        self._done[stage] += steps
        total = max(self._total[stage], self._done[stage])
        self._report(Progress(stage, self._done[stage], total, _UNITS[stage], text))

    def finish(self) -> None:
        """Report every stage as finished, with what was done as its total."""
        for stage, done in self._done.items():
            self._report(Progress(stage, done, done, _UNITS[stage]))
