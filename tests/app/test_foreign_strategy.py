"""Ask with a strategy whose roles, kinds, sections, letters and steps no page has ever heard of."""

import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from leanrag_core import Workbench
from leanrag_core.retrieval import strategies
from tests.app import drawn
from tests.app.conftest import QUESTIONS

QUESTION = QUESTIONS[0]["question"]
FOLDER = Path(__file__).parents[1] / "contract" / "strategies"
PAGE_OF_TWO = Path(__file__).with_name("two_panels.py")
Visit = Callable[..., AppTest]


@pytest.fixture(autouse=True)
def _foreign_strategies(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(strategies, "__path__", [*strategies.__path__, str(FOLDER)])
    yield
    for name in [name for name in sys.modules if name.startswith(f"{strategies.__name__}.zoo")]:
        del sys.modules[name]


def graphs(app: AppTest) -> list[dict[str, Any]]:
    return [shown["play"]["layouts"][-1] for shown in drawn.plays(app)]


def test_steps_sections_and_roles_are_those_of_the_strategy(home: Workbench, visit: Visit) -> None:
    app = visit("ask", home, q=QUESTION, strategy="zoo_keeper")
    drawn.assert_sound(app)
    text = drawn.text(app)
    for declared in ("Hunches", "Proofs", "Hunches may be wrong."):
        assert declared in text
    [shown] = drawn.plays(app)
    play = shown["play"]
    assert {"Part of the question", "Hunch", "Supports"} <= {sign["title"] for sign in play["signs"]}
    assert [row["label"] for row in play["layouts"][-1]["rows"]] == ["Sub question", "Hunch"]
    assert play["cards"][-1]["label"] == "Proofs"
    said = [frame["lead"] + frame["rest"] for frame in play["frames"]]
    for caption in ("The question is halved.", "Guessed.", "Proved."):
        assert caption in said


def test_its_own_answer_is_shown_with_its_marks(home: Workbench, visit: Visit) -> None:
    app = visit("ask", home, q=QUESTION, strategy="zoo_keeper")
    [answer] = drawn.component(app, "lr_citations")
    [mark] = answer["parts"][0]["marks"]
    assert mark["name"] == "HU1"
    assert "hunch" in mark["title"].lower()


def test_what_changed_is_listed_by_role(home: Workbench, visit: Visit) -> None:
    app = visit("ask", home, q=QUESTION, strategy="zoo_keeper")
    app.slider("lr_zoo_keeper_proofs").set_value(1).run()
    drawn.assert_sound(app)
    assert "What changed" in drawn.text(app)


def test_its_options_are_in_the_row_where_it_says_so_and_in_links(home: Workbench, visit: Visit) -> None:
    app = visit("ask", home, q=QUESTION, strategy="zoo_keeper", zoo_keeper_proofs="2")
    [slider] = app.slider
    assert (slider.key, slider.value, slider.max) == ("lr_zoo_keeper_proofs", 2, 6)
    slider.set_value(4).run()
    assert app.query_params["zoo_keeper_proofs"] == "4"


def test_it_shares_a_page_with_leanrag(home: Workbench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LEANRAG_HOME", str(home.root))
    app = AppTest.from_file(PAGE_OF_TWO, default_timeout=30)
    app.query_params = {"q": QUESTION, "b_q": QUESTION, "b_strategy": "zoo_keeper"}
    app.run()
    drawn.assert_sound(app)
    left, right = graphs(app)
    assert left["rows"][-1]["label"] == "Layer 0"
    assert right["rows"][-1]["label"] == "Hunch"
