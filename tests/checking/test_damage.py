"""Each kind of damage to a stored index is found by what it breaks, with file and row, though all hashes fit again."""

import json
from pathlib import Path

import numpy as np
import pytest

from leanrag_core.__main__ import main
from tests.checking import damaged_hierarchy, damaged_records, damaged_texts
from tests.checking.damage import Damage, kinds_in
from tests.checking.stored import Remembered, Stored, named, results

KINDS = kinds_in(damaged_texts, damaged_hierarchy, damaged_records)
pytestmark = pytest.mark.slow


@pytest.mark.parametrize("value", [np.nan, 0.0, 7.5e38 / 3, -np.inf, 0.5])
def test_a_vector_that_is_none_is_found(stored: Stored, embedding: Remembered, value: float) -> None:
    def spoil(vectors: np.ndarray) -> None:
        vectors[1] = value

    stored.vectors(1, spoil)
    stored.hashed_again()
    assert named(results(stored, embedding)["unit vectors"]) == [("vectors-1.npy", 1)]


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_damage_is_found_by_what_it_breaks(stored: Stored, embedding: Remembered, kind: Damage) -> None:
    row = kind.do(stored)
    stored.hashed_again()
    file = kind.file.replace("*", stored.search_folder.name)
    check_results = results(stored, embedding)
    assert check_results["index parts"].ok
    assert check_results["file hashes"].ok
    assert (file, row) in named(check_results[kind.check])
    assert file in check_results[kind.check].detail


def test_nothing_is_written_into_the_folder(stored: Stored, embedding: Remembered) -> None:
    """Check that nothing is written: the app may have it open, and Chroma allows no second process."""
    before = {path: path.read_bytes() for path in stored.folder.rglob("*") if path.is_file()}
    results(stored, embedding)
    assert before == {path: path.read_bytes() for path in stored.folder.rglob("*") if path.is_file()}


def test_there_are_forty_kinds_and_more() -> None:
    assert len(KINDS) >= 40


def test_a_sound_index_passes_every_check_and_nothing_is_left_out(stored: Stored, embedding: Remembered) -> None:
    check_results = results(stored, embedding)
    assert [result.detail for result in check_results.values() if not result.ok] == []
    assert not any(
        "not checked" in result.detail or "hashes are missing" in result.detail for result in check_results.values()
    )


def test_the_command_names_file_and_row_and_ends_with_1(
    stored: Stored, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("LEANRAG_HOME", str(tmp_path / "home"))
    assert main(["check", str(stored.folder)]) == 0
    capsys.readouterr()
    stored.change("relations-1.arrow", "weight", 2, 77.0)
    assert main(["check", str(stored.folder)]) == 1
    assert "FAIL weights: relations-1.arrow row 2: the weight is not the sum" in capsys.readouterr().out
    assert main(["check", str(stored.folder), "--json"]) == 1
    report = json.loads(capsys.readouterr().out)
    assert report["ok"] is False
    [weights] = [check for check in report["checks"] if check["name"] == "weights"]
    text = "the weight is not the sum of its members' weights"
    assert weights["problems"][0] == {"file": "relations-1.arrow", "row": 2, "text": text}
