"""The recall that the table of indexes shows, from experiments that are looked into only where they are about it."""

from pathlib import Path

import pytest

from leanrag_core import Workbench
from leanrag_core.evaluation.gold import GoldQuestion
from leanrag_core.queries.index_table import MeasuredRecall
from leanrag_core.storage import record_store
from leanrag_core.storage.experiments import ROWS
from leanrag_core.types.experiment import ExperimentSpec, QuestionRow, RunSpec


@pytest.fixture
def bench(tmp_path: Path) -> Workbench:
    return Workbench.default(tmp_path / "home")


def store(bench: Workbench, id_: str, index: str, *recalls: float, questions: str = "set") -> None:
    """Store an experiment on that index, with these recalls of LeanRAG, and of another system at 0."""
    runs = (RunSpec("Tree “one”", index, "leanrag"), RunSpec("Flat", index, "vector"))
    bench.experiments.store.begin(id_, ExperimentSpec(id_, questions, runs), {}, ())
    with bench.experiments.store.writer(id_) as writer:
        for number, recall in enumerate(recalls):
            scores = {runs[0].key: recall, runs[1].key: 0.0}
            writer.add_rows(
                [QuestionRow(run, f"q{number}", "fact", {"evidence-recall": score}) for run, score in scores.items()],
                [],
            )


def test_of_several_experiments_the_one_with_the_most_questions_counts(bench: Workbench) -> None:
    store(bench, "few", "mine", 1.0)
    store(bench, "many", "mine", 0.5, 1.0)
    store(bench, "elsewhere", "other", 0.25)
    assert bench.experiments.measured_recall({"mine": "bees"}) == {
        "mine": MeasuredRecall(0.75, 2, "many", "Tree “one”")
    }
    assert bench.experiments.measured_recall({"mine": "bees", "other": "bees"}).keys() == {"mine", "other"}


def test_questions_about_another_corpus_measure_no_index(bench: Workbench) -> None:
    asked = [GoldQuestion("q", "What do bees make?", ("honey",))]
    about = {corpus: bench.question_sets.add(corpus, asked, corpus_id=corpus) for corpus in ("bees", "mills")}
    store(bench, "of-mills", "mine", 0.0, 0.0, questions=about["mills"])
    assert bench.experiments.measured_recall({"mine": "bees"}) == {}
    store(bench, "of-bees", "mine", 1.0, questions=about["bees"])
    assert bench.experiments.measured_recall({"mine": "bees"})["mine"].experiment == "of-bees"


def test_results_on_other_indexes_are_not_read(bench: Workbench, monkeypatch: pytest.MonkeyPatch) -> None:
    read = list[Path]()
    reader = record_store._content

    def noted(path: Path) -> bytes:
        read.append(path)
        return reader(path)

    monkeypatch.setattr(record_store, "_content", noted)
    store(bench, "elsewhere", "other", 0.25)
    bench.experiments.store.changes()
    assert bench.experiments.measured_recall({"mine": "bees"}) == {}
    assert [path for path in read if path.name == ROWS] == []


def test_a_damaged_experiment_hides_no_other(bench: Workbench) -> None:
    store(bench, "good", "mine", 0.5)
    store(bench, "bad", "mine", 1.0, 1.0)
    (bench.experiments.store.folder("bad") / ROWS).write_text('{"run": "Tree “one”"}\n', encoding="utf-8")
    assert bench.experiments.measured_recall({"mine": "bees"})["mine"].experiment == "good"
    (bench.experiments.store.folder("bad") / "spec.json").write_text("{")
    assert bench.experiments.measured_recall({"mine": "bees"})["mine"].experiment == "good"
    before = dict(bench.experiments.store.changes())
    bench.experiments.store.delete("bad")
    assert before.keys() - dict(bench.experiments.store.changes()).keys() == {"bad"}
