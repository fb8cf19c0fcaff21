"""A URL is what anyone may send: what fits is taken, what does not is passed over."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from leanrag_core import Workbench
from leanrag_core.workbench.indexes import Indexes
from pages.common import state
from tests.app import drawn
from tests.app.conftest import CORPUS

Visit = Callable[..., AppTest]
HOSTILE = "<script>alert(1)</script>"
NONSENSE = {
    "library": {"corpus": "../../x", "doc": HOSTILE},
    "build": {"corpus": HOSTILE, "job": "../../x", "b_chunk_tokens": "abc", "b_tau": HOSTILE, "b_size_cap": "perhaps"},
    "explore": {"node": HOSTILE, "view": "[x](javascript:alert(1))", "rel": "../../x"},
    "ask": {
        "q": "",
        "strategy": "$x$",
        "n": "abc",
        "c": "-5",
        "leanrag_use": HOSTILE,
        "step": "0",
        "node": HOSTILE,
        "show": "no",
        "leanrag_seed_layers": HOSTILE,
        "leanrag_entity_tokens": "1e999",
    },
}


@pytest.mark.parametrize("page", list(NONSENSE))
def test_nonsense_in_a_url_is_passed_over(page: str, home: Workbench, visit: Visit, launched: list[Path]) -> None:
    app = visit(page, home, **NONSENSE[page], unknown=HOSTILE)
    drawn.assert_sound(app)
    shown = dict(app.query_params)
    assert shown.pop("index") == home.indexes.all()[0].id
    assert shown.pop("corpus", CORPUS) == CORPUS
    told_where_it_stands = {"library": {"doc"}, "build": {"b_tau"}, "explore": {"rel"}, "ask": {"node", "show", "step"}}
    assert shown.keys() == told_where_it_stands[page]
    assert launched == []
    assert not (home.root.parent / "x").exists()


@pytest.mark.parametrize("page", list(NONSENSE))
def test_nonsense_in_a_url_does_no_harm_without_an_index(page: str, empty_home: Workbench, visit: Visit) -> None:
    drawn.assert_sound(visit(page, empty_home, index="../../x", **NONSENSE[page]))


@pytest.mark.parametrize("value", ["a/../../../etc/passwd", "\u202ea\x00b", "..", "9" * 5000], ids=range(4))
def test_no_id_of_a_url_becomes_a_path(value: str, home: Workbench, visit: Visit) -> None:
    drawn.assert_sound(visit("build", home, index=value, job=value, corpus=value, b_seed=value))
    drawn.assert_sound(visit("ask", home, index=value, q="What do beekeepers use?"))
    app = visit("ask", home, n=value, node=value, q="What do beekeepers use?", strategy=value)
    drawn.assert_sound(app)
    assert app.slider("lr_n").value == 10


def test_a_job_that_is_not_there_is_reported(home: Workbench, visit: Visit) -> None:
    app = visit("build", home, job="20200101-000000-abcdef")
    assert "No job '20200101-000000-abcdef'" in drawn.text(app)
    assert "job" not in app.query_params


def test_a_corpus_that_is_not_there_is_reported_and_another_one_shown(home: Workbench, visit: Visit) -> None:
    app = visit("library", home, corpus="<b>gone</b>")
    drawn.assert_sound(app)
    assert "There is no corpus <b>gone</b> here." in drawn.text(app)
    assert "Bees in rape" in drawn.text(app)


def test_a_build_of_a_corpus_that_is_gone_is_reported_before_another_one_is_built(
    home: Workbench, visit: Visit
) -> None:
    app = visit("build", home, corpus="<b>gone</b>")
    drawn.assert_sound(app)
    assert "The corpus <b>gone</b> is not here, so Bees is chosen." in drawn.text(app)
    app.number_input("lr_b_cluster_size").set_value(9).run()
    assert "is not here" in drawn.text(app)
    assert "is not here" not in drawn.text(visit("build", home, corpus=CORPUS))


@pytest.mark.parametrize("page", ["ask", "explore"])
def test_a_link_to_an_index_that_is_gone_is_reported_and_no_other_replaces_it(
    page: str, home: Workbench, visit: Visit, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []
    monkeypatch.setattr(Workbench, "retrieve", lambda *args, **options: asked.append("retrieved"))
    monkeypatch.setattr(Indexes, "open", lambda *args, **options: asked.append("opened"))
    app = visit(page, home, index="<b>gone</b>", q="What do beekeepers use?", n="4")
    drawn.assert_sound(app)
    assert "This index is not here. The index <b>gone</b> was deleted" in drawn.text(app)
    assert "Choose one of the indexes in the sidebar, or build it again." in drawn.text(app)
    assert app.selectbox("lr_index").value is None
    assert (asked, app.query_params["index"]) == ([], "<b>gone</b>")
    app.button("gone_build").click().run()
    assert "From documents to a hierarchy" in drawn.text(app)


def test_after_a_link_to_an_index_that_is_gone_another_one_can_be_chosen(home: Workbench, visit: Visit) -> None:
    app = visit("ask", home, index="gone", q="What do beekeepers use?", n="4")
    app.selectbox("lr_index").set_value(home.indexes.all()[0].id).run()
    drawn.assert_sound(app)
    assert app.slider("lr_n").value == 4
    assert app.text_area("lr_draft").value == "What do beekeepers use?"
    assert app.query_params["index"] == home.indexes.all()[0].id
    assert "is not here" not in drawn.text(app)


def test_numbers_of_a_url_set_the_controls_within_their_bounds(home: Workbench, visit: Visit) -> None:
    app = visit("ask", home, n="4", c="2", leanrag_use="findings", leanrag_match_names="1")
    drawn.assert_sound(app)
    assert (app.slider("lr_n").value, app.slider("lr_c").value) == (4, 2)
    assert app.pills("lr_use").value == ["findings"]
    assert app.query_params["n"] == "4"
    over = visit("ask", home, n="100000", c="0")
    drawn.assert_sound(over)
    assert over.slider("lr_n").value == 10


def test_a_number_that_strategies_share_has_one_name_in_links_in_the_row_or_not(home: Workbench, visit: Visit) -> None:
    app = visit("ask", home, strategy="e2graphrag", c="7")
    drawn.assert_sound(app)
    assert app.number_input("lr_c").value == 7
    app.number_input("lr_c").set_value(30).run()
    assert app.query_params["c"] == "30"
    app.selectbox("lr_strategy").set_value("raptor").run()
    assert app.slider("lr_c").value == 30


def test_a_link_to_a_setting_of_a_build_fills_the_form(home: Workbench, visit: Visit) -> None:
    app = visit("build", home, b_cluster_size="7", b_tau="q0.5", b_size_cap="0")
    drawn.assert_sound(app)
    assert app.number_input("lr_b_cluster_size").value == 7
    assert app.text_input("lr_b_tau").value == "q0.5"
    assert app.toggle("lr_b_size_cap").value is False
    assert not app.button("primary_build").disabled


@pytest.mark.parametrize(
    ("url", "expected_text"),
    [
        ({"b_chunk_tokens": "64", "b_overlap_tokens": "128"}, "must be smaller than Chunk size, tokens"),
        ({"b_tau": "<b>much</b>"}, "is not understood: give a number from 0 up"),
    ],
)
def test_settings_that_cannot_be_built_are_reported_before_the_build(
    url: dict[str, str], expected_text: str, home: Workbench, visit: Visit
) -> None:
    app = visit("build", home, **url)
    drawn.assert_sound(app)
    assert expected_text in drawn.text(app)
    assert app.button("primary_build").disabled


def test_a_wrong_tau_is_shown_at_its_field_and_moves_nothing_else(home: Workbench, visit: Visit) -> None:
    app = visit("build", home, b_cluster_size="7", b_chunk_tokens="48", b_overlap_tokens="8", b_tau="4")
    before, fields = forecast_and_fields(app)
    app.text_input("lr_b_tau").input("abc").run()
    drawn.assert_sound(app)
    forecast, now = forecast_and_fields(app)
    assert (forecast, now) == (before, fields | {"lr_b_tau": "abc"})
    assert "Tau is 'abc', of which 'abc' is not understood" in drawn.text(app)
    assert "go together" not in drawn.text(app)
    assert app.button("primary_build").disabled
    app.text_input("lr_b_tau").input("q0.5").run()
    assert not app.button("primary_build").disabled
    assert forecast_and_fields(app) == (before, fields | {"lr_b_tau": "q0.5"})


def forecast_and_fields(app: AppTest) -> tuple[str, dict[str, Any]]:
    forecast = drawn.text(app).partition("Forecast")[2].partition("Language-model calls")[0]
    assert "Chunks" in forecast
    return forecast, {
        field.key: field.value for field in (*app.number_input, *app.text_input, *app.toggle, *app.selectbox)
    }


def test_a_slider_that_is_moved_before_the_browser_has_heard_of_the_last_url_stays_moved(
    home: Workbench, visit: Visit
) -> None:
    app = visit("ask", home)
    for value in (9, 8):
        app.slider("lr_n").set_value(value).run()
    app.query_params["n"] = "9"  # what the browser sends along when it is behind
    app.slider("lr_n").set_value(7).run()
    assert app.slider("lr_n").value == 7
    assert app.query_params["n"] == "7"


@pytest.mark.parametrize("late", [{}, {"b_engine": "Built-in"}, {"b_tau": "9"}], ids=["bare", "older", "other"])
def test_what_was_chosen_stays_when_the_browser_is_behind(late: dict[str, str], home: Workbench, visit: Visit) -> None:
    app = visit("build", home)
    app.segmented_control("lr_b_engine").set_value("Endpoint").run()
    app.query_params.clear()
    app.query_params.update(late)  # what the browser sends along with the next field, having heard of nothing newer
    app.number_input("budget_tokens").set_value(9000).run()
    assert app.segmented_control("lr_b_engine").value == "Endpoint"
    assert app.number_input("budget_tokens").value == 9000
    assert app.query_params["b_engine"] == "Endpoint"
    assert app.query_params["b_tokens"] == "9000"
    assert "b_tau" not in app.query_params


def test_the_way_back_leads_to_what_was_shown_before(
    home: Workbench, visit: Visit, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = visit("ask", home)
    app.slider("lr_n").set_value(9).run()
    app.slider("lr_c").set_value(3).run()
    monkeypatch.setattr(state, "_came_by_history", lambda: True)
    del app.query_params["c"]
    app.run()
    assert (app.slider("lr_n").value, app.slider("lr_c").value) == (9, 5)
    del app.query_params["n"]
    app.run()
    assert (app.slider("lr_n").value, app.slider("lr_c").value) == (10, 5)
    assert "n" not in app.query_params


def test_a_page_that_is_left_and_entered_again_forgets_nothing(home: Workbench, visit: Visit) -> None:
    app = visit("ask", home)
    app.slider("lr_n").set_value(9).run()
    for page in ("explore", "ask"):
        app.query_params.clear()  # as a link of the navigation does
        app.switch_page(f"../{page}/page.py").run()
    assert app.slider("lr_n").value == 9
