"""snapshot on the command line: list, keep, open, compare, restore and delete, on an index outside of any store."""

import json
from pathlib import Path

import pytest

from leanrag_core.__main__ import main
from tests.updating.conftest import content
from tests.updating.test_update_commands import printed_json
from tests.updating.texts import OWLS

pytestmark = pytest.mark.slow


def test_a_state_is_named_opened_compared_restored_and_deleted(
    folder: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    first, owls = content(folder), tmp_path / "owls.txt"
    owls.write_text(OWLS)
    kept = printed_json(capsys, "snapshot", "keep", folder, "as built")["states"]
    assert [(state["number"], state["name"], state["change"]["kind"]) for state in kept] == [(1, "as built", "copy")]
    printed_json(capsys, "update", folder, owls)
    second = content(folder)
    listed = printed_json(capsys, "snapshot", "list", folder)["states"]
    assert [(state["number"], state.get("name", ""), state["change"]["kind"]) for state in listed] == [
        (2, "", "update"),
        (1, "as built", "copy"),
    ]
    assert main(["snapshot", "list", str(folder)]) == 0
    assert "Before an update: documents added 1, changed 0, removed 0." in capsys.readouterr().out

    assert main(["snapshot", "open", str(folder), "as built"]) == 0
    opened = Path(capsys.readouterr().out.strip())
    assert content(opened) == first
    assert printed_json(capsys, "ask", opened, "Who discovered radium?", "--no-answer")["nodes"]
    assert printed_json(capsys, "snapshot", "open", folder, "as built")["documents"] == 6

    questions = tmp_path / "questions.jsonl"
    evidence = [{"document": "owls.txt", "quote": "The Ural Owl hunts voles"}]
    asked = {"id": "1", "question": "What does the Ural Owl hunt?", "answer": "Voles", "evidence": evidence}
    questions.write_text(json.dumps(asked) + "\n")
    compared = printed_json(capsys, "snapshot", "compare", folder, "as built", "--questions", questions)
    assert compared["differences"]["documents"]["added"] == ["owls.txt"]
    assert compared["questions"]["won"] == ["What does the Ural Owl hunt?"]
    assert main(["snapshot", "compare", str(folder), "as built", "2"]) == 0
    assert "documents: the same" in capsys.readouterr().out
    assert main(["snapshot", "compare", str(folder), "1", "--questions", str(questions)]) == 0
    printed = capsys.readouterr().out
    assert "documents added: 1 (owls.txt)" in printed
    assert "evidence-recall 0.000 before, 1.000 after, +1.000 over 1 question" in printed
    assert "won: What does the Ural Owl hunt?" in printed

    printed_json(capsys, "snapshot", "restore", folder, "as built")
    assert content(folder) == first
    assert main(["undo", str(folder), "--forget"]) == 0
    assert "1 state with a name stays" in capsys.readouterr().err
    left = printed_json(capsys, "snapshot", "delete", folder, "as built")
    assert left["states"] == []
    assert content(folder) == first != second
    assert main(["snapshot", "restore", str(folder), "as built"]) == 1
    said = capsys.readouterr().err
    assert "keeps no earlier state" in said
    assert "'python -m leanrag_core snapshot list'" in said
