"""What to set: clustersize and tau, N and C swept over sample corpora with reference graphs.

    python -m benchmarks.sweep_report --home DIR [--samples agriculture mix] [--ship]   # sweeps, results, report
    python -m benchmarks.sweep_report                                                   # the report from the results

DIR: a workbench's folder, in which a sweep that was stopped goes on. --ship: the sweeps take the place of those that
come with the program (sample_corpora/sweeps). Results go to results/sweeps.json, the report to docs/sweep_report.md.
"""

import argparse
import json
import shutil
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from benchmarks.sweep_text import QUALITY, TOKENS, report_text
from leanrag_core.evaluation.statistics import difference_interval, mean_interval
from leanrag_core.evaluation.sweeps.findings import findings
from leanrag_core.evaluation.tables import scores_for_mean
from leanrag_core.types.config import REFERENCE, IndexConfig
from leanrag_core.types.job import Progress
from leanrag_core.types.sweep import RETRIEVAL, Axis, SweepResult, SweepSpec
from leanrag_core.workbench import Workbench
from leanrag_core.workbench.samples import SAMPLES, sample_id

FOLDER = Path(__file__).parent
RESULTS, REPORT = FOLDER / "results" / "sweeps.json", FOLDER.parent / "docs" / "sweep_report.md"
HIERARCHY = (Axis("cluster_size", (5, 10, 20, 30, 50)), Axis("tau", (1, 2, 3, 5, 8)))
SEARCH = (Axis("top_n", (3, 5, 10, 15, 20), RETRIEVAL), Axis("top_c", (3, 5, 8, 10, 15), RETRIEVAL))
MEASURES = ("evidence-recall", "answer-in-context", "answer-entities", "recall-per-1000", "context-tokens",
            "tokens-entities", "tokens-aggregated", "tokens-relations", "tokens-chunks", "repeated-share")  # fmt: skip


def main(arguments: Sequence[str] | None = None) -> int:
    """Sweeps where a home is named; then the report is written."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.sweep_report", description=__doc__)
    parser.add_argument("--home", type=Path)
    parser.add_argument("--samples", nargs="+", default=["agriculture", "mix"])
    parser.add_argument("--ship", action="store_true")
    options = parser.parse_args(arguments)
    if options.home:
        bench = Workbench(options.home)
        swept = []
        corpora = []
        for sample in options.samples:
            hierarchy, search = (
                _swept(bench, sample, title, axes)
                for title, axes in (("clustersize x tau", HIERARCHY), ("N x C", SEARCH))
            )
            swept += [hierarchy, search]
            retrieval = _figures(bench, search, "top_n 10, top_c 5")
            corpora.append({**_figures(bench, hierarchy, "cluster_size 20, tau 3"), "retrieval": retrieval})
        text = json.dumps({"corpora": corpora}, indent=1, ensure_ascii=False)
        RESULTS.write_text(text + "\n", encoding="utf-8")
        if options.ship:
            _ship(bench, swept)
    REPORT.write_text(report_text(json.loads(RESULTS.read_text(encoding="utf-8"))), encoding="utf-8")
    return 0


def _swept(bench: Workbench, sample: str, title: str, axes: tuple[Axis, ...]) -> SweepResult:
    corpora = {corpus.id: corpus for corpus in bench.corpora.all()}
    corpus = corpora[sample_id(sample)]
    spec = SweepSpec(
        f"{corpus.name}: {title}",
        axes,
        corpus.id,
        corpus=corpus.id,
        config=IndexConfig(model=REFERENCE),
    )

    def said(progress: Progress) -> None:
        if progress.total and (progress.done == progress.total or progress.done % 100 == 0):
            print(sample, progress.stage, progress.done, progress.total, file=sys.stderr, flush=True)

    return bench.sweeps.run(spec, said)


def _figures(bench: Workbench, result: SweepResult, compared_with: str) -> Mapping[str, Any]:
    """What the report needs of a sweep. compared_with: the point whose differences are reported."""
    card = bench.corpora.summary(result.spec.corpus)
    default = result.at(compared_with)
    assert default is not None
    points = []
    for point in result.points:
        assert point.index is not None
        assert point.build is not None
        means, differences = {}, {}
        for measure in MEASURES:
            scores, base = (
                scores_for_mean(measure, lambda name, of=of: of.scores.get(name, ()))  # type: ignore[misc]
                for of in (point, default)
            )
            interval = mean_interval(scores, result.spec.seed) if scores else None
            if not base or interval is None:
                continue
            means[measure] = _rounded(interval)
            if measure == TOKENS:
                differences[measure] = _rounded(difference_interval(scores, base, result.spec.seed))
        points.append(
            {
                "name": point.point.name,
                "settings": dict(point.point.settings),
                "nodes": list(point.index.entities),
                "build_seconds": point.build.seconds,
                "means": means,
                "differences": differences,
            }
        )
    shown = {measure: asdict(findings(result, measure)) for measure in (*QUALITY, TOKENS)}
    return {
        "corpus": card.name,
        "documents": card.documents,
        "tokens": card.tokens,
        "questions": len(result.questions),
        "versions": dict(result.versions),
        "points": points,
        "findings": {measure: _short(table) for measure, table in shown.items()},
    }


def _short(table: Mapping[str, Any]) -> Mapping[str, Any]:
    """Of findings what the report needs: the best, how many cannot be told from it, what each axis does."""
    axes = [
        {
            "axis": axis["axis"],
            "values": [
                {
                    "setting": value["setting"],
                    "value": _rounded(value["value"]),
                    "cost": round(value["cost"], 1),
                    "p": round(value["p"], 4),
                    "is_close": value["is_close"],
                }
                for value in axis["values"]
            ],
        }
        for axis in table["axes"]
    ]
    close = [point["name"] for point in table["points"] if point["is_close"]]
    front = [point["name"] for point in table["points"] if point["is_front"]]
    return {"best": table["best"], "cheapest": table["cheapest"], "close": close, "front": front, "axes": axes}


def _rounded(interval: Any) -> Any:
    values = interval if isinstance(interval, dict) or interval is None else asdict(interval)
    return values and {
        name: round(value, 4) if isinstance(value, float) else value
        for name, value in values.items()
        if name != "level"
    }


def _ship(bench: Workbench, results: Sequence[SweepResult]) -> None:
    target = SAMPLES / "sweeps"
    shutil.rmtree(target, ignore_errors=True)
    for result in results:
        folder = bench.sweeps.store.folder(result.id)
        shutil.copytree(folder, target / result.id, ignore=shutil.ignore_patterns("indexes", ".*"))
        for path in (target / result.id).rglob("*"):
            path.chmod(0o755 if path.is_dir() else 0o644)


if __name__ == "__main__":
    sys.exit(main())
