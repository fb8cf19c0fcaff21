"""Copy as Python on Ask, Compare, the board and Explore: closed until a person opens it, repeating what is shown."""

from collections.abc import Callable
from typing import Any

from streamlit.testing.v1 import AppTest

from leanrag_core import Workbench
from leanrag_core.comparing.board import PASSAGES
from tests.app import drawn
from tests.app.conftest import QUESTIONS

Visit = Callable[..., AppTest]
HOSTILE = 'Is \'); raise SystemExit # "less" than 蜜蜂 $(exit 3)?\u202e'


def opened(app: AppTest, key: str) -> dict[str, Any]:
    """Run the Python of the page and return what it leaves behind; the command stands below it."""
    assert not app.code
    app.session_state[key] = True
    app.run()
    drawn.assert_sound(app)
    python, command = (block.value for block in app.code)
    assert command.startswith("LEANRAG_HOME=")
    names: dict[str, Any] = {}
    exec(python, names)
    return names


def test_ask_repeats_its_question_with_its_settings(home: Workbench, visit: Visit) -> None:
    made = opened(visit("ask", home, q=HOSTILE, n="3", leanrag_entity_tokens="80"), "copy_code")
    assert made["trace"].question == HOSTILE
    expected = home.retrieve(home.indexes.all()[0].id, HOSTILE, top_n=3, entity_tokens=80)
    assert made["trace"].parameters == expected.parameters
    assert made["trace"].context == expected.context


def test_compare_repeats_its_columns_under_an_equal_budget(home: Workbench, visit: Visit) -> None:
    app = visit("compare", home, q=QUESTIONS[0]["question"], cols="abc", a_n="2", budget="equal", equal="300")
    made = opened(app, "compare_code")
    assert {letter: trace.strategy for letter, trace in made["traces"].items()} == {
        "A": "leanrag",
        "B": "vector",
        "C": "lightrag",
    }
    assert made["traces"]["A"].parameters["top_n"] == 2
    assert {trace.parameters["max_tokens"] for trace in made["traces"].values()} == {300}
    assert all(answer.text for answer in made["answers"].values())


def test_the_board_repeats_the_setting_and_the_pinned_one(home: Workbench, visit: Visit) -> None:
    app = visit("compare", home, cview="board", bset="top_n=2", bpin="-")
    (shown,) = drawn.component(app, "lr_board")
    made = opened(app, "board_code")
    assert {name: options for name, (_, _, options) in made["settings"].items()} == {"now": {"top_n": 2}, "pinned": {}}
    for name in ("now", "pinned"):
        assert made["scores"][name].interval(PASSAGES).value == shown[name]["y"]
        assert made["scores"][name].token_interval().value == shown[name]["x"]
    alone = opened(visit("compare", home, cview="board", bset="top_n=2", bpin="top_n=2"), "board_code")
    assert list(alone["scores"]) == ["now"]


def test_explore_repeats_the_chosen_entity_its_filters_and_the_view(home: Workbench, visit: Visit) -> None:
    index = home.indexes.open(home.indexes.all()[0].id)
    cluster = index.layers[1].entity(1)
    made = opened(visit("explore", home, view="clusters", node=cluster.id, connected="main"), "explore_code")
    assert made["thing"].name == cluster.name
    assert made["filters"].connected == "main"
    assert len(made["quality"].sizes) == len(index.layers[1])
    for view, name in (("schema", "schema"), ("map", "shown"), ("islands", "layer"), ("graph", "index")):
        assert name in opened(visit("explore", home, view=view), "explore_code")
