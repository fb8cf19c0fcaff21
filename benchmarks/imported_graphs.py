"""Graphs of other systems: what an import makes of them, whether it holds, and whether every strategy answers on it.

    python -m benchmarks.imported_graphs PATH ... [--without STRATEGY ...] [--out FILE]

PATH: a folder of another program's files. Each graph is imported, checked, given the parts that strategies need, and
asked about the two best connected of its entities with every strategy. The exit code is 1 when a promise of an index is
broken or a strategy fails. An empty context is told: systems with a threshold may find nothing near enough.
"""

import argparse
import json
import statistics
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from benchmarks.frame import circumstances
from benchmarks.system_table import make_parts
from leanrag_core.checking.check import check_index
from leanrag_core.retrieval.base import strategies
from leanrag_core.types.index import Index
from leanrag_core.workbench import Workbench

_NO_CONTEXT = "zero_shot"  # asks the model alone
_QUESTIONS = ("What is known about {0} and {1}?", "Who or what is {0}?")


@dataclass(frozen=True)
class ImportedFigures:
    """What became of a graph. broken: promises that do not hold. empty, failed: strategies by name. p50_ms: median of
    the strategies' medians."""

    documents: int
    chunks: int
    entity_rows: int
    entities: int
    relation_rows: int
    relations: int
    dangling: int
    duplicate_relations: int
    self_loops: int
    communities: int
    layers: tuple[int, ...]
    seconds: float
    broken: tuple[str, ...]
    strategies: int
    not_asked: tuple[str, ...]
    empty: tuple[str, ...]
    failed: tuple[str, ...]
    p50_ms: float


def main() -> int:
    """Print a line for each graph; with --out add it to the results. Return 1 when a check or a strategy failed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("paths", type=Path, nargs="+")
    parser.add_argument("--without", nargs="*", default=[], help="strategies that are not asked")
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    bench, wrong = Workbench.default(), False
    for path in options.paths:
        name = path.parent.name if path.name == "leanrag" else path.name
        figures = measured(bench, path, options.without)
        print(f"{name}: {json.dumps(asdict(figures))}", flush=True)
        wrong |= bool(figures.broken or figures.failed)
        if options.out:
            results = json.loads(options.out.read_text(encoding="utf-8")) if options.out.is_file() else {}
            command = ["python", "-m", "benchmarks.imported_graphs", name]
            command += ["--without", *options.without] if options.without else []
            results[name] = asdict(figures) | {"about": circumstances(command)}
            options.out.write_text(json.dumps(results, indent=1, sort_keys=True) + "\n", encoding="utf-8")
    return int(wrong)


def measured(bench: Workbench, path: Path, without: Sequence[str]) -> ImportedFigures:
    """Import the graph at that path, and return its figures."""
    preview = bench.imports.preview(path)
    started = time.perf_counter()
    index = bench.import_graph(path)
    seconds = time.perf_counter() - started
    broken = tuple(result.name for result in check_index(index) if not result.ok)
    names = index.layers[0].entities["name"].to_pylist()
    degrees = np.bincount(index.layers[0].ends.ravel(), minlength=len(names))
    best = [names[row] for row in np.argsort(-degrees, kind="stable")[:2]]
    questions = [form.format(*best, *best) for form in _QUESTIONS]
    empty, failed, medians = list[str](), list[str](), list[float]()
    systems = [info for info in strategies().strategies if info.name not in (_NO_CONTEXT, *without)]
    for info in systems:
        try:
            make_parts(bench, index, info.parts)
            times, texts = _asked(bench, index, info.name, questions)
        except Exception as error:  # any failure is a figure of this benchmark
            failed.append(f"{info.name}: {error}")
            continue
        medians.append(statistics.median(times))
        if not all(texts):
            empty.append(info.name)
    counts = preview.counts
    return ImportedFigures(
        documents=preview.documents,
        chunks=preview.chunks,
        entity_rows=counts.entity_rows,
        entities=preview.entities,
        relation_rows=counts.relation_rows,
        relations=preview.relations,
        dangling=counts.dangling,
        duplicate_relations=counts.duplicate_relations,
        self_loops=counts.self_loops,
        communities=preview.communities,
        layers=tuple(len(layer) for layer in index.layers),
        seconds=round(seconds, 1),
        broken=broken,
        strategies=len(systems),
        not_asked=tuple(without),
        empty=tuple(empty),
        failed=tuple(failed),
        p50_ms=round(statistics.median(medians), 1) if medians else 0.0,
    )


def _asked(bench: Workbench, index: Index, strategy: str, questions: list[str]) -> tuple[list[float], list[str]]:
    """Return milliseconds and contexts of the questions; ask the first once before, which loads models and parts."""
    bench.retrieve(index, questions[0], strategy)
    times, texts = [], []
    for question in questions:
        started = time.perf_counter()
        texts.append(bench.retrieve(index, question, strategy).context.text)
        times.append(1000 * (time.perf_counter() - started))
    return times, texts


if __name__ == "__main__":
    sys.exit(main())
