"""The verb history, and follow-ups with ask --after."""

import json
from pathlib import Path

import pytest

from leanrag_core import IndexConfig, Workbench
from leanrag_core.__main__ import main
from leanrag_core.types.question_set import HistoryEntry
from tests.workbench.test_workbench import BEES, HIVES

pytestmark = pytest.mark.slow


@pytest.fixture
def bench(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Workbench:
    monkeypatch.setenv("LEANRAG_HOME", str(tmp_path))
    return Workbench.default()


def test_questions_are_listed_noted_and_deleted(bench: Workbench, capsys: pytest.CaptureFixture[str]) -> None:
    for question in ("What is a mite?", "What is a hive?"):
        bench.history.keep(HistoryEntry.now("i", "Bees", question, "leanrag", link={"q": question}))
    hive, mite = bench.history.matching()
    assert main(["history", "--note", mite.id, "for \u202eAnna"]) == 0
    assert f"{mite.id} {mite.asked[:16]} Bees: What is a mite? (for [U+202E]Anna)" in capsys.readouterr().out
    assert main(["history", "anna", "--pin", mite.id, "--json"]) == 0
    [listed] = json.loads(capsys.readouterr().out)
    assert (listed["question"], listed["pinned"], listed["link"]) == ("What is a mite?", True, {"q": "What is a mite?"})
    assert main(["history", "--delete", hive.id]) == 0
    assert [entry.id for entry in bench.history.matching()] == [mite.id]


def test_a_follow_up_is_asked_as_it_stands_alone(bench: Workbench, capsys: pytest.CaptureFixture[str]) -> None:
    corpus = bench.add_documents("Bees", [("bees.md", BEES), ("hives.txt", HIVES)]).corpus_id
    index = bench.build(corpus, IndexConfig(cluster_size=4))
    name = index.layers[0].entities["name"][0].as_py()
    assert index.path is not None
    arguments = ["ask", str(index.path), "Who uses it?", "--after", f"What is {name}?", "--no-answer", "--json"]
    assert main(arguments) == 0
    printed = capsys.readouterr()
    assert json.loads(printed.out)["question"] == f"Who uses it? ({name})"
    assert f"asked as: Who uses it? ({name}) (By a rule" in printed.err


def test_questions_that_ask_put_are_in_the_history(bench: Workbench, capsys: pytest.CaptureFixture[str]) -> None:
    corpus = bench.add_documents("Bees", [("bees.md", BEES), ("hives.txt", HIVES)]).corpus_id
    index = bench.build(corpus, IndexConfig(cluster_size=4))
    assert index.path is not None
    assert main(["ask", str(index.path), "What is a mite?"]) == 0
    assert main(["ask", str(index.path), "What is a hive?", "--no-answer"]) == 0
    capsys.readouterr()
    assert main(["history"]) == 0
    listed = capsys.readouterr().out.splitlines()
    assert [line.rpartition(": ")[2] for line in listed] == ["What is a hive?", "What is a mite?"]
    assert bench.history.matching()[0].link["index"] == index.path.name
