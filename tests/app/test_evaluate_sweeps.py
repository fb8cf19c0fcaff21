"""Sweeps on Evaluate: the finding, three pictures of one chosen point, and what is done with it."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

import leanrag_core.workbench
from leanrag_core import IndexConfig, Workbench
from leanrag_core.errors import InvalidConfig
from leanrag_core.storage.experiments import SweepStore
from leanrag_core.types.sweep import (
    Axis,
    OpenedPoint,
    PointCost,
    PointIndex,
    PointResult,
    SweepPoint,
    SweepResult,
    SweepSpec,
    SweepSummary,
)
from leanrag_core.workbench.sweeps import Sweeps
from pages.common import forms
from pages.evaluate import experiments, sweeps_view
from pages.evaluate.sweep_form import values_of
from tests.app import drawn
from tests.app.conftest import CORPUS

Visit = Callable[..., AppTest]
SPEC = SweepSpec(
    "Sizes", (Axis("cluster_size", (3, 4)), Axis("tau", ("2", "5"))), CORPUS, corpus=CORPUS, config=IndexConfig()
)
# Recall and tokens of each point, over twelve questions: 3 / 2 is best, 4 / 2 is worse for sure, 3 / 5 only in one.
GOOD, NEARLY, BAD = (1.0,) * 12, (1.0,) * 11 + (0.5,), (0.5,) * 10 + (0.4, 0.6)
SCORES = {("3", "2"): (GOOD, 900.0), ("3", "5"): (NEARLY, 700.0), ("4", "2"): (BAD, 800.0), ("4", "5"): (BAD, 600.0)}


def result(*, is_complete: bool = True) -> SweepResult:
    points = []
    for (size, tau), (recall, tokens) in SCORES.items():
        name = f"cluster_size {size}, tau {tau}"
        ranks = (0.5 if size == "3" else 1.0,) * 12
        scores = {"evidence-recall": recall, "context-tokens": (tokens,) * 12, "reciprocal-rank": ranks}
        index = PointIndex(f"i{size}{tau}", "id", 9, (20, 7, 2), (30, 5, 1))
        cost = PointCost(f"i{size}{tau}", 2.0 if (size, tau) == ("3", "2") else 0.5, (size, tau) == ("3", "2"))
        points.append(PointResult(SweepPoint(name, {"cluster_size": int(size), "tau": tau}), index, cost, scores))
    if not is_complete:
        points[-1] = PointResult(points[-1].point)
    questions = tuple(f"q{place}" for place in range(12))
    return SweepResult("sizes", SPEC, tuple(points), questions, ("fact",) * 12, is_complete)


@pytest.fixture
def sweep(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> dict[str, Any]:
    """Return a workbench with one sweep, which records what is asked of it."""
    asked: dict[str, Any] = {"complete": True}

    def summaries(store: SweepStore) -> tuple[SweepSummary, ...]:
        done = asked["complete"]
        return (SweepSummary("sizes", "Sizes", CORPUS, CORPUS, ("cluster_size", "tau"), 4, 4, 48 if done else 36, 48,
                             done, False, f"2026-11-22 {done}"),)  # fmt: skip

    def opened(sweeps: Sweeps, sweep_id: str, name: str, *, language: str) -> OpenedPoint:
        asked["opened"] = name
        return OpenedPoint(sweeps._indexes.store.index_list().indexes[0].id)

    monkeypatch.setattr(leanrag_core.workbench, "SAMPLES", tmp_path / "none")
    monkeypatch.setattr(SweepStore, "all", summaries)
    monkeypatch.setattr(Sweeps, "read", lambda sweeps, id_: result(is_complete=asked["complete"]))
    monkeypatch.setattr(Sweeps, "open_point", opened)
    return asked


def drawings(app: AppTest) -> list[dict[str, Any]]:
    """Return the heat map, the front and the lines, in the narrowest width."""
    return [shown["drawings"][0] for shown in drawn.component(app, "lr_drawing")]


def picked(drawing: dict[str, Any]) -> list[str]:
    return [shape["pick"] for shape in drawing["shapes"] if shape["isPicked"]]


def test_without_a_sweep_the_page_says_what_to_do(
    home: Workbench, visit: Visit, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(leanrag_core.workbench, "SAMPLES", tmp_path / "none")
    app = visit("evaluate", home, tab="sweeps")
    drawn.assert_sound(app)
    assert "No sweep yet." in drawn.text(app)
    assert any(button.key == "primary_sweep" for button in app.button)


def test_the_page_opens_on_a_sweep_that_comes_with_the_program(home: Workbench, visit: Visit) -> None:
    app = visit("evaluate", home, tab="sweeps")
    drawn.assert_sound(app)
    # The passages of a corpus do not depend on its hierarchy: evidence recall is the same at every point.
    said = (
        "Every question has the same score at each of the 25 settings, so the one that reads least will do: "
        "clustersize 50, tau 2, with 3,553 tokens of context; clustersize 5, tau 8 has 4,926."
    )
    assert said in drawn.text(app)
    assert "settings cannot be told from the best" not in drawn.text(app)
    assert len(drawings(app)) == 3
    heard = [shape.get("title") or "" for drawing in drawings(app) for shape in drawing["shapes"]]
    assert "clustersize 5, tau 8: .80, 4,926" in heard
    assert not any("cluster_size" in title for title in heard), "settings are named by their titles"


def test_the_finding_and_three_pictures_agree_on_the_chosen_point(
    home: Workbench, visit: Visit, sweep: dict[str, Any]
) -> None:
    app = visit("evaluate", home, tab="sweeps")
    drawn.assert_sound(app)
    text = drawn.text(app)
    assert "2 of 4 settings cannot be told from the best" in text
    assert "Points: 4. Indexes: 4, built in 3.5 s. Questions of each point: 12." in text
    heat, front, lines = drawings(app)
    # The cheapest of those that are no worse than the best is chosen first.
    assert picked(heat) == picked(front) == ["cluster_size 3, tau 5"]
    texts = [shape["text"] for shape in heat["shapes"] if shape["tag"] == "text"]
    assert {"1.00", "900", ".96", "700", ".50", "800", "600"} <= set(texts)
    assert sum(shape["tag"] == "circle" for shape in heat["shapes"]) == 1, "one other point is no worse than the best"
    thick = [shape["title"] for shape in lines["shapes"] if "stroke-width:3" in str(shape["attributes"].get("style"))]
    assert thick == ["clustersize 3, tau 5"]
    panel = next(body for body in drawn.html(app) if "difference" in drawn.Markup(body).text and "lr-facts" in body)
    assert ".96" in panel
    assert "−200" in panel
    assert "Build time500 ms2.0 s−1.5 s" in drawn.Markup(panel).text, "each time has its unit, and the title none"


def test_a_sweep_that_runs_is_drawn_again_as_its_results_come(
    home: Workbench, visit: Visit, sweep: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    followed: list[tuple[str, object, Callable[[], object]]] = []
    monkeypatch.setattr(experiments, "follow", lambda drawn, look, kind: followed.append((kind, drawn, look)))
    sweep["complete"] = False
    visit("evaluate", home, tab="sweeps")
    [(kind, shown, look)] = followed
    monkeypatch.setattr(sweeps_view.state, "recall", lambda name: "")
    assert (kind, shown, look()) == ("sweep", ("sizes", 4, 36), ("sizes", 4, 36))
    sweep["complete"] = True
    assert look() == ("sizes", 4, 48)


def test_another_point_is_chosen_by_the_link_and_opened_in_ask(
    home: Workbench, visit: Visit, sweep: dict[str, Any]
) -> None:
    point = "cluster_size 4, tau 2"
    app = visit("evaluate", home, tab="sweeps", point=point, colour="context-tokens")
    drawn.assert_sound(app)
    heat, front, _ = drawings(app)
    assert picked(heat) == picked(front) == [point]
    assert app.query_params["point"] == point
    app.button("sweep_ask").click().run()
    assert sweep["opened"] == point
    assert app.query_params["index"] == home.indexes.all()[0].id


def test_points_are_compared_by_another_measure(home: Workbench, visit: Visit, sweep: dict[str, Any]) -> None:
    app = visit("evaluate", home, tab="sweeps", smeasure="reciprocal-rank")
    drawn.assert_sound(app)
    assert "2 of 4 settings cannot be told from the best, clustersize 4, tau 5" in drawn.text(app)
    assert picked(drawings(app)[0]) == ["cluster_size 4, tau 5"], "the cheapest of the best"


def test_a_point_is_saved_as_a_preset(home: Workbench, visit: Visit, sweep: dict[str, Any]) -> None:
    app = visit("evaluate", home, tab="sweeps")
    app.button("sweep_save_preset").click().run()
    drawn.assert_sound(app)
    preset = home.presets.with_shipped()[-1]
    assert preset.index == {"cluster_size": 3, "tau": "5"}


def test_the_title_of_a_preset_is_no_longer_than_one_that_is_kept(
    home: Workbench, visit: Visit, sweep: dict[str, Any]
) -> None:
    app = visit("evaluate", home, tab="sweeps")
    title = app.text_input("sweep_preset")
    title.input("x" * title.max_chars).run()
    app.button("sweep_save_preset").click().run()
    drawn.assert_sound(app)
    assert home.presets.with_shipped()[-1].title == "x" * 80


def test_a_sweep_under_way_shows_what_it_has(home: Workbench, visit: Visit, sweep: dict[str, Any]) -> None:
    sweep["complete"] = False
    app = visit("evaluate", home, tab="sweeps")
    drawn.assert_sound(app)
    assert "36 of 48 questions are done" in drawn.text(app)
    heat = drawings(app)[0]
    assert "–" in [shape["text"] for shape in heat["shapes"]]


def test_the_difference_of_a_point_is_of_the_questions_that_both_have(
    home: Workbench, visit: Visit, sweep: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = result(is_complete=False)
    # Of the best mean, 3 / 2, half of the questions are done, whose scores are those of the other point.
    first, second, *others = whole.points
    first = replace(first, scores={name: (*scores[:6], *(None,) * 6) for name, scores in first.scores.items()})
    first = replace(first, scores={**first.scores, "evidence-recall": (*(1.0,) * 6, *(None,) * 6)})
    second = replace(second, scores={**second.scores, "evidence-recall": (*(1.0,) * 6, *(0.5,) * 6)})
    monkeypatch.setattr(Sweeps, "read", lambda sweeps, id_: replace(whole, points=(first, second, *others)))
    sweep["complete"] = False
    app = visit("evaluate", home, tab="sweeps", point="cluster_size 3, tau 5")
    drawn.assert_sound(app)
    panel = next(body for body in drawn.html(app) if "difference" in drawn.Markup(body).text and "lr-facts" in body)
    assert "Evidence recall.751.00−.25" not in drawn.Markup(panel).text
    assert "Evidence recall.751.00.00" in drawn.Markup(panel).text


def test_a_sweep_that_was_stopped_goes_on_by_a_click(
    home: Workbench, visit: Visit, sweep: dict[str, Any], launched: list[Path]
) -> None:
    assert not any(button.key == "sweep_go_on" for button in visit("evaluate", home, tab="sweeps").button)
    sweep["complete"] = False
    app = visit("evaluate", home, tab="sweeps")
    app.button("sweep_go_on").click().run()
    drawn.assert_sound(app)
    [job] = home.jobs.all()
    assert (job.kind.name, job.title, [folder.name for folder in launched]) == ("sweep", "Sizes", [job.id])
    assert not any(button.key == "sweep_go_on" for button in app.button), "it runs"


def test_the_form_says_what_it_takes_and_starts_a_job(home: Workbench, visit: Visit, launched: list[Path]) -> None:
    app = visit("evaluate", home, tab="sweeps")
    app.button("primary_sweep").click().run()
    drawn.assert_sound(app)
    text = drawn.text(app)
    assert "Points25" in text
    assert "Indexes to be built25" in text
    app.button("primary_sweep_start").click().run()
    drawn.assert_sound(app)
    [job] = home.jobs.all()
    assert job.kind.name == "sweep"
    assert [axis["name"] for axis in job.config["axes"]] == ["cluster_size", "tau"]
    assert [folder.name for folder in launched] == [job.id]


def test_the_form_begins_with_the_settings_of_the_chosen_index_and_refuses_a_long_title(
    home: Workbench, visit: Visit
) -> None:
    home.build(CORPUS, IndexConfig(cluster_size=2))
    newest, chosen = (index.id for index in home.indexes.all())
    app = visit("evaluate", home, tab="sweeps", index=chosen)
    app.button("primary_sweep").click().run()
    assert app.selectbox("sweep_settings_of").value == chosen != newest
    long_title = "Sizes " * 40
    app.text_input("sweep_title").set_value(long_title).run()
    drawn.assert_sound(app)
    assert "239 characters are too many: write at most 120." in drawn.text(app)
    assert app.text_input("sweep_title").value == long_title, "it stays, to be shortened"
    assert not any(button.key == "primary_sweep_start" for button in app.button)
    app.text_input("sweep_title").set_value("Sizes").run()
    assert app.button("primary_sweep_start").label == "Start"


def test_a_wrong_value_leaves_the_other_fields_of_the_form_as_they_are(home: Workbench, visit: Visit) -> None:
    app = visit("evaluate", home, tab="sweeps")
    app.button("primary_sweep").click().run()
    app.text_input("sweep_values_tau").set_value("1, 4").run()
    app.text_input("sweep_title").set_value("Mine").run()
    app.text_input("sweep_values_cluster_size").set_value("five").run()
    drawn.assert_sound(app)
    assert 'Clustersize takes whole numbers apart by commas, and "five" holds something else' in drawn.text(app)
    assert "Write values for each setting that is varied." in drawn.text(app)
    assert not any(button.key == "primary_sweep_start" for button in app.button)
    app.text_input("sweep_values_cluster_size").set_value("5").run()
    assert (app.text_input("sweep_values_tau").value, app.text_input("sweep_title").value) == ("1, 4", "Mine")
    assert "Points2" in drawn.text(app)
    app.text_input("sweep_values_tau").set_value("").run()
    assert "Write values for each setting that is varied." in drawn.text(app), "none is left out unsaid"


def test_a_value_out_of_its_bounds_is_named_as_its_field(home: Workbench, visit: Visit) -> None:
    app = visit("evaluate", home, tab="sweeps")
    app.button("primary_sweep").click().run()
    app.text_input("sweep_values_cluster_size").set_value("5, 500").run()
    drawn.assert_sound(app)
    assert "Clustersize is 500; the largest value is 200." in drawn.text(app)


def test_values_are_read_by_the_type_of_the_setting() -> None:
    fields = forms.option_fields(IndexConfig)
    assert values_of("5, 10,10 , 20", fields["cluster_size"]) == (5, 10, 20)
    assert values_of("8，24、32", fields["cluster_size"]) == (8, 24, 32)
    assert values_of("1, auto", fields["tau"]) == ("1", "auto")
    assert values_of("0,1", fields["size_cap"]) == (False, True)
    with pytest.raises(InvalidConfig, match="numbers apart by commas"):
        values_of("five", fields["cluster_size"])


def test_names_of_a_sweep_become_no_markup(
    home: Workbench, visit: Visit, sweep: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    hostile = "<b>x</b> [a](b) $y$"
    whole = result()
    points = tuple(
        replace(each, point=SweepPoint(f"{each.point.name} {hostile}", {**each.point.settings, "tau": hostile}))
        if each.point.settings["tau"] == "5"
        else each
        for each in whole.points
    )
    spec = replace(whole.spec, axes=(whole.spec.axes[0], Axis("tau", ("2", hostile))))
    monkeypatch.setattr(Sweeps, "read", lambda sweeps, id_: replace(whole, spec=spec, points=points))
    app = visit("evaluate", home, tab="sweeps")
    drawn.assert_sound(app)
    assert hostile in drawn.text(app)
