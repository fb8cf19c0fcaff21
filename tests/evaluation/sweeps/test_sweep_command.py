"""The verb sweep: axes as they are written, forecast, a sweep of an index's retrieval, the list."""

import json
from pathlib import Path

import pytest

from leanrag_core.__main__ import main
from tests.evaluation.sweeps.small import bench_in

pytestmark = pytest.mark.slow


@pytest.fixture
def source(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[str, str, str]:
    """Return the ids of a corpus, of an index of it, and of a question set, in the default workbench."""
    monkeypatch.setenv("LEANRAG_HOME", str(tmp_path))
    bench, spec = bench_in(tmp_path)
    path = bench.build(spec.corpus, spec.config).path
    assert path is not None
    return spec.corpus, path.name, spec.question_set


def swept(capsys: pytest.CaptureFixture[str], *arguments: str) -> object:
    assert main(["sweep", *arguments, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def test_a_sweep_of_an_index_over_an_option_of_retrieval(
    source: tuple[str, str, str], capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    _, index, questions = source
    out = tmp_path / "result.json"
    common = [index, "--axis", "top_n=1,4", "--questions", questions]
    shown = swept(capsys, *common, "--set", "top_c=2", "--out", str(out))
    assert isinstance(shown, dict)
    assert [point["name"] for point in shown["points"]] == ["top_n 1", "top_n 4"]
    assert json.loads(out.read_text(encoding="utf-8"))["spec"]["options"] == {"top_c": 2}
    listed = swept(capsys, "--list")
    assert isinstance(listed, list)
    assert listed[0]["id"] == shown["id"]
    assert main(["sweep", *common]) == 0
    said = capsys.readouterr().out
    assert not any(line.endswith((" best", " best, front")) for line in said.splitlines()), "it says that none is best"
    assert "so none is best" in said or "the same score at each of" in said


def test_the_forecast_of_a_sweep_over_settings_of_the_index(
    source: tuple[str, str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    corpus, _, questions = source
    axes = ["--axis", "cluster-size=2..40", "--axis", "retrieval.chunk_tokens=500,9000"]
    drawn = ["--sampler", "latin-hypercube", "--points", "6", "--seed", "3"]
    forecast = swept(capsys, corpus, *axes, *drawn, "--questions", questions, "--forecast")
    assert isinstance(forecast, dict)
    assert (forecast["points"], len(forecast["builds"]), forecast["questions"]) == (6, 6, 18)
    assert main(["sweep", corpus, *axes, *drawn, "--questions", questions, "--forecast"]) == 0
    assert "keeps parse, chunk, extract, merge" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["nowhere", "--axis", "tau=1"], "neither a folder"),
        (["--axis", "tau=1"], "either a corpus"),
        (["{corpus}", "--axis", "tau"], "no axis"),
        (["{corpus}", "--axis", "tau=a..b"], "no axis"),
        (["{corpus}", "--axis", "magic=1"], "magic"),
    ],
)
def test_what_is_wrong_with_the_command_is_said(
    source: tuple[str, str, str], capsys: pytest.CaptureFixture[str], arguments: list[str], said: str
) -> None:
    corpus, _, questions = source
    assert main(["sweep", *(each.format(corpus=corpus) for each in arguments), "--questions", questions]) == 2
    assert said in capsys.readouterr().err
