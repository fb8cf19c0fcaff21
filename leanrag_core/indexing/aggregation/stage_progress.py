"""How far the stages of an aggregation are, over all layers."""

from collections.abc import Callable

from leanrag_core.clustering.options import n_components

StageReport = Callable[[str, int, int], None]


class StageProgress:
    """Counts each stage over all layers. A layer's share of a total is an estimate until the layer is there."""

    def __init__(
        self, report: StageReport, n: int, cluster_size: int, written: Callable[[str], None] = lambda text: None
    ) -> None:
        self._report, self._written = report, written
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
        """The stage has at least so much ahead of it, and has begun: its first step may wait long for a server."""
        self._total[stage] = max(self._total[stage], self._done[stage] + total)
        if total:
            self.advance(stage, 0)

    def advance(self, stage: str, steps: int, text: str = "") -> None:
        """So much more is done. text: what was written."""
        if text:
            self._written(text)
        self._done[stage] += steps
        self._report(stage, self._done[stage], max(self._total[stage], self._done[stage]))

    def finish(self) -> None:
        """Every stage is at its end, estimates being over."""
        for stage, done in self._done.items():
            self._report(stage, done, done)
