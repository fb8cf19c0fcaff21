"""The verb evaluate on an index of a document that a reference graph quotes."""

import json
from pathlib import Path

import pytest

from leanrag_core.__main__ import main
from leanrag_core.evaluation import measures as folder
from leanrag_core.evaluation.measuring import measures
from leanrag_core.workbench.samples import SAMPLES

pytestmark = pytest.mark.slow

SAMPLE = SAMPLES / "agriculture"


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("evaluated") / "index"
    assert main(["build", str(SAMPLE / "documents" / "honey-bee-colony.md"), "--out", str(out)]) == 0
    return out


def test_every_measure_is_in_the_result_and_those_that_apply_are_printed_in_groups(
    built: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    capsys.readouterr()
    questions = str(SAMPLE / "questions.jsonl")
    assert main(["evaluate", str(built), questions, "--json"]) == 0
    rows = {row["measure"]: row for row in json.loads(capsys.readouterr().out)["measures"]}
    assert sorted(rows) == [str(measure.name) for measure in measures()]
    assert 0 < rows["recall-5"]["value"] < 1  # of 26 questions with gold, a few are about this document
    assert rows["recall-5"]["n"] == rows["ndcg"]["n"] == 26
    assert (rows["exact-match"]["value"], rows["exact-match"]["n"]) == (None, 0)  # no answer is written
    assert main(["evaluate", str(built), questions]) == 0
    printed = capsys.readouterr().out
    assert printed.index("Gold evidence") < printed.index("Recall@5") < printed.index("Context\n")
    assert "Exact match" not in printed
    recall, tokens = rows["recall-5"]["value"], rows["context-tokens"]["value"]
    assert f"{'Recall@5':>28}  {recall:>10.3f}  over 26 questions\n" in printed
    assert f"{'Context tokens':>28}  {tokens:>10,.0f}  over 31 questions\n" in printed, "a count is whole"


def test_a_part_that_the_strategy_needs_is_made_first(built: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["evaluate", str(built), str(SAMPLE / "questions.jsonl"), "--strategy", "bm25"]) == 0
    assert "Recall@5" in capsys.readouterr().out
    assert main(["parts", str(built)]) == 0
    assert "lexical: finished" in capsys.readouterr().out


def test_a_measure_that_does_not_load_is_noted_and_the_others_are_there(
    built: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "spoilt.py").write_text("raise RuntimeError('no key is set')")
    monkeypatch.setattr(folder, "__path__", [*folder.__path__, str(tmp_path)])
    capsys.readouterr()
    assert main(["evaluate", str(built), str(SAMPLE / "questions.jsonl")]) == 0
    shown = capsys.readouterr()
    assert "note: the file spoilt.py cannot be loaded: no key is set" in shown.err
    assert "Recall@5" in shown.out


def test_an_extraction_is_scored_in_three_ways_with_examples(built: Path, capsys: pytest.CaptureFixture[str]) -> None:
    capsys.readouterr()
    assert main(["evaluate", str(built), "--extraction", "--json"]) == 0
    values = json.loads(capsys.readouterr().out)
    recalls = [values["matches"][match]["entities"]["recall"] for match in ("exact", "normalised", "embedding")]
    assert recalls == sorted(recalls)
    assert recalls[0] < recalls[2]
    assert values["entities"] == values["matches"]["normalised"]["entities"]
    assert {"organism", "concept"} <= set(values["types"])
    assert values["examples"]["missed_entities"][0]["quote"]
    assert main(["evaluate", str(built), "--extraction"]) == 0
    printed = capsys.readouterr().out
    assert "names compared as embedding" in printed
    assert "relations given besides: " in printed


def test_neither_questions_nor_extraction_is_wrong_usage(built: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["evaluate", str(built)]) == 2
    assert "say which questions" in capsys.readouterr().err
