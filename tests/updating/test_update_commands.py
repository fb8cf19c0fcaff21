"""update, remove, undo and edit on the command line, on an index outside of any store."""

import json
from pathlib import Path
from typing import Any

import pytest

from leanrag_core.__main__ import main
from tests.updating.conftest import content
from tests.updating.texts import OWLS

pytestmark = pytest.mark.slow


@pytest.fixture
def owls(tmp_path: Path) -> Path:
    path = tmp_path / "owls.txt"
    path.write_text(OWLS)
    return path


def printed_json(capsys: pytest.CaptureFixture[str], *arguments: str | Path) -> Any:
    """Return the JSON that a verb prints."""
    capsys.readouterr()
    assert main([*map(str, arguments), "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def test_a_document_is_previewed_added_removed_and_brought_back(
    folder: Path, owls: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = content(folder)
    preview = printed_json(capsys, "update", folder, owls, "--preview")
    assert (preview["added"], preview["chunks_added"], preview["usage"]["calls"]) == (["owls.txt"], 1, 0)
    assert content(folder) == before

    updated = printed_json(capsys, "update", folder, owls)
    assert updated["documents"] == 7
    assert updated["update"]["entities_added"] > 3
    assert printed_json(capsys, "check", folder)["ok"]
    states = printed_json(capsys, "undo", folder, "--list")["states"]
    assert [(state["number"], state["documents"]) for state in states] == [(1, 6)]

    assert printed_json(capsys, "remove", folder, "bees.txt", "--forget")["documents"] == 6
    assert printed_json(capsys, "undo", folder, "--list")["states"] == []
    assert main(["undo", str(folder)]) == 2
    assert "no earlier state" in capsys.readouterr().err


def test_edits_are_made_listed_and_undone(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = content(folder)
    made = printed_json(capsys, "edit", folder, "rename", "radium", "Radium-226")
    assert made["edits"] == [{"number": 1, "action": "rename", "name": "radium", "other": "Radium-226"}]
    listed = printed_json(capsys, "edit", folder, "list")
    assert listed["affected"]["1"] > 0
    assert printed_json(capsys, "show", folder)["lineage"][0]["edits"] == 1
    assert printed_json(capsys, "edit", folder, "undo", "1")["edits"] == []
    assert {name: stored for name, stored in content(folder).items() if not name.startswith("parts/")} == before
    assert main(["edit", str(folder), "merge", "radium", "nothing"]) == 2


def test_the_distance_to_a_fresh_build_is_told_with_advice(
    folder: Path, owls: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    questions = tmp_path / "questions.jsonl"
    evidence = [{"document": "owls.txt", "quote": "The Ural Owl hunts voles"}]
    asked = {"id": "1", "question": "What does the Ural Owl hunt?", "answer": "Voles", "evidence": evidence}
    questions.write_text(json.dumps(asked) + "\n")
    printed_json(capsys, "update", folder, owls)
    updated = content(folder)
    distance = printed_json(capsys, "update", folder, "--compare-fresh", "--questions", questions)
    assert distance["recall"] == distance["fresh_recall"] == 1.0
    assert distance["n_questions"] == 1
    assert 0.4 < distance["clusters"][0] <= 1.0
    assert distance["advises_rebuild"] is False
    assert content(folder) == updated, "the index is compared, not changed"
