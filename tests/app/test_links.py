"""A URL is what anyone may send: what fits is taken, what does not is passed over."""

from collections.abc import Callable
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from leanrag_core import Workbench
from tests.app import drawn

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
        "use": HOSTILE,
        "step": "0",
        "node": HOSTILE,
        "show": "no",
        "leanrag_seed_layers": HOSTILE,
        "leanrag_entity_tokens": "1e999",
    },
}


@pytest.mark.parametrize("page", list(NONSENSE))
def test_nonsense_in_a_url_is_passed_over(page: str, home: Workbench, visit: Visit, launched: list[Path]) -> None:
    app = visit(page, home, index="../../x", **NONSENSE[page], unknown=HOSTILE)
    drawn.assert_sound(app)
    assert app.query_params["index"] == home.indexes()[0].id
    assert "unknown" not in app.query_params
    assert launched == []
    assert not (home.root.parent / "x").exists()


@pytest.mark.parametrize("page", list(NONSENSE))
def test_nonsense_in_a_url_does_no_harm_without_an_index(page: str, empty_home: Workbench, visit: Visit) -> None:
    drawn.assert_sound(visit(page, empty_home, index="../../x", **NONSENSE[page]))


@pytest.mark.parametrize("value", ["a/../../../etc/passwd", "\u202ea\x00b", "..", "9" * 5000], ids=range(4))
def test_no_id_of_a_url_becomes_a_path(value: str, home: Workbench, visit: Visit) -> None:
    drawn.assert_sound(visit("build", home, index=value, job=value, corpus=value, b_seed=value))
    app = visit("ask", home, index=value, n=value, node=value, q="What do beekeepers use?", strategy=value)
    drawn.assert_sound(app)
    assert app.slider("lr_n").value == 10


def test_a_job_that_is_not_there_is_told(home: Workbench, visit: Visit) -> None:
    app = visit("build", home, job="20200101-000000-abcdef")
    assert "No job '20200101-000000-abcdef'" in drawn.text(app)
    assert "job" not in app.query_params


def test_a_corpus_that_is_not_there_is_told_and_another_one_shown(home: Workbench, visit: Visit) -> None:
    app = visit("library", home, corpus="<b>gone</b>")
    drawn.assert_sound(app)
    assert "The corpus <b>gone</b> is not here." in drawn.text(app)
    assert "Bees in rape" in drawn.text(app)


def test_an_index_that_is_not_there_is_told_and_another_one_shown(home: Workbench, visit: Visit) -> None:
    app = visit("explore", home, index="<b>gone</b>")
    drawn.assert_sound(app)
    assert f"The index <b>gone</b> is not here, so {home.indexes()[0].name} is shown instead." in drawn.text(app)
    assert "is not here" not in drawn.text(visit("explore", home, index=home.indexes()[0].id))


def test_numbers_of_a_url_set_the_controls_within_their_bounds(home: Workbench, visit: Visit) -> None:
    app = visit("ask", home, n="4", c="2", use="findings", leanrag_match_names="1")
    drawn.assert_sound(app)
    assert (app.slider("lr_n").value, app.slider("lr_c").value) == (4, 2)
    assert app.pills("lr_use").value == ["findings"]
    assert app.query_params["n"] == "4"
    over = visit("ask", home, n="100000", c="0")
    drawn.assert_sound(over)
    assert over.slider("lr_n").value == 10


def test_a_link_to_a_setting_of_a_build_fills_the_form(home: Workbench, visit: Visit) -> None:
    app = visit("build", home, b_cluster_size="7", b_tau="q0.5", b_size_cap="0")
    drawn.assert_sound(app)
    assert app.number_input("lr_b_cluster_size").value == 7
    assert app.text_input("lr_b_tau").value == "q0.5"
    assert app.toggle("lr_b_size_cap").value is False
    assert not app.button("primary_build").disabled


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ({"b_chunk_tokens": "64", "b_overlap_tokens": "128"}, "must be smaller than chunk_tokens"),
        ({"b_tau": "<b>much</b>"}, "is not understood: give a number from 0 up"),
    ],
)
def test_settings_that_cannot_be_built_are_told_before_the_build(
    url: dict[str, str], said: str, home: Workbench, visit: Visit
) -> None:
    app = visit("build", home, **url)
    drawn.assert_sound(app)
    assert said in drawn.text(app)
    assert app.button("primary_build").disabled


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


def test_the_way_back_leads_to_what_was_shown_before(home: Workbench, visit: Visit) -> None:
    app = visit("ask", home)
    app.slider("lr_n").set_value(9).run()
    app.slider("lr_c").set_value(3).run()
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
        app.switch_page(f"../{page}.py").run()
    assert app.slider("lr_n").value == 9
