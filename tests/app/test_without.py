"""Without this on Ask: something is taken out, and what changes is shown."""

from collections.abc import Callable

from streamlit.testing.v1 import AppTest

from leanrag_core import Workbench
from leanrag_core.comparing.without import answer_changes
from tests.app import drawn

Visit = Callable[..., AppTest]
QUESTION = "What do beekeepers use against Varroa destructor?"


def test_a_chunk_is_taken_out_and_put_back(home: Workbench, visit: Visit) -> None:
    index = home.indexes.open(home.indexes.all()[0].id)
    before = home.ask(index, QUESTION, top_n=4, top_c=2)
    chunk = next(item.ref for item in before.trace.context.section("chunks").items if item.mark in before.citations)
    app = visit("ask", home, q=QUESTION, n="4", c="2")
    app.multiselect("lr_without").set_value([chunk]).run()
    drawn.assert_sound(app)
    assert app.query_params["without"] == chunk
    after = home.answer(index, home.explanations.without(index, before.trace, [chunk]).trace)
    changed = answer_changes(before, after)
    said = drawn.text(app)
    assert "Retrieved anew without it" in said
    assert changed.moved, "the sentences are in descriptions of entities too, which are cited instead"
    assert all(text in said for text in (*changed.gone, *changed.new, *(moved.text for moved in changed.moved)))
    assert "Bees in rape, chunk 1" in said
    app.multiselect("lr_without").set_value([]).run()
    drawn.assert_sound(app)
    assert "Retrieved anew without it" not in drawn.text(app)
    assert "without" not in app.query_params


def test_a_link_holds_what_is_taken_out_and_a_seed_makes_room_for_the_next(home: Workbench, visit: Visit) -> None:
    index = home.indexes.open(home.indexes.all()[0].id)
    seeds = home.retrieve(index, QUESTION, top_n=3).with_role("seed")
    app = visit("ask", home, q=QUESTION, n="2", without=seeds[0].id)
    drawn.assert_sound(app)
    assert app.multiselect("lr_without").value == [seeds[0].id]
    assert f"Seed: \u2068{seeds[2].name}\u2069" in drawn.text(app) or f"Seed: {seeds[2].name}" in drawn.text(app)
    rest = visit("ask", home, q=QUESTION, n="2", without="nothing")
    drawn.assert_sound(rest)
    assert rest.multiselect("lr_without").value == []


def test_a_strategy_that_cannot_leave_anything_out_sends_the_same_context_without_it(
    home: Workbench, visit: Visit
) -> None:
    index = home.indexes.open(home.indexes.all()[0].id)
    ref = home.retrieve(index, QUESTION, "hyde").context.sections[-1].items[0].ref
    app = visit("ask", home, q=QUESTION, strategy="hyde", without=ref)
    drawn.assert_sound(app)
    assert "The same context is sent without its lines." in drawn.text(app)
