"""Index parts that a question needs and the index lacks, on Ask and Compare: made at once, or offered."""

from collections.abc import Callable
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from leanrag_core import Workbench
from leanrag_core.jobs.events import JobLog, read_spec
from pages.ask import part_view
from tests.app import drawn
from tests.app.conftest import QUESTIONS

Visit = Callable[..., AppTest]
QUESTION = QUESTIONS[0]["question"]


@pytest.fixture
def nothing_is_quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(part_view, "_QUICK_SECONDS", -1.0)


def finished(home: Workbench) -> list[str]:
    return [part.name for part in home.parts.all(home.indexes.open(home.indexes.all()[0].id)) if part.finished]


@pytest.mark.parametrize("page", ["ask", "compare"])
def test_parts_that_take_seconds_are_made_for_the_question(
    home: Workbench, visit: Visit, launched: list[Path], page: str
) -> None:
    names = {"strategy": "youtu"} if page == "ask" else {"b_strategy": "youtu"}
    app = visit(page, home, q=QUESTION, **names)
    drawn.assert_sound(app)
    assert finished(home), "the strategy had its parts"
    assert "made first: " in drawn.text(app)
    assert "needs the index part" not in drawn.text(app)
    app.run()
    assert "made first: " in drawn.text(app), "it is said while the question stands"
    assert launched == []


def test_the_board_makes_parts_that_take_seconds_and_offers_to_make_others(
    home: Workbench, visit: Visit, launched: list[Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(part_view, "_QUICK_SECONDS", -1.0)
        app = visit("compare", home, cview="board", bsys="lightrag")
        drawn.assert_sound(app)
        assert "LightRAG needs the index part" in drawn.text(app)
        assert drawn.component(app, "lr_board") == []
        app.button("board_make_part").click().run()
        assert [read_spec(job).config["part"] for job in launched] == ["relation_vectors"]
        JobLog(launched[0]).write("cancelled", error="Stopped as asked.")
    app = visit("compare", home, cview="board", bsys="lightrag")
    drawn.assert_sound(app)
    assert len(drawn.component(app, "lr_board")) == 1
    assert "made first: " in drawn.text(app)
    assert "relation_vectors" in finished(home)


def test_over_the_set_parts_that_take_seconds_are_made_and_others_offered(
    home: Workbench, visit: Visit, launched: list[Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(part_view, "_QUICK_SECONDS", -1.0)
        app = visit("compare", home, cview="set", b_strategy="lightrag")
        drawn.assert_sound(app)
        assert "LightRAG needs the index part" in drawn.text(app)
        assert app.button("b_make_part")
    app = visit("compare", home, cview="set", b_strategy="lightrag")
    drawn.assert_sound(app)
    assert "needs the index part" not in drawn.text(app)
    assert "relation_vectors" in finished(home)
    assert launched == []


def test_the_answer_stays_while_a_part_is_missing_and_the_question_is_asked_when_it_is_made(
    home: Workbench, visit: Visit, launched: list[Path], nothing_is_quick: None
) -> None:
    app = visit("ask", home, q=QUESTION)
    app.selectbox("lr_strategy").set_value("youtu").run()
    drawn.assert_sound(app)
    assert "needs the index part" in drawn.text(app)
    assert "Still shown: LeanRAG" in drawn.text(app)
    assert launched == [], "nothing is made before a person says so"
    app.button("make_part").click().run()
    while "Making " in drawn.text(app):
        spec = read_spec(launched[-1])
        home.parts.build(home.indexes.open(home.indexes.all()[0].id), str(spec.config["part"]))
        JobLog(launched[-1]).write("done", result="made")
        app.run()
        drawn.assert_sound(app)
    assert "needs the index part" not in drawn.text(app)
    assert "Still shown" not in drawn.text(app), "it was asked by itself"


def test_all_parts_are_made_by_one_click(
    home: Workbench, visit: Visit, launched: list[Path], nothing_is_quick: None
) -> None:
    lacking = {part.name for part in home.parts.lacking(home.indexes.open(home.indexes.all()[0].id))}
    app = visit("ask", home, q=QUESTION, strategy="youtu")
    assert app.button("make_all_parts").label == f"Make all {len(lacking)} parts"
    app.button("make_all_parts").click().run()
    drawn.assert_sound(app)
    made = [str(read_spec(folder).config["part"]) for folder in launched]
    assert len(made) == len(lacking)
    assert set(made) == lacking
    assert "Making " in drawn.text(app)


def test_a_part_is_made_after_those_that_it_needs(home: Workbench) -> None:
    index = home.indexes.open(home.indexes.all()[0].id)
    lacking = [part.name for part in home.parts.lacking(index)]
    assert lacking.index("schema") < lacking.index("youtu_tree")
    home.parts.build(index, "youtu_tree")
    assert {"schema", "youtu_tree"} <= set(finished(home))
    assert not {"schema", "youtu_tree"} & {part.name for part in home.parts.lacking(index)}
