"""Tables of the documentation, and the results they are written from."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks.system_table import Asked, Row, context_recall, keep, listed_systems
from benchmarks.tables import PAGES, agreement, filled, joined, minirag_rules, share
from leanrag_core.messages.message import message
from leanrag_core.types.trace import Context, ContextItem, ContextSection, Source, Trace, TraceIndex, TraceItem

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


def test_a_quote_that_was_trimmed_away_is_not_in_the_context() -> None:
    text = "The mill was built in 1788. It ground barley."
    source = Source("mill.txt", 0, "Mill", 0, len(text), None, 14)
    passage = TraceItem("c1", "passage", "mill", ("passage",), text=text, source=source)
    title = message("plain", text="Chunks")
    item = ContextItem("C1", "c1", "Mill: The mill was built in 1788. […]", 9, "chunk")
    section = ContextSection("chunks", title, "C", "chunk", (item,), item.text, 9, 9)
    context = Context(item.text, 9, (section,))
    trace = Trace("When?", "vector", title, {}, (passage,), (), context, (), (), TraceIndex("i", "Mills", (1,)))
    quotes = (("mill.txt", "mill was built in 1788"), ("mill.txt", "it ground barley"))
    assert context_recall(trace, Asked("When?", (), frozenset(), quotes)) == 0.5
    assert context_recall(trace, Asked("When?", (), frozenset({"Mill"}), ())) == 1.0


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


def test_a_mode_is_told_where_a_system_has_several_and_modes_that_agree_as_others_are_left_out() -> None:
    figures = dict.fromkeys(("at_5", "at_10", "at_20", "at_all", "rbo", "least"), 0.5) | {
        "identical": 1,
        "questions": 3,
    }
    modes = (("LightRAG", "low"), ("LightRAG", "mix"), ("LightRAG", "high"), ("MiniRAG", "mini"))
    rows = [{"system": system, "mode": mode, "kind": "chunks", **figures} for system, mode in modes]
    lines = agreement({"bees": {"rows": rows}}).splitlines()
    assert [line.split(" | ")[1] for line in lines[2:]] == ["LightRAG, low", "LightRAG, mix", "MiniRAG"]
    assert lines[-1] == "| bees | MiniRAG | chunks | .500 | .500 | .500 | .500 | .500 | .500 | 1.000 | 3 |"


def test_a_rule_of_minirag_stands_beside_all_rules_but_it() -> None:
    names = ("none", "last_path", "all but last_path", "all")
    rows = [
        {"rules": name, "ours": 1.0 - place / 4, "theirs": place / 4, "identical_to_theirs": 0.25}
        for place, name in enumerate(names)
    ]
    lines = minirag_rules({"bees": {"rows": rows}}).splitlines()[2:]
    assert lines[1] == "| bees | last path | .750 | .250 | .500 | .25 |"
    assert [line.split(" | ")[1] for line in lines] == ["none", "last path", "all"]
