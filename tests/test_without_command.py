"""The verb without: what changes when something that was retrieved is taken out."""

import json
from pathlib import Path

import pytest

from leanrag_core.__main__ import main
from tests.workbench.test_workbench import BEES, HIVES

pytestmark = pytest.mark.slow

QUESTION = "What do beekeepers inspect?"


def test_a_chunk_by_its_mark(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "bees.md").write_bytes(BEES)
    (tmp_path / "docs" / "hives.txt").write_bytes(HIVES)
    index = str(tmp_path / "index")
    assert main(["build", str(tmp_path / "docs"), "--out", index, "--cluster-size", "4"]) == 0
    capsys.readouterr()
    assert main(["ask", index, QUESTION, "--no-answer", "--json", "--top-c", "1", "--strategy", "vector"]) == 0
    [chunk] = json.loads(capsys.readouterr().out)["chunks"]
    assert main(["without", index, QUESTION, "C1", "--top-c", "1", "--strategy", "vector", "--json"]) == 0
    shown = json.loads(capsys.readouterr().out)
    assert shown["way"] == "retrieved"
    [group] = shown["context"]
    assert len(group["left"]) == len(group["entered"]) == 1
    assert shown["answer"]["gone"]
    assert main(["without", index, QUESTION, chunk["id"], "--top-c", "1", "--strategy", "vector"]) == 0
    assert capsys.readouterr().out.startswith("Retrieved without 1 item that a person took out.\ncontext: ")
    assert main(["without", index, QUESTION, "C9", "--strategy", "vector"]) == 2
    assert "nothing with the mark or id C9" in capsys.readouterr().err
