"""Runs of an experiment: variants of one strategy are told apart by an id, and called by what differs."""

from dataclasses import replace

import pytest

from leanrag_core.errors import InvalidConfig
from leanrag_core.evaluation.experiments.comparison import compare_experiments
from leanrag_core.evaluation.experiments.report import as_csv, as_html
from leanrag_core.evaluation.experiments.running import require_valid, with_all_settings
from leanrag_core.evaluation.gold import GoldQuestion
from leanrag_core.evaluation.run_titles import run_titles, with_ids
from leanrag_core.evaluation.tables import score_table
from leanrag_core.files.records import from_values, plain
from leanrag_core.messages.catalog import sentence
from leanrag_core.types.experiment import ExperimentResult, ExperimentSpec, QuestionRow, RunSpec

QUESTION = GoldQuestion("q1", "Why?", (), (), "fact")


def run(strategy: str = "leanrag", index: str = "bees", name: str = "", **options: int) -> RunSpec:
    return RunSpec(name, index, strategy, options)


def titles(*runs: RunSpec, **index_titles: str) -> list[str]:
    return [sentence(title) for title in run_titles(with_ids(runs), index_titles).values()]


def result(*runs: RunSpec) -> ExperimentResult:
    spec = with_all_settings(ExperimentSpec("Two variants", "set", runs))
    rows = [QuestionRow(each.key, "q1", "fact", {"evidence-recall": place / 4}) for place, each in enumerate(spec.runs)]
    return ExperimentResult("id", spec, tuple(rows))


def test_variants_are_called_by_what_differs_and_others_by_their_strategy() -> None:
    assert titles(run(top_n=20), run(top_n=5), run("vector")) == ["LeanRAG, N 20", "LeanRAG, N 5", "Naive RAG (vector)"]
    assert titles(run(top_n=20), run("vector")) == ["LeanRAG", "Naive RAG (vector)"], "nothing to tell it from"
    assert titles(run(), run(top_n=10), run(name="Mine"))[:2] == ["LeanRAG", "LeanRAG (2)"], "10 is what it has anyway"
    assert titles(run(), run(index="/far/hives"), bees="Bees") == ["LeanRAG, Bees", "LeanRAG, hives"]
    assert titles(run(name="LeanRAG"), run()) == ["LeanRAG", "LeanRAG (2)"], "no two have one title"
    assert titles(run("gone", zeal=1), run("gone", zeal=2)) == ["gone, Zeal 1", "gone, Zeal 2"]


def test_ids_are_of_the_strategy_and_a_run_that_has_a_name_keeps_it_as_its_key() -> None:
    runs = with_ids((run(), run(), run("vector"), run(name="leanrag-3"), run()))
    assert [each.key for each in runs] == ["leanrag", "leanrag-2", "vector", "leanrag-3", "leanrag-4"]
    with pytest.raises(InvalidConfig, match="leanrag"):
        require_valid(ExperimentSpec("Twice", "set", (runs[0], runs[0])), (QUESTION,))


def test_a_name_that_is_its_strategys_title_is_read_in_any_language() -> None:
    own, title = run_titles([run("vector", name="Mine"), run("vector", name="Naive RAG (vector)")]).values()
    assert [sentence(own, "zh"), sentence(title, "zh")] == ["Mine", "朴素 RAG（向量）"]
    assert sentence(title) == "Naive RAG (vector)"


def test_a_stored_run_of_before_reads_and_is_written_as_it_was() -> None:
    stored = {"name": "LeanRAG", "index": "bees", "strategy": "leanrag", "options": {"top_n": 5}}
    read = from_values(RunSpec, stored, name="spec.json", closed=True)
    assert read.key == "LeanRAG"
    assert plain(read) == stored


def test_tables_and_files_call_the_variants_by_their_titles() -> None:
    made = result(run(top_n=20), run(top_n=5))
    assert [row.run.key for row in score_table(made).rows] == ["leanrag", "leanrag-2"]
    page = as_html(made, (QUESTION,)).decode()
    assert page.count("LeanRAG, N 20") == 2, "in the table and at the question"
    assert [line.split('"')[1] for line in as_csv(made, (QUESTION,)).decode("utf-8-sig").splitlines()[1:]] == [
        "LeanRAG, N 20",
        "LeanRAG, N 5",
    ]


def test_the_same_variant_is_compared_with_itself_whatever_it_is_called_in_the_other_experiment() -> None:
    before, after = result(run(), run("vector")), result(run(top_n=20), run(top_n=10), run("vector"))
    difference = compare_experiments(before, replace(after, id="later"))
    assert [(each.before, each.after) for each in difference.runs] == [
        ("LeanRAG", "LeanRAG, N 10"),
        ("Naive RAG (vector)", "Naive RAG (vector)"),
    ]
    assert (difference.only_before, difference.only_after) == ((), ("LeanRAG, N 20",))
