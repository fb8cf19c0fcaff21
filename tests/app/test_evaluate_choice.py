"""Which system? on Evaluate: a wish that is met, one that is not, nothing to tell, and the way to Compare."""

from collections.abc import Callable

import pytest
from streamlit.testing.v1 import AppTest

import leanrag_core.workbench
from leanrag_core import Workbench
from tests.app import drawn
from tests.app.test_evaluate import BETTER, stored

Visit = Callable[..., AppTest]


@pytest.fixture(autouse=True)
def no_shipped(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let no experiment come with the program."""
    monkeypatch.setattr(leanrag_core.workbench, "SAMPLES", tmp_path_factory.mktemp("none"))


def test_without_an_experiment_it_says_that_nothing_can_be_told(home: Workbench, visit: Visit) -> None:
    app = visit("evaluate", home, tab="choice")
    drawn.assert_sound(app)
    assert "No experiment yet, so nothing can be told" in drawn.text(app)


def test_a_wish_is_met_then_not_then_met_again_and_stays_in_the_link(home: Workbench, visit: Visit) -> None:
    stored(home, BETTER)  # LeanRAG: 24 questions, mean .875, 500 tokens; Naive: .5625, 1,000 tokens
    app = visit("evaluate", home, tab="choice")
    app.slider("lr_wrecall").set_value(75).run()
    drawn.assert_sound(app)
    text = drawn.text(app)
    assert "LeanRAG meets it." in text
    assert "It finds 88 % of the gold evidence" in text
    assert "It rests on Settings: 24 questions with gold evidence." in text
    app.number_input("lr_wtokens").set_value(400).run()
    drawn.assert_sound(app)
    assert "No stored run meets it. The nearest is LeanRAG." in drawn.text(app)
    assert "It takes 100 tokens more than the 400 that are allowed." in drawn.text(app)
    assert dict(app.query_params)["wtokens"] == "400"
    again = visit("evaluate", home, tab="choice", wrecall="75", wtokens="600", wcalls="0")
    drawn.assert_sound(again)
    assert "LeanRAG meets it." in drawn.text(again)


def test_of_few_questions_nothing_is_told(home: Workbench, visit: Visit) -> None:
    stored(home, {name: scores[:4] for name, scores in BETTER.items()})
    app = visit("evaluate", home, tab="choice")
    drawn.assert_sound(app)
    assert "Too few questions to tell: 4 with gold evidence, and 10 are the least." in drawn.text(app)


def test_compare_gets_the_systems_their_settings_and_the_question_that_tells_most(
    home: Workbench, visit: Visit
) -> None:
    stored(home, BETTER, max_tokens=900)
    app = visit("evaluate", home, tab="choice")
    app.button("choice_open").click().run()
    drawn.assert_sound(app)
    link = app.session_state["lr_memory"].values
    assert (link["cols"], link["a_strategy"], link["b_strategy"]) == ("ab", "leanrag", "vector")
    assert link["a_leanrag_max_tokens"] == link["b_vector_max_tokens"] == "900"
    assert link["q"] == "Who patented the hive?", "1.0 and .5"
