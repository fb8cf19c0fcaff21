"""Ask's panel of what the structure brought, and of the rivals' tokens."""

from collections.abc import Callable

import pytest
from streamlit.testing.v1 import AppTest

from leanrag_core import Workbench
from leanrag_core.workbench import explanations
from pages.ask.structure_view import RIVALS
from tests.app import drawn

QUESTION = "What do beekeepers use against Varroa destructor?"
Visit = Callable[..., AppTest]


def test_the_panel_says_what_the_core_counts(home: Workbench, visit: Visit) -> None:
    index = home.indexes.open(home.indexes.all()[0].id)
    trace = home.retrieve(index, QUESTION)
    structure = home.explanations.structure(index, trace, home.answer(index, trace))
    assert structure.brought
    app = visit("ask", home, q=QUESTION)
    drawn.assert_sound(app)
    text = drawn.text(app)
    assert f"{len(structure.brought)} of {structure.items} items came by the climb alone," in text
    assert f"{structure.brought_tokens:,} of {structure.tokens:,} tokens." in text


def test_the_rivals_are_counted_when_a_person_asks_for_it_and_stay_counted(home: Workbench, visit: Visit) -> None:
    app = visit("ask", home, q=QUESTION)
    naive = home.retrieve(home.indexes.all()[0].id, QUESTION, RIVALS[0])
    assert "the others take" not in drawn.text(app)
    app.button("count_rivals").click().run()
    drawn.assert_sound(app)
    assert "the others take" in drawn.text(app)
    assert f"{naive.context.tokens:,}" in drawn.text(app)
    app.run()
    assert "the others take" in drawn.text(app)
    assert not [button for button in app.button if button.key == "count_rivals"]


def test_many_relations_are_ranked_when_a_person_asks_for_it(
    home: Workbench, visit: Visit, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(explanations, "MOST_RELATIONS", 0)
    app = visit("ask", home, q=QUESTION)
    drawn.assert_sound(app)
    assert "not ranked yet" in drawn.text(app)
    app.button("rank_all").click().run()
    drawn.assert_sound(app)
    assert "not ranked yet" not in drawn.text(app)
    index = home.indexes.open(home.indexes.all()[0].id)
    ranked = home.explanations.structure(index, home.retrieve(index, QUESTION), rank_all=True)
    assert ranked.unranked == 0
    assert f"{len(ranked.brought)} of {ranked.items} items" in drawn.text(app)


def test_a_system_without_a_hierarchy_has_no_such_panel(home: Workbench, visit: Visit) -> None:
    app = visit("ask", home, q=QUESTION, strategy="bm25")
    drawn.assert_sound(app)
    assert "What the structure brought" not in drawn.text(app)
