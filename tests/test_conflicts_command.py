"""The verbs conflicts and show: contradictions with both quotes and their places; ask and compare as of a date."""

import json
from pathlib import Path
from typing import Any

import pytest

from leanrag_core.__main__ import main

pytestmark = pytest.mark.slow

BOARD = (
    "Date: 2021-05-01\n\nHolm Lighthouse was built in 1911. Ada Thornbury chaired the Coast Board from 1998 to 2004."
)
TOWER = "Holm Lighthouse was built in 1921. Bela Quarmax has chaired the Coast Board since 2005."
QUESTION = "Who chaired the Coast Board?"


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("conflicts")
    (folder / "docs").mkdir()
    (folder / "docs" / "board.md").write_text(BOARD)
    (folder / "docs" / "tower.md").write_text(TOWER)
    assert main(["build", str(folder / "docs"), "--out", str(folder / "index"), "--cluster-size", "3"]) == 0
    return folder / "index"


def run(capsys: pytest.CaptureFixture[str], *arguments: object) -> dict[str, Any]:
    capsys.readouterr()
    assert main([*map(str, arguments), "--json"]) == 0
    result: dict[str, Any] = json.loads(capsys.readouterr().out)
    return result


def test_contradictions_are_listed_with_both_quotes(index: Path, capsys: pytest.CaptureFixture[str]) -> None:
    result = run(capsys, "conflicts", index)
    [conflict] = result["conflicts"]
    assert (result["n"], conflict["what"], conflict["names"]) == (1, "built", ["Holm Lighthouse"])
    sides = sorted((conflict["first"], conflict["second"]), key=lambda side: side["document"])
    assert [(side["document"], side["date"]) for side in sides] == [("board.md", "2021-05-01"), ("tower.md", "")]
    assert [side["text"] for side in sides] == [
        "Holm Lighthouse was built in 1911.",
        "Holm Lighthouse was built in 1921.",
    ]
    assert BOARD[sides[0]["start"] : sides[0]["end"]] == sides[0]["text"]
    assert main(["conflicts", str(index)]) == 0
    assert "board.md, dated 2021-05-01, chunk" in capsys.readouterr().out
    assert main(["show", str(index)]) == 0
    assert "1 conflict between quotes" in capsys.readouterr().out


def test_a_question_is_asked_as_of_a_date(index: Path, capsys: pytest.CaptureFixture[str]) -> None:
    then = run(capsys, "ask", index, QUESTION, "--as-of", "2002-06")
    assert "Thornbury" in then["context"]["text"]
    assert "Quarmax has chaired" not in then["context"]["text"]
    assert then["scope"] == {"as_of": "2002-06"}
    assert any(note.startswith("As of 2002-06, ") for note in then["notes"])
    now = run(capsys, "ask", index, QUESTION)
    assert "Quarmax has chaired" in now["context"]["text"]
    assert "scope" not in now
    assert main(["ask", str(index), QUESTION, "--as-of", "June 2002"]) != 0
