"""Judges in an experiment: with the scripted endpoint, stopped and resumed, repeated, listed."""

import json
import shutil
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from leanrag_core import Workbench
from leanrag_core.__main__ import main
from leanrag_core.errors import Cancelled, InvalidConfig
from leanrag_core.evaluation.audit.judges import audit
from leanrag_core.types.experiment import ABSOLUTE, GRADED, PAIRWISE, REJECT, ExperimentSpec, JudgeSpec
from leanrag_core.types.job import Progress
from tests.endpoint.scripted_model import ScriptedModel
from tests.endpoint.server import EndpointServer
from tests.evaluation.experiments import QUESTIONS, bench_in, built_index, own_experiments, small_spec, stored_files
from tests.evaluation.judging.scripted import score_reply, winner_reply

JUDGE = JudgeSpec("openai:judge", (ABSOLUTE, PAIRWISE), repeats=2)
N_ABSOLUTE, N_PAIRS = 2 * 3 * 2, 2 * 3 * 2  # runs or orders, questions, repeats


@pytest.fixture(scope="module")
def server() -> Iterator[EndpointServer]:
    always_first = ("You compare two answers", lambda prompt: winner_reply(1))
    always_eight = ("You score an answer", lambda prompt: score_reply(8))
    with EndpointServer(ScriptedModel(further=(always_first, always_eight))) as endpoint:
        yield endpoint


@pytest.fixture(scope="module")
def built(server: EndpointServer, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """Return a home in which nothing is judged yet, and the id of its index."""
    root = tmp_path_factory.mktemp("built")
    bench = bench_in(root, server, concurrency=3)
    index = built_index(bench)
    bench.calls.close()
    return root, index


@pytest.fixture
def bench(built: tuple[Path, str], server: EndpointServer, tmp_path: Path) -> Workbench:
    shutil.copytree(built[0], tmp_path, dirs_exist_ok=True)
    server.clear()
    return bench_in(tmp_path, server, concurrency=3)


@pytest.fixture
def spec(bench: Workbench, built: tuple[Path, str]) -> ExperimentSpec:
    spec = small_spec(built[1], bench.question_sets.add("Bees", QUESTIONS))
    return replace(spec, runs=spec.runs[:2], judges=(JUDGE,))


def test_judgements_are_resumed_without_asking_twice_and_have_the_same_bytes(
    bench: Workbench, spec: ExperimentSpec, server: EndpointServer
) -> None:
    def stop(progress: Progress) -> None:
        if progress.stage == "judge" and progress.done >= 5:
            raise Cancelled("job.cancel_requested")

    with pytest.raises(Cancelled):
        bench.experiments.run(spec, stop)
    (summary,) = own_experiments(bench)
    assert (summary.judgements, summary.is_complete) == (5, False)
    result = bench.experiments.run(spec)
    assert len(result.judgements) == N_ABSOLUTE + N_PAIRS
    assert [judgement.kind for judgement in result.judgements] == [ABSOLUTE] * N_ABSOLUTE + [PAIRWISE] * N_PAIRS
    # Each repeat is a call of its own with the same body.
    judged = Counter(call.key for call in server.answered() if call.kind.startswith("You "))
    assert set(judged.values()) == {JUDGE.repeats}
    before = stored_files(bench, result.id)
    assert bench.experiments.run(spec, again=True).judgements == result.judgements
    assert stored_files(bench, result.id) == before
    audited = audit(result.judgements)
    assert [fault.code for fault in audited.judges[0].faults] == ["audit.flips"]
    assert all(pair.swaps.flip_rate == 1 for pair in audited.pairs)


def test_a_judge_that_is_no_model_is_refused_before_anything_is_asked(
    bench: Workbench, spec: ExperimentSpec, server: EndpointServer
) -> None:
    server.clear()
    with pytest.raises(InvalidConfig, match="no language model"):
        bench.experiments.run(replace(spec, judges=(replace(JUDGE, model="builtin"),)))
    assert server.log == []


def test_one_command_judges_grades_and_audits(
    bench: Workbench,
    built: tuple[Path, str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("LEANRAG_HOME", str(tmp_path))
    set_id = bench.question_sets.add("Bees", QUESTIONS)
    command = ["experiment", "run", "--index", built[1], "--questions", set_id, "--strategies", "leanrag", "vector"]
    judged = ["--judge", JUDGE.model, "--repeats", "1", "--grade", "--mode", "reject", "--json"]
    assert main([*command, *judged]) == 0
    (done,) = json.loads(capsys.readouterr().out)
    result = bench.experiments.store.read(done["id"])
    assert result.spec.mode == REJECT
    assert {judgement.kind for judgement in result.judgements} == {ABSOLUTE, PAIRWISE, GRADED}
    assert main(["audit", result.id]) == 0
    audit = capsys.readouterr().out
    assert "This judge cannot tell LeanRAG from" in audit
    assert "mean score 8.00" in audit
    assert "This judge cannot tell LeanRAG from" in bench.experiments.exported(result.id, "html").decode()
