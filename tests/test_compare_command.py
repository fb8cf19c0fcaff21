"""The verb compare: the same facts as the page, for one question and over a set."""

import json
import re
import shutil
from pathlib import Path
from typing import Any

import pytest

from leanrag_core.__main__ import main
from leanrag_core.comparing.recorded import comparison_of
from leanrag_core.retrieval.strategies.vector import Strategy
from tests.workbench.test_workbench import BEES, HIVES

pytestmark = pytest.mark.slow

QUESTION = "What do beekeepers inspect?"


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("compare")
    (folder / "docs").mkdir()
    (folder / "docs" / "bees.md").write_bytes(BEES)
    (folder / "docs" / "hives.txt").write_bytes(HIVES)
    gold = [{"document": "hives.txt", "quote": quote_of(HIVES)}, {"document": "bees.md", "quote": quote_of(BEES)}]
    lines = [{"id": "1", "question": QUESTION, "evidence": gold}, {"id": "2", "question": "What is a hive?"}]
    (folder / "questions.jsonl").write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    assert main(["build", str(folder / "docs"), "--out", str(folder / "index"), "--cluster-size", "4"]) == 0
    return folder / "index"


def quote_of(document: bytes) -> str:
    """Return the last sentence of the document."""
    return document.decode().strip().split(". ")[-1]


def run(capsys: pytest.CaptureFixture[str], *arguments: object) -> dict[str, Any]:
    capsys.readouterr()
    assert main(["compare", *map(str, arguments), "--json"]) == 0
    result: dict[str, Any] = json.loads(capsys.readouterr().out)
    return result


def test_two_columns_share_what_both_retrieve(index: Path, capsys: pytest.CaptureFixture[str]) -> None:
    result = run(capsys, index, QUESTION, "--columns", "leanrag", "vector:top_c=1")
    assert list(result["columns"]) == ["A", "B"]
    assert result["columns"]["B"]["options"]["top_c"] == 1
    assert len(result["columns"]["B"]["passages"]) == 1
    [chunks] = [kind for kind in result["shared"] if kind["kind"] == "chunks"]
    assert chunks["sizes"]["B"] == 1
    names = [name for part in chunks["intersections"] for name in part["names"]]
    assert len(names) == chunks["in_all"] == len(set(names))
    assert all(column["answer"] for column in result["columns"].values())
    assert result["gold"] == []


def test_parts_that_columns_need_are_made_first_in_each_index(
    index: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    other = tmp_path / "other"
    shutil.copytree(index, other)
    result = run(capsys, index, QUESTION, "--columns", "bm25", f"lightrag@{other}", "--no-answer")
    assert [column["strategy"] for column in result["columns"].values()] == ["bm25", "lightrag"]
    assert [len(list(folder.glob("parts/*"))) for folder in (index, other)] == [1, 1]


def test_lost_gold_is_followed_and_what_finds_it_was_run(index: Path, capsys: pytest.CaptureFixture[str]) -> None:
    gold = index.parent / "questions.jsonl"
    arguments = (index, QUESTION, "--columns", "leanrag:top_n=1,top_c=1", "vector:top_c=1", "--gold", gold, "--try")
    result = run(capsys, *arguments, "--no-answer")
    assert [piece["document"] for piece in result["gold"]] == ["hives.txt", "bees.md"]
    of_vector = [piece["columns"]["B"] for piece in result["gold"]]
    assert sorted(column["found"] for column in of_vector) == [False, True], "one passage is taken, two are gold"
    lost = next(column for column in of_vector if not column["found"])
    assert lost["lost_at"] == "taken"
    assert lost["tried"]["found"]
    assert lost["tried"]["changes"]["top_c"] == [1, lost["place"]]
    assert main(["compare", *map(str, arguments)]) == 0
    said = capsys.readouterr().out
    assert "lost at taken: ranked" in said
    assert f"tried top_c 1 -> {lost['place']}" in said


def test_the_part_that_a_tried_setting_needs_is_made(
    index: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    wider = property(lambda strategy: ("lexical",) if strategy.config.top_c > 1 else ())
    monkeypatch.setattr(Strategy, "needed_parts", wider)
    shutil.rmtree(index / "parts", ignore_errors=True)
    columns = ("--columns", "leanrag:top_n=1,top_c=1", "vector:top_c=1", "--no-answer")
    gold = ("--gold", index.parent / "questions.jsonl")
    run(capsys, index, QUESTION, *columns, *gold)
    assert not (index / "parts").exists()
    run(capsys, index, QUESTION, *columns, *gold, "--try")
    assert [path.name for path in (index / "parts").iterdir()] == ["lexical"]


def test_over_a_set_each_column_has_losses_and_measures(index: Path, capsys: pytest.CaptureFixture[str]) -> None:
    result = run(
        capsys, index, "--questions", index.parent / "questions.jsonl", "--columns", "leanrag", "vector:top_c=1"
    )
    assert result["questions"] == 2
    for column in result["columns"].values():
        assert sum(column["losses"].values()) == column["gold"] == 2
        assert {measure["measure"] for measure in column["measures"]} >= {"context-tokens", "evidence-recall"}
    columns = ("--columns", "leanrag", "leanrag:top_n=1,top_c=1")
    assert main(["compare", str(index), "--questions", str(index.parent / "questions.jsonl"), *columns]) == 0
    shown = capsys.readouterr().out
    assert re.search(r"^A leanrag \(.*\): of 2 gold: found 2$", shown, re.MULTILINE)
    assert re.search(r"^B leanrag \(.*\): of 2 gold: found 1; lost at \w+ 1$", shown, re.MULTILINE)


def test_the_equal_budget_holds_for_every_column(index: Path, capsys: pytest.CaptureFixture[str]) -> None:
    result = run(capsys, index, QUESTION, "--equal", 200, "--no-answer")
    for column in result["columns"].values():
        assert column["tokens"]["total"] <= 200
        assert column["options"]["max_tokens"] == 200


def test_another_index_stands_in_a_column(index: Path, capsys: pytest.CaptureFixture[str]) -> None:
    result = run(capsys, index, QUESTION, "--columns", "vector", f"vector@{index}", "--no-answer")
    assert result["columns"]["A"]["passages"] == result["columns"]["B"]["passages"]


def test_a_saved_comparison_opens_in_the_app(index: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file, gold = tmp_path / "c.json", index.parent / "questions.jsonl"
    run(capsys, index, QUESTION, "--gold", gold, "--save", file)
    comparison = comparison_of(file.read_bytes(), name="c.json")
    assert [column.letter for column in comparison.columns] == ["A", "B"]
    assert len(comparison.gold) == len(comparison.columns[0].lanes) == 2


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["x"], "two to 4 columns, not 1"),
        (["no-such", "vector"], "no_such"),
        (["leanrag:top_n", "vector"], "top_n"),
        (["leanrag:nothing=1", "vector"], "nothing"),
        (["leanrag:preset=none", "vector"], "none"),
    ],
)
def test_wrong_columns_are_refused(
    index: Path, arguments: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["compare", str(index), QUESTION, "--columns", *arguments]) == 2
    assert said in capsys.readouterr().err


def test_a_question_or_a_set_is_needed(index: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["compare", str(index)]) == 2
    assert main(["compare", str(index), "x", "--gold", str(index.parent / "questions.jsonl")]) == 2
    assert "does not hold that question" in capsys.readouterr().err
