"""Gold on the Compare page: where it was lost, what finds it, over one question and over a set."""

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from leanrag_core import Workbench
from leanrag_core.comparing.lost_evidence import REACHED, TAKEN, Lane
from leanrag_core.retrieval.base import TOP_C, strategies
from leanrag_core.types.question_set import Generation
from pages.common import forms
from pages.compare.gold_view import GoldOf
from pages.compare.loss_view import _candidates
from tests.app import drawn
from tests.app.compared import QUESTION, lanes, rows

Visit = Callable[..., AppTest]
GOLD = (
    {
        "question": QUESTION,
        "type": "single-hop",
        "evidence": [
            {"document": "bees.md", "quote": "Beekeepers treat Varroa destructor with oxalic acid in winter."},
            {"document": "hives.txt", "quote": "Lorenzo Langstroth patented the hive in 1852."},
        ],
    },
    {
        "question": "Who patented the hive?",
        "evidence": [{"document": "hives.txt", "quote": "Lorenzo Langstroth patented the hive in 1852."}],
    },
)


@pytest.fixture
def gold(samples: Path) -> Iterator[None]:
    """Give the sample's questions gold evidence."""
    path = samples / "agriculture" / "questions.jsonl"
    before = path.read_text(encoding="utf-8")
    path.write_text("\n".join(json.dumps(question) for question in GOLD), encoding="utf-8")
    yield
    path.write_text(before, encoding="utf-8")


@pytest.mark.usefixtures("gold")
def test_a_lost_passage_is_followed_to_where_it_was_lost_and_what_finds_it_was_tried(
    home: Workbench, visit: Visit
) -> None:
    app = visit("compare", home, q=QUESTION, cview="missed", piece="1", b_c="1", a_c="1")
    drawn.assert_sound(app)
    assert "Question 1 of 2" in drawn.text(app)
    assert "Lorenzo Langstroth patented the hive in 1852." in drawn.text(app)
    first, second = lanes(app)
    assert "lost at" in first
    assert "lost at “Within top-C”" in second
    app.button("missed_try_b").click().run()
    drawn.assert_sound(app)
    assert int(app.query_params["b_c"]) > 1
    assert "found" in lanes(app)[1]
    assert "lost at" not in lanes(app)[1]


@pytest.mark.usefixtures("gold")
def test_other_strategies_run_beside_the_columns_when_a_person_wants_that(home: Workbench, visit: Visit) -> None:
    app = visit("compare", home, q=QUESTION, cview="missed")
    assert len(lanes(app)) == 2
    app.toggle("lr_others").set_value(True).run()
    drawn.assert_sound(app)
    assert len(lanes(app)) > 2
    assert app.query_params["others"] == "1"
    assert "Not run, since they need an index part or a model: " in drawn.text(app)


@pytest.mark.usefixtures("gold")
def test_gold_that_is_found_is_marked_in_the_columns(home: Workbench, visit: Visit) -> None:
    app = visit("compare", home, q=QUESTION)
    drawn.assert_sound(app)
    assert "gold found" in drawn.text(app)
    assert any(row["gold"] for column in rows(app) for row in column)
    assert "Chunks with gold" not in drawn.text(app), "each chunk has one piece"


def test_where_a_chunk_has_two_pieces_of_gold_both_numbers_are_said(
    home: Workbench, visit: Visit, gold: None, samples: Path
) -> None:
    quotes = ("Lorenzo Langstroth patented the hive", "patented the hive in 1852.")
    evidence = [{"document": "hives.txt", "quote": quote} for quote in quotes]
    question = {"question": QUESTION, "evidence": evidence}
    (samples / "agriculture" / "questions.jsonl").write_text(json.dumps(question), encoding="utf-8")
    app = visit("compare", home, q=QUESTION)
    drawn.assert_sound(app)
    assert sum(bool(row["gold"]) for row in rows(app)[0]) == 1
    assert "Gold found: 2. Chunks with gold: 1." in drawn.text(app)


@pytest.mark.usefixtures("gold")
def test_a_generated_set_takes_no_question_of_its_gold(home: Workbench, visit: Visit) -> None:
    summary = home.indexes.all()[0]
    shipped = home.question_sets.about(summary.corpus_id)
    made = home.question_sets.generate(home.indexes.open(summary.id), Generation(n=5))
    generated = home.question_sets.questions(made)
    assert sum(bool(each.evidence) for each in generated) > len(shipped)
    assert home.question_sets.about(summary.corpus_id) == shipped
    app = visit("compare", home, q=QUESTION, cview="missed")
    drawn.assert_sound(app)
    assert "Question 1 of 2" in drawn.text(app)
    own = next(each.question for each in generated if each.evidence)
    app = visit("compare", home, q=own, cview="missed")
    drawn.assert_sound(app)
    assert "no gold evidence" not in drawn.text(app)
    assert len(lanes(app)) == 2


def test_another_passage_or_an_entity_is_marked_and_stays_in_the_link(home: Workbench, visit: Visit) -> None:
    app = visit("compare", home, q=QUESTION, cview="missed")
    drawn.assert_sound(app)
    assert "no gold evidence" in drawn.text(app)
    app.text_input("lr_mark_find").set_value("Langstroth").run()
    drawn.assert_sound(app)
    keys = [str(button.key) for button in app.button]
    chunk = next(key for key in keys if key.startswith("missed_chunk_"))
    app.button(chunk).click().run()
    drawn.assert_sound(app)
    assert app.query_params["mark"].startswith("chunk:")
    assert len(lanes(app)) == 2
    again = visit("compare", home, **dict(app.query_params))
    assert lanes(again) == lanes(app)
    entity = next(key for key in keys if key.startswith("missed_entity_"))
    app.button(entity).click().run()
    drawn.assert_sound(app)
    assert app.query_params["mark"].startswith("entity:")
    app.button("missed_unmark").click().run()
    assert "mark" not in app.query_params


@pytest.mark.usefixtures("gold")
def test_over_the_set_the_bars_add_up_and_the_best_change_was_run(home: Workbench, visit: Visit) -> None:
    app = visit("compare", home, cview="set", a_n="1", a_c="1", b_c="1")
    drawn.assert_sound(app)
    page_text = drawn.text(app)
    assert "2 questions, 3 gold passages" in page_text
    assert "Where this set loses its gold" in page_text
    (measures,) = [drawn.Markup(body).text for body in drawn.html(app) if "Median retrieval time" in body]
    assert re.search(r"Evidence recall\.\d\d", measures), "written as on Evaluate"
    assert re.search(r"Median retrieval time[\d.]+ m?s", measures)
    app.button("set_losses_table").click().run()
    drawn.assert_sound(app)
    app.button("set_try").click().run()
    drawn.assert_sound(app)
    change = "One change that finds most: A with Top-C chunks 2 instead of 1 finds 1 more, for"
    assert change in drawn.text(app)
    app.button("set_take").click().run()
    drawn.assert_sound(app)
    assert {name: app.query_params[name] for name in ("a_n", "a_c", "b_c")} == {"a_n": "1", "a_c": "2", "b_c": "1"}
    app.button("set_question_1").click().run()
    drawn.assert_sound(app)
    assert (app.query_params["q"], app.query_params["cview"]) == ("Who patented the hive?", "missed")


@pytest.mark.usefixtures("gold", "debate")
def test_a_column_that_calls_a_model_is_not_run_over_the_set_before_a_person_asks(
    home: Workbench, visit: Visit, retrieved: list[str]
) -> None:
    app = visit("compare", home, cview="set", a_strategy="debate")
    drawn.assert_sound(app)
    assert "debate" not in retrieved
    app.button("set_run_a").click().run()
    drawn.assert_sound(app)
    assert retrieved.count("debate") == 2
    app.run()
    assert retrieved.count("debate") == 2


def test_evidence_is_counted_by_pieces_not_by_the_chunks_that_hold_it() -> None:
    found, lost = Lane(()), Lane((), "taken")
    of = GoldOf(
        lanes={"A": (found, found, lost), "B": (found, lost, lost)}, found_ids={"A": ("21", "22"), "B": ("22",)}
    )
    assert (of.n_found("A"), of.n_found("B"), of.n_found("C")) == (2, 1, 0)
    assert (of.n_only_in("A"), of.n_only_in("B")) == (1, 0)


def test_no_change_is_tried_that_the_system_does_not_take() -> None:
    info = next(each for each in strategies().strategies if each.name == "vector")

    def candidates(top_c: int) -> list[tuple[str, int]]:
        asked, chosen = SimpleNamespace(calls_model=False), SimpleNamespace(options={TOP_C: top_c})
        column: Any = SimpleNamespace(ask=lambda question: asked, chosen=chosen, info=info, fixed={})
        result: Any = SimpleNamespace(losses={REACHED: 0, TAKEN: 1})
        return _candidates(column, result)

    assert forms.option_fields(info.config)[TOP_C].metadata["high"] == 50
    assert candidates(25) == [(TOP_C, 38), (TOP_C, 50)]
    assert candidates(30) == [(TOP_C, 45)]
    assert candidates(50) == []
    assert candidates(1) == [(TOP_C, 2)], "a change is tried once"
