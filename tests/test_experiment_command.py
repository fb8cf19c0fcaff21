"""The verb experiment on a small index made with the scripted endpoint."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from leanrag_core.__main__ import main
from leanrag_core.evaluation.experiments import running
from leanrag_core.evaluation.paper_tables import LEANRAG, NO_CHUNKS, NO_RELATIONS, SYSTEMS, TABLES
from leanrag_core.evaluation.question_sets.reading import to_jsonl
from leanrag_core.evaluation.rival_tables import COST, RIVAL_TABLES, WINDOW
from leanrag_core.retrieval.base import StrategyList, strategies
from tests.endpoint.scripted_model import ScriptedModel
from tests.endpoint.server import EndpointServer
from tests.evaluation.experiments import QUESTIONS, bench_in, built_index
from tests.evaluation.judging.scripted import score_reply, winner_reply

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def server() -> Iterator[EndpointServer]:
    """Yield a server whose judge prefers the answer that is shown first, and gives every answer an 8."""
    judge = (("You compare two answers", lambda prompt: winner_reply(1)), ("You score", lambda prompt: score_reply(8)))
    with EndpointServer(ScriptedModel(further=judge)) as endpoint:
        yield endpoint


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory, server: EndpointServer) -> tuple[Path, str]:
    root = tmp_path_factory.mktemp("home")
    index = built_index(bench_in(root, server))
    (root / "questions.jsonl").write_bytes(to_jsonl(QUESTIONS))
    return root, index


def printed_json(capsys: pytest.CaptureFixture[str], *arguments: str) -> Any:
    assert main(["experiment", *arguments, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def test_experiments_are_run_listed_shown_compared_exported_and_repeated(
    home: tuple[Path, str], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    root, index = home
    monkeypatch.setenv("LEANRAG_HOME", str(root))
    questions, folder = str(root / "questions.jsonl"), str(root / "indexes" / index)
    (first,) = printed_json(
        capsys, "run", "--index", folder, "--questions", questions, "--strategies", "leanrag", "vector"
    )
    assert [row["run"] for row in first["rows"]] == [run["name"] for run in first["spec"]["runs"]]
    assert first["spec"]["runs"][0]["index"] == folder
    assert first["complete"]
    listed = printed_json(capsys, "list")
    (own,) = [each for each in listed["experiments"] if not each["is_shipped"]]
    assert (own["id"], own["rows"], listed["damaged"]) == (first["id"], 6, [])
    fact = printed_json(capsys, "show", first["id"], "--kind", "fact", "--measures", "evidence-recall")
    assert (fact["questions"], fact["measures"]) == (2, ["evidence-recall"])
    (other,) = printed_json(
        capsys, "run", "--index", index, "--questions", questions, "--strategies", "leanrag", "--equal", "300"
    )
    difference = printed_json(capsys, "compare", first["id"], other["id"], "--measure", "context-tokens")
    assert [run["before"] for run in difference["runs"]] == ["LeanRAG"]
    assert len(difference["only_before"]) == 1
    for format_name in ("csv", "json", "html"):
        out = root / f"out.{format_name}"
        exported = printed_json(capsys, "export", first["id"], "--format", format_name, "--out", str(out))
        assert exported["bytes"] == out.stat().st_size > 1000
    (again,) = printed_json(capsys, "run", str(root / "out.json"), "--again")
    assert {**again, "rows": ""} == {**first, "rows": ""}
    assert [row["cells"] for row in again["rows"]] == [row["cells"] for row in first["rows"]]


def test_a_command_that_says_too_little_is_refused(
    home: tuple[Path, str], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LEANRAG_HOME", str(home[0]))
    for arguments, wanted in (
        (["run"], "say what to run"),
        (["run", "--index", home[1]], "say over which questions"),
        (["run", "--index", home[1], "--samples"], "say what to run"),
        (["run", str(home[0] / "none.json")], "cannot read"),
    ):
        assert main(["experiment", *arguments]) == 2
        assert wanted in capsys.readouterr().err
    assert main(["experiment", "show", "nothing"]) == 1
    assert "experiment list" in capsys.readouterr().err


def test_evaluate_all_is_an_experiment_of_every_strategy(
    home: tuple[Path, str], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    root, index = home
    monkeypatch.setenv("LEANRAG_HOME", str(root))
    known = strategies()
    few = StrategyList((known.named("leanrag"), known.named("bm25")))
    monkeypatch.setattr(running, "strategies", lambda: few)
    assert main(["evaluate", str(root / "indexes" / index), str(root / "questions.jsonl"), "--all", "--json"]) == 0
    table = json.loads(capsys.readouterr().out)
    assert [row["run"] for row in table["rows"]] == ["LeanRAG", "BM25"]
    (kept,) = [each for each in printed_json(capsys, "list")["experiments"] if each["id"] == table["experiment"]]
    assert kept["is_complete"]


@pytest.mark.parametrize(
    "table", [pytest.param(name, marks=() if name == "relations" else pytest.mark.slow) for name in TABLES]
)
def test_each_table_of_the_paper_is_one_command(
    home: tuple[Path, str],
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    server: EndpointServer,
    table: str,
) -> None:
    monkeypatch.setenv("LEANRAG_HOME", str(home[0]))
    ask = ("run", "--index", home[1], "--questions", str(home[0] / "questions.jsonl"), "--table", table)
    (made,) = printed_json(capsys, *ask, "--judge", "openai:judge", "--repeats", "1")
    (paper,) = made["paper"]
    own = {(cell["criterion"], cell["system"]): cell["own"]["value"] for cell in paper["cells"] if cell["own"]}
    expected = {
        "scores": {("overall", name): 8.0 for name in SYSTEMS},
        "context": {("overall", LEANRAG): 8.0, ("overall", NO_CHUNKS): 8.0},
        "relations": {("overall", LEANRAG): 50.0, ("overall", NO_RELATIONS): 50.0},
        "win-rates": {("overall", name): 50.0 for name in SYSTEMS if name != LEANRAG},
        "tokens": {("ratio", LEANRAG): pytest.approx(own.get(("ratio", LEANRAG)))},
    }[table]
    assert expected.items() <= own.items()
    assert all(cell["published"] for cell in paper["cells"] if cell["criterion"] == "overall")
    server.clear()
    (again,) = printed_json(capsys, *ask, "--judge", "openai:judge", "--repeats", "1", "--again")
    # Prompts for keywords and plans are echoed; what cannot be used is not kept.
    assert (again["paper"], [call for call in server.log if call.kind != "echo"]) == (made["paper"], [])
    assert main(["experiment", "show", made["id"], "--table", table]) == 0
    assert "published: " in capsys.readouterr().out


@pytest.mark.parametrize(
    "table", [pytest.param(name, marks=() if name == WINDOW else pytest.mark.slow) for name in RIVAL_TABLES]
)
def test_each_table_of_other_papers_is_one_command(
    home: tuple[Path, str],
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    server: EndpointServer,
    table: str,
) -> None:
    monkeypatch.setenv("LEANRAG_HOME", str(home[0]))
    ask = ("run", "--index", home[1], "--questions", str(home[0] / "questions.jsonl"), "--table", table)
    (made,) = printed_json(capsys, *ask, "--judge", "openai:judge", "--repeats", "1")
    assert made["complete"]
    assert [row["errors"] for row in made["rows"]] == [0] * len(made["rows"])
    (paper,) = made["paper"]
    own = {(cell["criterion"], cell["system"]): cell["own"]["value"] for cell in paper["cells"] if cell["own"]}
    if table == COST:
        assert set(own) == {(what, run) for what in ("tokens", "calls") for run in ("LightRAG", "GraphRAG")}
    else:
        # The judge takes the answer that it is shown first, so that both orders are one win each.
        assert {value for (criterion, _), value in own.items() if criterion != "context-tokens"} == {50.0}
    assert [cell for cell in paper["cells"] if cell["published"]]
    server.clear()
    (again,) = printed_json(capsys, *ask, "--judge", "openai:judge", "--repeats", "1")
    assert (again["paper"], again["id"], list(server.log)) == (made["paper"], made["id"], [])
    assert main(["experiment", "show", made["id"], "--table", table]) == 0
    assert "published: " in capsys.readouterr().out


def test_an_unknown_table_is_refused_with_the_names_of_all(
    home: tuple[Path, str], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LEANRAG_HOME", str(home[0]))
    questions = str(home[0] / "questions.jsonl")
    assert main(["experiment", "run", "--index", home[1], "--questions", questions, "--table", "table 9"]) == 2
    said_why = capsys.readouterr().err
    assert all(name in said_why for name in (*TABLES, *RIVAL_TABLES))
