"""The verb why-not: the same checks and the same tried settings as the page."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from leanrag_core import Workbench, open_index
from leanrag_core.__main__ import main
from tests.workbench.test_workbench import BEES, HIVES

pytestmark = pytest.mark.slow

QUESTION = "What do beekeepers inspect?"


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("why")
    (folder / "docs").mkdir()
    (folder / "docs" / "bees.md").write_bytes(BEES)
    (folder / "docs" / "hives.txt").write_bytes(HIVES)
    assert main(["build", str(folder / "docs"), "--out", str(folder / "index"), "--cluster-size", "4"]) == 0
    return folder / "index"


def run(capsys: pytest.CaptureFixture[str], *arguments: object) -> dict[str, Any]:
    capsys.readouterr()
    assert main(["why-not", *map(str, arguments), "--json"]) == 0
    result: dict[str, Any] = json.loads(capsys.readouterr().out)
    return result


def names_by_rank(index: Path, capsys: pytest.CaptureFixture[str]) -> list[str]:
    capsys.readouterr()
    assert main(["ask", str(index), QUESTION, "--top-n", "100", "--no-answer", "--json"]) == 0
    return [seed["name"] for seed in json.loads(capsys.readouterr().out)["seeds"]]


def test_the_rank_is_that_of_the_retrieval_and_so_many_seeds_find_it(
    index: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    fourth = names_by_rank(index, capsys)[3]
    result = run(capsys, index, QUESTION, fourth, "--top-n", 1)
    assert (result["lost_at"], result["rank"], result["kind"]) == ("seed", 4, "entity")
    assert result["said"] == "Lost at step 4, “Seed”, by 3 places."
    assert result["offers"][0]["changes"] == {"top_n": [1, 4]}
    assert all(offer["found"] for offer in result["offers"])
    again = run(capsys, index, QUESTION, fourth, "--top-n", 4)
    assert (again["lost_at"], again["offers"]) == ("", [])


def test_in_words_the_stages_stand_below_each_other(index: Path, capsys: pytest.CaptureFixture[str]) -> None:
    capsys.readouterr()
    assert main(["why-not", str(index), QUESTION, "wasps sting", "--no-tries"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "Lost at step 1, “In the documents”."
    assert lines[1].split() == ["lost", "In", "the", "documents:", "no", "document", "holds", "these", "words"]


def test_runs_that_are_not_wanted_any_more_are_left(index: Path) -> None:
    bench, opened = Workbench.default(), open_index(index)
    trace = bench.retrieve(opened, QUESTION, top_n=1)
    last = bench.retrieve(opened, QUESTION, top_n=4).with_role("seed")[3]
    calls: list[int] = []

    def cancelled() -> None:
        calls.append(len(calls))
        if len(calls) == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        bench.explanations.why_not(opened, trace, last.name, cancelled=cancelled)
    assert calls == [0, 1]


def test_the_parts_that_the_strategy_needs_are_made_first(index: Path, capsys: pytest.CaptureFixture[str]) -> None:
    result = run(capsys, index, QUESTION, "wasps sting", "--strategy", "bm25", "--no-tries")
    assert result["lost_at"]


def test_the_part_that_a_tried_setting_needs_is_made(index: Path, capsys: pytest.CaptureFixture[str]) -> None:
    third = names_by_rank(index, capsys)[2]
    arguments = (index, QUESTION, third, "--strategy", "leanrag_walk", "--top-n", 2)
    shutil.rmtree(index / "parts", ignore_errors=True)
    offered = [offer["changes"] for offer in run(capsys, *arguments)["offers"]]
    assert offered == [{"top_n": [2, 3]}, {"seed_help": ["none", "hybrid"]}], "help of Hybrid needs the lexical part"
    assert [path.name for path in (index / "parts").iterdir()] == ["lexical"]


def test_a_setting_whose_part_cannot_be_made_is_named_and_not_tried(
    index: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    third = names_by_rank(index, capsys)[2]
    other = tmp_path / "other"
    shutil.copytree(index, other, ignore=shutil.ignore_patterns("parts"))
    (other / "parts").write_text("no folder", encoding="utf-8")
    arguments = map(str, (other, QUESTION, third, "--strategy", "leanrag_walk", "--top-n", 2))
    assert main(["why-not", *arguments]) == 0
    said = capsys.readouterr()
    assert "tried: top_n 2 -> 3" in said.out
    assert "leanrag: not tried: seed_help hybrid: " in said.err
