"""A small index made with the scripted endpoint, questions about it, and experiments that are stopped on purpose."""

from pathlib import Path

from leanrag_core import IndexConfig, Workbench
from leanrag_core.evaluation.gold import Evidence, GoldQuestion
from leanrag_core.types.experiment import ExperimentSpec, ExperimentSummary, RunSpec
from leanrag_core.types.settings import Settings
from tests.endpoint.server import EndpointServer

BEES = b"""Varroa destructor is a mite that weakens honey bee colonies. Beekeepers treat Varroa destructor
with oxalic acid in winter. Honey bees pollinate oilseed rape.

White clover feeds honey bees in summer. White clover fixes nitrogen for the pasture."""
HIVES = b"""Langstroth hives hold movable frames. Lorenzo Langstroth patented the hive in 1852. Beekeepers inspect the
movable frames for Varroa destructor."""
CONFIG = IndexConfig(model="openai:m", embedding="openai:e", cluster_size=3, chunk_tokens=32, overlap_tokens=0)
_VARROA, _YEAR = Evidence("bees.txt", "weakens honey bee"), Evidence("hives.txt", "in 1852")
QUESTIONS = (
    GoldQuestion("q1", "What weakens colonies?", ("Varroa destructor",), (_VARROA,), "fact"),
    GoldQuestion("q2", "Who patented the hive?", ("Lorenzo Langstroth",), (_YEAR,), "fact"),
    GoldQuestion("q3", "How are clover and hives alike?", (), (), "comparison"),
)


def bench_in(root: Path, server: EndpointServer, *, concurrency: int = 1) -> Workbench:
    bench = Workbench(root)
    bench.settings.save(Settings(base_url=server.url, timeout_seconds=5, concurrency=concurrency, retries=0))
    return bench


def built_index(bench: Workbench) -> str:
    """Build the index of two short documents; return its id."""
    corpus = bench.add_documents("Bees", [("bees.txt", BEES), ("hives.txt", HIVES)]).corpus_id
    path = bench.build(corpus, CONFIG).path
    assert path is not None
    return path.name


def small_spec(index: str, question_set: str) -> ExperimentSpec:
    """Return an experiment of LeanRAG and two others, HyDE asking the model before it searches."""
    runs = (
        RunSpec("LeanRAG", index, "leanrag", {"top_n": 4, "top_c": 2}),
        RunSpec("NaiveRAG", index, "vector", {"top_c": 2, "least_cosine": 0.0}),
        RunSpec("HyDE", index, "hyde", {"top_c": 2, "n_passages": 1}),
    )
    return ExperimentSpec("Bees and hives", question_set, runs, baseline="NaiveRAG")


def stored_files(bench: Workbench, experiment_id: str) -> dict[str, bytes]:
    """Return the files of the experiment that are the same whenever it is repeated, by name."""
    folder = bench.experiments.store.folder(experiment_id)
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.name != "costs.jsonl"}


def own_experiments(bench: Workbench) -> tuple[ExperimentSummary, ...]:
    """Return the experiments but for those that come with the program, which are not read."""
    store = bench.experiments.store
    return tuple(store.summary(id_) for id_, _ in store.changes() if not store.is_shipped(id_))
