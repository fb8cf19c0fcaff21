"""Tables of the documentation, and the results they are written from."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks.system_table import Row, keep, listed_systems
from benchmarks.tables import PAGES, filled, joined, share

ROW = Row("bm25", "official", 2, 0.5, 0.1, 0.5, 0.5, 0.5, 1.0, 1000, 0.5, 3.0, 2.0, 0, None, None, None)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_pages_have_the_tables_of_the_results(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    assert "<!-- table " in text
    assert filled(text) == text


def test_a_row_measured_again_takes_the_place_of_its_own_alone(tmp_path: Path) -> None:
    path = tmp_path / "results.json"
    for row in (ROW, replace(ROW, system="vector"), replace(ROW, recall_5=0.75)):
        keep(path, "bees", {"chunks": 3}, row)
    keep(path, "mites", {"chunks": 4}, ROW)
    results = json.loads(path.read_text(encoding="utf-8"))
    assert [(row["system"], row["recall_5"]) for row in results["bees"]["rows"]] == [("bm25", 0.75), ("vector", 0.5)]
    assert [row["recall_5"] for row in results["mites"]["rows"]] == [0.5]


def test_samples_are_joined_by_their_questions() -> None:
    other = replace(ROW, questions=6, recall_5=0.9, context_recall=1.0, tokens=2000, answer=None)
    made = joined([vars(ROW), vars(other)])
    assert (made["questions"], made["recall_5"], made["tokens"]) == (8, pytest.approx(0.8), 1750)
    assert made["recall_per_1000"] == pytest.approx(0.875 / 1.75)
    assert (made["answer"], made["documents_touched"]) == (1.0, None)


def test_every_preset_has_a_line_of_its_own() -> None:
    names = [name for name, _, _ in listed_systems()]
    assert len(set(names)) == len(names)
    assert {"leanrag", "leanrag, released", "lightrag, low", "vector"} <= set(names)
    assert "zero_shot" not in names


def test_shares_have_no_leading_zero() -> None:
    assert [share(0.5), share(1.0, 2), share(None), share(0.0)] == [".500", "1.00", "–", ".000"]
