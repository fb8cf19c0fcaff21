"""A small corpus with the built-in models, questions about it, and a sweep over clustersize and tau."""

from pathlib import Path

from leanrag_core import IndexConfig, Workbench
from leanrag_core.types.sweep import Axis, SweepSpec, SweepSummary
from tests.evaluation.experiments import BEES, HIVES, QUESTIONS

CONFIG = IndexConfig(chunk_tokens=32, overlap_tokens=0)
AXES = (Axis("cluster_size", (2, 4)), Axis("tau", (1, 8)))


def bench_in(root: Path) -> tuple[Workbench, SweepSpec]:
    """Return the workbench, and the sweep."""
    bench = Workbench(root)
    corpus = bench.add_documents("Bees", [("bees.txt", BEES), ("hives.txt", HIVES)]).corpus_id
    questions = bench.question_sets.add("Bees", QUESTIONS)
    return bench, SweepSpec("Bees", AXES, questions, corpus=corpus, config=CONFIG)


def own_sweeps(bench: Workbench) -> tuple[SweepSummary, ...]:
    """Return the sweeps that do not come with the program; the others are not read."""
    store = bench.sweeps.store
    return tuple(store.summary(id_) for id_, _ in store.changes() if not store.is_shipped(id_))


def stored_files(bench: Workbench, sweep_id: str) -> dict[str, bytes]:
    """Return the files of the sweep that are the same whenever it is repeated, by path."""
    folder = bench.sweeps.store.folder(sweep_id)
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.name not in ("costs.jsonl", "report.json")
    }
