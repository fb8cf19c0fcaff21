"""The verb gate: its exit code, what it writes for a CI, and what it says of a wrong command."""

import json
import shutil
from pathlib import Path
from xml.etree import ElementTree

import pytest

from leanrag_core.__main__ import main
from leanrag_core.workbench.samples import SAMPLES

[INDEX] = (SAMPLES / "indexes").glob("sample-agriculture-*")
QUESTIONS = SAMPLES / "agriculture" / "questions.jsonl"


def gated(*options: object) -> int:
    return main(["gate", str(INDEX), str(QUESTIONS), *map(str, options)])


def test_a_worse_setting_fails_beside_the_written_baseline_and_the_same_one_passes(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    scores, xml, md = tmp_path / "scores.json", tmp_path / "gate.xml", tmp_path / "gate.md"
    assert gated("--write", scores) == 0
    assert gated("--against", scores, "--floor", "recall@5=.5", "--measure", "evidence-recall") == 0
    capsys.readouterr()
    poor = ("--run", "leanrag:top_n=1,top_c=0", "--measure", "evidence-recall")
    assert gated("--against", scores, *poor, "--junit", xml, "--markdown", md, "--json") == 1
    told = json.loads(capsys.readouterr().out)
    [check] = told["checks"]
    assert (told["failed"], check["kind"], check["questions"]) == (True, "loss", 26)
    assert check["high"] < 0
    assert check["questions_needed"] > 100
    assert ElementTree.parse(xml).getroot().get("failures") == "1"
    assert "❌" in md.read_text(encoding="utf-8")
    assert gated("--against", INDEX, "--against-run", "leanrag", *poor) == 1, "the same beside the index itself"


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ((), "say what is to be checked"),
        (("--floor", "recall@5"), "a floor is MEASURE=VALUE"),
        (("--floor", "recall@5=7"), "recall@5 lies between 0 and 1: a floor of 7 says nothing"),
        (("--floor", "luck=.5"), "there is no measure 'luck'"),
        (("--floor", "f1=.5"), "no question has a score of 'f1'"),
        (("--against", QUESTIONS), "no file of scores"),
        (("--floor", "recall@5=.5", "--loss", "5"), "a loss lies between 0 and 1"),
        (("--run", "nobody", "--floor", "recall@5=.5"), "nobody"),
    ],
)
def test_a_wrong_command_says_what_to_do(
    options: tuple[object, ...], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert gated(*options) == 2
    assert said in capsys.readouterr().err


def test_parts_that_both_runs_need_are_made_first(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    copies = [tmp_path / name for name in ("new", "old")]
    for copy in copies:
        shutil.copytree(INDEX, copy)
    new, old = map(str, copies)
    assert main(["gate", new, str(QUESTIONS), "--run", "bm25", "--against", old, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["run"] == "bm25"


def test_a_baseline_of_other_questions_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    scores, other = tmp_path / "scores.json", tmp_path / "other.jsonl"
    other.write_text('{"question": "Who minds the mill?", "answers": ["Hester"]}\n', encoding="utf-8")
    assert main(["gate", str(INDEX), str(other), "--write", str(scores)]) == 0
    assert gated("--against", scores) == 2
    assert "no score of these questions" in capsys.readouterr().err
