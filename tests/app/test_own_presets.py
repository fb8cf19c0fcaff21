"""Presets of a person on the Build page: chosen, and deleted."""

from collections.abc import Callable

from streamlit.testing.v1 import AppTest

from leanrag_core import IndexConfig, Workbench
from tests.app import drawn

Visit = Callable[..., AppTest]
HOSTILE = "Mine <b>x</b> [a](b) $y$"


def test_a_saved_preset_fills_the_form_and_is_deleted(home: Workbench, visit: Visit) -> None:
    home.presets.save(HOSTILE, IndexConfig(cluster_size=33, tau="5"), {"top_n": 7})
    app = visit("build", home, b_preset=HOSTILE, b_cluster_size="33", b_tau="5")
    drawn.assert_sound(app)
    assert app.number_input("lr_b_cluster_size").value == 33
    app.button("delete_preset").click().run()
    drawn.assert_sound(app)
    assert home.presets.with_shipped()[-1].title == "As released"
    assert app.number_input("lr_b_cluster_size").value == 33, "the form keeps its values"


def test_a_damaged_file_of_presets_leaves_the_programs_own(home: Workbench, visit: Visit) -> None:
    (home.root / "presets.json").write_text("{", encoding="utf-8")
    app = visit("build", home)
    drawn.assert_sound(app)
    assert "presets.json" in drawn.text(app).lower()
