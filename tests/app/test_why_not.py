"""Why not this? on Ask: the stages, and settings that are taken over by a click."""

from collections.abc import Callable

from streamlit.testing.v1 import AppTest

from leanrag_core import Workbench
from tests.app import drawn

Visit = Callable[..., AppTest]
QUESTION = "What do beekeepers use against Varroa destructor?"


def test_a_lost_entity_is_followed_and_found_by_the_seeds_that_are_offered(home: Workbench, visit: Visit) -> None:
    index = home.indexes.open(home.indexes.all()[0].id)
    fifth = home.retrieve(index, QUESTION, top_n=5).with_role("seed")[4]
    app = visit("ask", home, q=QUESTION, n=2)
    app.text_input("lr_why").set_value(fifth.name).run()
    drawn.assert_sound(app)
    said = drawn.text(app)
    assert "Lost at step 4, “Seed”, by 3 places." in said
    assert f"ank 5 of {len(index.layers[0])}" in said
    assert app.query_params["why"] == fifth.name
    offer = app.button("why_offer_0")
    assert offer.label.startswith("Top\\-N seeds 5, \\+")
    offer.click().run()
    drawn.assert_sound(app)
    assert app.query_params["n"] == "5"
    assert "Nothing was lost: the context holds it." in drawn.text(app)


def test_the_panel_is_restored_from_its_link_and_suggests_names(home: Workbench, visit: Visit) -> None:
    app = visit("ask", home, q=QUESTION, why="<b>Varro")
    drawn.assert_sound(app)
    assert "Lost at step 1, “In the documents”." in drawn.text(app)
    app.text_input("lr_why").set_value("varroa destr").run()
    drawn.assert_sound(app)
    named = next(button for button in app.button if button.key == "why_name_Varroa destructor")
    named.click().run()
    drawn.assert_sound(app)
    assert app.text_input("lr_why").value == "Varroa destructor"


def test_it_is_answered_for_a_strategy_without_a_graph(home: Workbench, visit: Visit) -> None:
    app = visit("ask", home, q=QUESTION, strategy="vector", c=1, why="Lorenzo Langstroth")
    drawn.assert_sound(app)
    assert "This strategy retrieves no entities" in drawn.text(app)
    assert "Lost at step 3, “In a chosen chunk”" in drawn.text(app)
    assert app.button("why_offer_0").label.startswith("Top\\-C chunks ")
