"""Columns of the Compare page whose strategies call a model: run when a person says so."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from leanrag_core import Workbench
from leanrag_core.errors import LeanRAGError
from leanrag_core.retrieval import strategies
from leanrag_core.types.trace import Trace
from pages._shared.ask import result_view
from pages._shared.common import session
from tests.app import drawn
from tests.app.compared import QUESTION, rows

FOLDER = Path(__file__).with_name("strategies")
Visit = Callable[..., AppTest]


@pytest.fixture
def debate(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """A strategy that calls a model, as if these indexes had an endpoint; returns what was run."""
    run: list[str] = []
    retrieve = Workbench.retrieve

    def count(bench: Workbench, index: Any, question: str, strategy_name: str = "leanrag", **options: Any) -> Trace:
        run.append(strategy_name)
        return retrieve(bench, index, question, strategy_name, **options)

    monkeypatch.setattr(strategies, "__path__", [*strategies.__path__, str(FOLDER)])
    monkeypatch.setattr(Workbench, "asks_model", lambda bench, model: True)
    monkeypatch.setattr(Workbench, "retrieve", count)
    return run


def test_a_strategy_that_calls_a_model_runs_when_compare_is_pressed_and_not_before(
    home: Workbench, visit: Visit, debate: list[str]
) -> None:
    app = visit("compare", home, q=QUESTION, a_strategy="debate")
    drawn.assert_sound(app)
    assert "debate" not in debate
    assert "Press Compare to run it." in drawn.text(app)
    assert len(rows(app)) == 1, "the other column is there at once"
    next(button for button in app.button if button.label == "Compare").click().run()
    drawn.assert_sound(app)
    assert debate.count("debate") == 1
    assert len(rows(app)) == 2
    app.run()
    assert debate.count("debate") == 1, "it is kept"


def test_an_error_of_a_model_is_told_once_and_not_tried_again_by_itself(
    home: Workbench, visit: Visit, debate: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    tried: list[str] = []
    retrieve = Workbench.retrieve

    def fail(bench: Workbench, index: Any, question: str, strategy_name: str = "leanrag", **options: Any) -> Trace:
        if strategy_name == "debate":
            tried.append(question)
            raise LeanRAGError("the model is gone")
        return retrieve(bench, index, question, strategy_name, **options)

    monkeypatch.setattr(Workbench, "retrieve", fail)
    app = visit("compare", home, q=QUESTION, a_strategy="debate")
    next(button for button in app.button if button.label == "Compare").click().run()
    drawn.assert_sound(app)
    assert "The model is gone." in drawn.text(app)
    assert tried == [QUESTION]
    app.run()
    assert tried == [QUESTION]


def test_a_column_that_calls_a_model_is_not_run_over_the_set_before_a_person_asks(
    home: Workbench, visit: Visit, debate: list[str], gold: None
) -> None:
    app = visit("compare", home, cview="set", a_strategy="debate")
    drawn.assert_sound(app)
    assert "debate" not in debate
    app.button("set_run_a").click().run()
    drawn.assert_sound(app)
    assert debate.count("debate") == 2
    app.run()
    assert debate.count("debate") == 2


def test_the_steps_of_a_strategy_of_several_calls_are_heard_as_they_come(
    home: Workbench, visit: Visit, debate: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    retrieve = Workbench.retrieve
    shown: list[str] = []

    def steps(bench: Workbench, index: Any, question: str, strategy_name: str = "leanrag", **options: Any) -> Trace:
        on_step = options.pop("on_step", None)
        trace = retrieve(bench, index, question, strategy_name, **options)
        if on_step is not None:
            on_step(trace.steps[0])
            [heard] = session._steps().values()
            shown.append(str(result_view.steps_so_far(heard, 3)))
        return trace

    monkeypatch.setattr(Workbench, "retrieve", steps)
    app = visit("compare", home, q=QUESTION, a_strategy="debate")
    next(button for button in app.button if button.label == "Compare").click().run()
    drawn.assert_sound(app)
    [markup] = shown
    assert "<b>" in markup
    assert markup.count("<div><b>") == 1, "the first step is said before the second one is there"
