"""Columns of the Compare page whose strategies call a model: run when a person says so."""

from collections.abc import Callable
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from leanrag_core import Workbench
from leanrag_core.errors import LeanRAGError
from leanrag_core.types.trace import Trace
from pages.ask import result_view
from pages.common import session
from tests.app import drawn
from tests.app.compared import QUESTION, rows

Visit = Callable[..., AppTest]


pytestmark = pytest.mark.usefixtures("debate")


def test_a_strategy_that_calls_a_model_runs_when_compare_is_pressed_and_not_before(
    home: Workbench, visit: Visit, retrieved: list[str]
) -> None:
    app = visit("compare", home, q=QUESTION, a_strategy="debate")
    drawn.assert_sound(app)
    assert "debate" not in retrieved
    assert "Press Compare to run it." in drawn.text(app)
    assert len(rows(app)) == 1, "the other column is there at once"
    next(button for button in app.button if button.label == "Compare").click().run()
    drawn.assert_sound(app)
    assert retrieved.count("debate") == 1
    assert len(rows(app)) == 2
    app.run()
    assert retrieved.count("debate") == 1, "it is kept"


def test_an_error_of_a_model_is_told_once_and_not_tried_again_by_itself(
    home: Workbench, visit: Visit, retrieved: list[str], monkeypatch: pytest.MonkeyPatch
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


def test_the_steps_of_a_strategy_of_several_calls_are_heard_as_they_come(
    home: Workbench, visit: Visit, retrieved: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    retrieve = Workbench.retrieve
    shown: list[str] = []

    def steps(bench: Workbench, index: Any, question: str, strategy_name: str = "leanrag", **options: Any) -> Trace:
        on_step = options.pop("on_step", None)
        trace = retrieve(bench, index, question, strategy_name, **options)
        if on_step is not None:
            on_step(trace.steps[0])
            [heard] = session.retrievals()._under_way
            shown.append(str(result_view.steps_so_far(session.retrievals().pieces(heard), 3)))
        return trace

    monkeypatch.setattr(Workbench, "retrieve", steps)
    app = visit("compare", home, q=QUESTION, a_strategy="debate")
    next(button for button in app.button if button.label == "Compare").click().run()
    drawn.assert_sound(app)
    [markup] = shown
    assert "<b>" in markup
    assert markup.count("<div><b>") == 1, "the first step is said before the second one is there"
