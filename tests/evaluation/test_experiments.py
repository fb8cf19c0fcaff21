"""Experiments with the scripted endpoint: the same bytes twice, stopped and resumed, single failures, refusals."""

import json
import shutil
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from leanrag_core import Workbench
from leanrag_core.__main__ import main
from leanrag_core.errors import BudgetSpent, Cancelled, ExperimentNotFound, InvalidConfig, RecordDamaged
from leanrag_core.evaluation.tables import FROM_GRAPH
from leanrag_core.jobs import runner
from leanrag_core.storage.experiments import COSTS, ROWS, ExperimentStore
from leanrag_core.types.calls import Budget
from leanrag_core.types.experiment import ExperimentSpec, RunSpec
from leanrag_core.types.job import Progress
from leanrag_core.types.question_set import Generation
from tests.endpoint.server import EndpointServer
from tests.evaluation.experiments import QUESTIONS, bench_in, built_index, own_experiments, small_spec, stored_files

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def server() -> Iterator[EndpointServer]:
    with EndpointServer() as endpoint:
        yield endpoint


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory, server: EndpointServer) -> tuple[Path, str]:
    """Return a home with an index, and the index's id; tests copy it, since calls are kept in it."""
    root = tmp_path_factory.mktemp("home")
    return root, built_index(bench_in(root, server))


@pytest.fixture
def bench(home: tuple[Path, str], server: EndpointServer, tmp_path: Path) -> Workbench:
    shutil.copytree(home[0], tmp_path / "home")
    server.clear()
    return bench_in(tmp_path / "home", server)


@pytest.fixture
def spec(bench: Workbench, home: tuple[Path, str]) -> ExperimentSpec:
    return small_spec(home[1], bench.question_sets.add("Bees", QUESTIONS))


def paid(server: EndpointServer) -> Counter[str]:
    """Return how often each request was answered."""
    return Counter(call.key for call in server.answered())


def test_an_experiment_has_a_row_for_each_question_of_each_run_in_order(bench: Workbench, spec: ExperimentSpec) -> None:
    result = bench.experiments.run(spec)
    assert [(row.run, row.question) for row in result.rows] == [
        (run, question) for run in ("LeanRAG", "NaiveRAG", "HyDE") for question in ("q1", "q2", "q3")
    ]
    assert result.is_complete
    assert not any(row.error for row in result.rows)
    first = result.rows[0]
    assert (first.kind, first.scores["evidence-recall"]) == ("fact", 1.0)
    assert first.answer
    assert result.rows[2].scores["evidence-recall"] is None, "q3 has no gold"
    assert all(len(row.passages) == 2 for row in result.rows)
    assert [cost.calls for cost in result.costs] == [1, 1, 1, 1, 1, 1, 2, 2, 2]
    (summary,) = own_experiments(bench)
    assert (summary.id, summary.rows, summary.all, summary.errors) == (result.id, 9, 9, 0)


def test_it_records_all_settings_and_what_its_findings_rest_on(
    bench: Workbench, spec: ExperimentSpec, home: tuple[Path, str]
) -> None:
    result = bench.experiments.run(spec)
    naive = next(run for run in result.spec.runs if run.strategy == "vector")
    assert naive.options == {"top_c": 2, "least_cosine": 0.0, "max_tokens": 12_000}
    tokens = bench.corpora.summary(bench.indexes.open(home[1]).manifest.corpus.id).tokens
    assert result.versions[f"tokens {home[1]}"] == str(tokens), "tokens of a corpus are the same on all pages"
    assert FROM_GRAPH not in result.versions
    made = bench.question_sets.generate(bench.indexes.open(home[1]), Generation())
    generated = bench.experiments.run(replace(spec, question_set=made))
    assert generated.versions[FROM_GRAPH] == home[1]


def test_repeated_it_asks_nothing_and_with_more_workers_it_has_the_same_bytes(
    bench: Workbench, spec: ExperimentSpec, server: EndpointServer, home: tuple[Path, str], tmp_path: Path
) -> None:
    result = bench.experiments.run(spec)
    before = stored_files(bench, result.id)
    server.clear()
    assert bench.experiments.run(spec) == result
    assert bench.experiments.run(spec, again=True).rows == result.rows
    assert server.log == []
    assert stored_files(bench, result.id) == before
    shutil.copytree(home[0], tmp_path / "other")
    other = bench_in(tmp_path / "other", server, concurrency=4)
    other.question_sets.add("Bees", QUESTIONS)
    assert stored_files(other, other.experiments.run(spec).id) == before
    assert paid(server).most_common(1)[0][1] == 1


@pytest.mark.parametrize("n_done", [0, 4, *(pytest.param(n, marks=pytest.mark.slow) for n in (1, 2, 3, 5, 6, 7, 8))])
def test_stopped_anywhere_it_goes_on_without_asking_twice(
    bench: Workbench, spec: ExperimentSpec, server: EndpointServer, n_done: int
) -> None:
    def stop(progress: Progress) -> None:
        if progress.stage == "questions" and progress.done >= n_done:
            raise Cancelled("job.cancel_requested")

    with pytest.raises(Cancelled):
        bench.experiments.run(spec, stop)
    (summary,) = own_experiments(bench)
    assert (summary.rows, summary.is_complete) == (n_done, False)
    resumed = bench.experiments.run(spec)
    assert resumed.is_complete
    assert paid(server).most_common(1)[0][1] == 1
    files = stored_files(bench, resumed.id)
    bench.experiments.run(spec, again=True)
    assert stored_files(bench, resumed.id) == files


@pytest.mark.parametrize("cut", [1, 2500, *(pytest.param(n, marks=pytest.mark.slow) for n in (30, 700))])
def test_lines_that_a_kill_has_cut_are_done_again(
    bench: Workbench, spec: ExperimentSpec, server: EndpointServer, cut: int
) -> None:
    result = bench.experiments.run(spec)
    whole = stored_files(bench, result.id)
    folder = bench.experiments.store.folder(result.id)
    for name, length in ((ROWS, cut), (COSTS, 10)):
        content = (folder / name).read_bytes()
        (folder / name).write_bytes(content[:-length])
    record = json.loads((folder / "record.json").read_text())
    (folder / "record.json").write_text(json.dumps({**record, "is_complete": False}))
    server.clear()
    assert len(bench.experiments.store.read(result.id).rows) < 9
    again = bench.experiments.run(spec)
    assert stored_files(bench, result.id) == whole
    assert server.log == [], "every reply is in the call store"
    assert len(again.costs) >= 8


def test_a_question_that_fails_is_a_row_with_its_error_and_is_tried_again(
    bench: Workbench, spec: ExperimentSpec, server: EndpointServer
) -> None:
    server.refuses = {"Who patented the hive?": (400, "context_length_exceeded", "too long")}
    try:
        result = bench.experiments.run(spec)
    finally:
        server.refuses = {}
    assert [bool(row.error) for row in result.rows] == [False, True, False] * 3
    assert result.is_complete
    assert result.rows[1].scores == {}
    (summary,) = own_experiments(bench)
    assert summary.errors == 3
    mended = bench.experiments.run(spec)
    assert not any(row.error for row in mended.rows)
    assert [row.question for row in mended.rows] == ["q1", "q2", "q3"] * 3


def test_a_spent_budget_stops_it_and_a_larger_one_ends_it(bench: Workbench, spec: ExperimentSpec) -> None:
    with pytest.raises(BudgetSpent):
        bench.experiments.run(spec, models=bench.models.make(budget=Budget(calls=5)))
    (summary,) = own_experiments(bench)
    assert 0 < summary.rows < 9
    assert bench.experiments.run(spec, models=bench.models.make(budget=Budget(calls=50))).is_complete


def test_what_cannot_be_run_is_said_before_it_begins(bench: Workbench, spec: ExperimentSpec) -> None:
    run = spec.runs[0]
    for wrong, said in (
        (replace(spec, runs=()), "needs a run"),
        (replace(spec, runs=(run, run)), "a name of its own"),
        (replace(spec, baseline="X"), "no run is called 'X'"),
        (replace(spec, runs=(replace(run, strategy="magic"),)), "magic"),
        (replace(spec, runs=(replace(run, options={"magic": 1}),)), "magic"),
        (replace(spec, mode="wild"), "wild"),
    ):
        with pytest.raises(InvalidConfig, match=said):
            bench.experiments.run(replace(wrong, baseline=wrong.baseline if wrong.baseline == "X" else ""))
    assert own_experiments(bench) == ()
    with pytest.raises(ExperimentNotFound, match="no experiment"):
        bench.experiments.store.read("../../etc")


def test_missing_parts_are_named_and_made_by_the_run(bench: Workbench, spec: ExperimentSpec) -> None:
    wanted = replace(spec, runs=(RunSpec("BM25", spec.runs[0].index, "bm25"),), baseline="", answers=False)
    (missing,) = bench.experiments.missing_parts(wanted)
    with pytest.raises(InvalidConfig, match="an index part is missing: lexical"):
        bench.experiments.run(wanted, make_parts=False)
    seen: list[str] = []
    assert bench.experiments.run(wanted, lambda progress: seen.append(progress.stage)).is_complete
    assert missing.part == "lexical"
    assert list(dict.fromkeys(seen)) == ["open", "parts", "questions", "store"]
    assert bench.experiments.missing_parts(wanted) == ()


def test_other_questions_begin_another_experiment(bench: Workbench, spec: ExperimentSpec) -> None:
    first = bench.experiments.run(spec)
    second = bench.experiments.run(replace(spec, question_set=bench.question_sets.add("Bees", QUESTIONS[:2])))
    assert (first.id != second.id, len(second.rows)) == (True, 6)
    assert {each.id for each in own_experiments(bench)} == {first.id, second.id}
    assert len(bench.experiments.questions(first.id)) == 3
    bench.experiments.store.delete(first.id)
    assert [each.id for each in own_experiments(bench)] == [second.id]


def test_a_job_that_begins_again_forgets_once_and_resumes_what_it_has(
    bench: Workbench, spec: ExperimentSpec, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(runner, "launch", lambda folder, package_root: None)
    first = bench.experiments.run(spec)
    job = bench.experiments.start(spec, again=True)
    assert bench.experiments.store.read(first.id).rows == ()
    assert bench.run_job(bench.jobs.folder(job)) == 0
    again = bench.resume(job)
    assert bench.run_job(bench.jobs.folder(again)) == 0
    assert bench.experiments.store.read(first.id).rows == first.rows
    state = bench.jobs.job(again)
    assert (state.result, state.report.counts["rows"], state.kind.name) == (first.id, 9, "experiment")


def test_an_experiment_whose_job_waits_is_neither_deleted_nor_begun_twice(
    bench: Workbench, spec: ExperimentSpec, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The job would begin it anew: what was deleted came back."""
    monkeypatch.setattr(runner, "launch", lambda folder, package_root: None)
    first = bench.experiments.run(spec)
    job = bench.experiments.start(spec)
    for act in (
        lambda: bench.experiments.delete(first.id),
        lambda: bench.experiments.start(spec),
        lambda: bench.experiments.start(spec, again=True),
    ):
        with pytest.raises(InvalidConfig, match="another process is running the experiment"):
            act()
    assert bench.experiments.store.read(first.id).rows == first.rows
    assert len(bench.jobs.all()) == 1
    assert bench.run_job(bench.jobs.folder(job)) == 0
    bench.experiments.delete(first.id)
    assert not bench.experiments.store.is_there(first.id)


def test_an_experiment_of_the_program_stays_and_is_run_again_beside_it(
    bench: Workbench, spec: ExperimentSpec, tmp_path: Path
) -> None:
    first = bench.experiments.run(spec)
    shipped = tmp_path / "shipped"
    shutil.copytree(bench.experiments.store.folder(first.id), shipped / first.id)
    bench.experiments.store.delete(first.id)
    bench.experiments.store = ExperimentStore(bench.root / "experiments", shipped)
    assert bench.experiments.run(spec) == replace(first, is_shipped=True)
    with pytest.raises(InvalidConfig, match="comes with the program"):
        bench.experiments.store.delete(first.id)
    own = bench.experiments.run(spec, again=True)
    assert (own.rows, own.is_shipped) == (first.rows, False)
    bench.experiments.store.delete(first.id)
    assert bench.experiments.store.read(first.id).is_shipped


def test_a_damaged_experiment_hides_no_other_and_can_be_deleted(bench: Workbench, spec: ExperimentSpec) -> None:
    first = bench.experiments.run(spec)
    folder = bench.root / "experiments" / "broken"
    shutil.copytree(bench.experiments.store.folder(first.id), folder)
    lines = (folder / ROWS).read_text().splitlines(keepends=True)
    (folder / ROWS).write_text("".join([lines[0], "{}\n", *lines[1:]]))
    assert [each.id for each in bench.experiments.store.all() if not each.is_shipped] == [first.id]
    (damaged,) = bench.experiments.store.damaged()
    assert (damaged.id, "rows.jsonl:2" in damaged.reason.lower()) == ("broken", True)
    (folder / "spec.json").write_text("no json")
    with pytest.raises(RecordDamaged):
        bench.experiments.store.read("broken")
    bench.experiments.delete("broken")
    assert bench.experiments.store.damaged() == ()


def test_two_processes_do_not_run_the_same_experiment(bench: Workbench, spec: ExperimentSpec) -> None:
    first = bench.experiments.run(spec)
    with bench.experiments.store.writer(first.id):
        with pytest.raises(InvalidConfig, match="another process is running"):
            bench.experiments.store.delete(first.id)
        with pytest.raises(InvalidConfig, match="another process is running"):
            bench.experiments.run(spec, again=True)
    assert bench.experiments.run(spec, again=True).rows == first.rows


def test_runs_with_options_of_their_own_come_from_the_command_line(
    bench: Workbench, home: tuple[Path, str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("LEANRAG_HOME", str(bench.root))
    set_id = bench.question_sets.add("Bees", QUESTIONS)
    command = ["experiment", "run", "--index", home[1], "--questions", set_id, "--no-answers", "--json"]
    assert main([*command, "--run", "leanrag:top_n=1", "--run", "leanrag:top_n=4", "--run", "vector:top_c=2"]) == 0
    (done,) = json.loads(capsys.readouterr().out)
    assert [row["run"] for row in done["rows"]] == ["LeanRAG, N 1", "LeanRAG, N 4", "Naive RAG (vector)"]
    result = bench.experiments.store.read(done["id"])
    assert result.spec.title.startswith("LeanRAG, N 1; LeanRAG, N 4; Naive RAG (vector), ")
    assert [(run.key, run.options.get("top_n")) for run in result.spec.runs] == [
        ("leanrag", 1),
        ("leanrag-2", 4),
        ("vector", None),
    ]
    assert result.spec.baseline == "vector"
    assert main([*command, "--run", "leanrag:top_n"]) == 2
