"""Evaluate on a first visit: the experiments that come with the program."""

from collections.abc import Callable

import pytest
from streamlit.testing.v1 import AppTest

from leanrag_core import Workbench
from tests.app import drawn
from tests.app.test_evaluate import stored


@pytest.mark.parametrize("tab", ["results", "questions"])
def test_evaluate_opens_on_something_real(home: Workbench, visit: Callable[..., AppTest], tab: str) -> None:
    shipped = [each for each in home.experiments.store.all() if each.is_shipped]
    app = visit("evaluate", home, tab=tab)
    drawn.assert_sound(app)
    text = drawn.text(app)
    assert len(shipped) >= 4
    assert "LeanRAG" in text
    assert "Naive RAG" in text
    assert "No experiment yet" not in text


def test_verdicts_are_about_the_questions_of_the_experiment_in_use(
    home: Workbench, visit: Callable[..., AppTest]
) -> None:
    own = stored(home, {"Naive": [0.5, 0.5], "LeanRAG": [1.0, 0.5]}, title="Unanswered")
    app = visit("evaluate", home, tab="verdicts", exp=own)
    drawn.assert_sound(app)
    [chosen] = [box.value for box in app.selectbox if box.label == "Experiment"]
    summaries = {each.id: each for each in home.experiments.store.all()}
    assert summaries[chosen].has_answers
    assert summaries[chosen].question_set == summaries[own].question_set
    home.experiments.store.delete(own)
