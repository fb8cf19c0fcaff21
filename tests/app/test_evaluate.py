"""The Evaluate page: experiments, their tables, questions one by one, and their history."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

import leanrag_core.workbench
from leanrag_core import Workbench
from leanrag_core.evaluation.question_sets.reading import read_set
from leanrag_core.jobs.events import JobLog
from leanrag_core.types.experiment import (
    ExperimentResult,
    ExperimentSpec,
    ExperimentSummary,
    QuestionRow,
    RunCost,
    RunSpec,
)
from pages.evaluate import by_question_view, experiments
from tests.app import drawn
from tests.app.conftest import CORPUS

Visit = Callable[..., AppTest]
HOSTILE = "Is $x$ <b>less</b> than [y](http://y)?"
GOLD = (
    {
        "id": "q1",
        "question": "Who patented the hive?",
        "type": "single-hop",
        "answers": ["Lorenzo Langstroth"],
        "evidence": [{"document": "hives.txt", "quote": "Lorenzo Langstroth patented the hive in 1852."}],
    },
    {
        "id": "q2",
        "question": HOSTILE,
        "type": "multi-hop",
        "evidence": [{"document": "bees.md", "quote": "White clover feeds honey bees in summer."}],
    },
)


@pytest.fixture(autouse=True)
def no_shipped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let no experiment come with the program."""
    monkeypatch.setattr(leanrag_core.workbench, "SAMPLES", tmp_path / "none")


def stored(
    bench: Workbench, scores: dict[str, list[float]], *, title: str = "Settings", kinds: str = "fm", max_tokens: int = 0
) -> str:
    """Store an experiment. scores: of each run the evidence recall of each question."""
    index = bench.indexes.all()[0].id
    options = {"max_tokens": max_tokens} if max_tokens else {}
    runs = tuple(RunSpec(name, index, "vector" if name == "Naive" else "leanrag", options) for name in scores)
    names = {"f": "single-hop", "m": "multi-hop"}
    rows, costs = [], []
    for run, values in scores.items():
        for place, value in enumerate(values):
            kind = names[kinds[place % len(kinds)]]
            tokens = 1000.0 if run == "Naive" else 500.0
            measured = {"evidence-recall": value, "context-tokens": tokens}
            rows.append(QuestionRow(run, f"q{place + 1}", kind, measured, ("c1", "c2")))
            costs.append(RunCost(run, f"q{place + 1}", 12.0 if run == "Naive" else 34.0))
    spec = ExperimentSpec(title, CORPUS, runs, baseline="Naive", answers=False)
    id_ = title.lower()
    others = tuple(
        {"id": f"q{n}", "question": f"Question {n}?"} for n in range(3, len(next(iter(scores.values()))) + 1)
    )
    questions = read_set("\n".join(map(json.dumps, (*GOLD, *others))).encode(), "gold.jsonl")
    bench.experiments.store.begin(id_, spec, {"program": "1"}, questions)
    with bench.experiments.store.writer(id_) as writer:
        writer.add_rows(rows, costs)
        writer.finish(ExperimentResult(id_, spec, tuple(rows), tuple(costs), is_complete=True))
    return id_


BETTER = {"LeanRAG": [1.0, 1.0, 1.0, 0.5] * 6, "Naive": [0.5, 1.0, 0.5, 0.25] * 6}  # 24 questions


def test_without_an_experiment_the_page_says_what_to_do(home: Workbench, visit: Visit) -> None:
    for tab in ("results", "questions", "history"):
        app = visit("evaluate", home, tab=tab)
        drawn.assert_sound(app)
        assert "No experiment yet" in drawn.text(app)
    app = visit("evaluate", home, tab="audit")
    drawn.assert_sound(app)
    assert "No judgements yet" in drawn.text(app)


def test_the_page_opens_without_an_index(empty_home: Workbench, visit: Visit) -> None:
    app = visit("evaluate", empty_home)
    drawn.assert_sound(app)
    assert "No experiment yet" in drawn.text(app)


def test_the_finding_comes_first_with_its_interval_and_its_tokens(home: Workbench, visit: Visit) -> None:
    stored(home, BETTER)
    app = visit("evaluate", home)
    drawn.assert_sound(app)
    text = drawn.text(app)
    # (0.5 + 0 + 0.5 + 0.25) / 4 = 0.3125
    assert "LeanRAG finds 31 points more gold than Naive (95 % interval " in text
    assert "on 50 % of the tokens" in text
    assert text.index("finds 31 points") < text.index("Evidence recall ↓")
    assert ".88" in text, "mean of 1, 1, 1 and a half"
    assert ".56" in text
    assert "34 ms" in text


def test_the_command_of_an_experiment_names_its_home(home: Workbench, visit: Visit) -> None:
    id_ = stored(home, {"LeanRAG": [1.0], "Naive": [0.0]})
    (command,) = visit("evaluate", home, exp=id_).code
    specification = home.root / "experiments" / id_ / "spec.json"
    assert command.value == f"LEANRAG_HOME={home.root} python -m leanrag_core experiment run {specification}"


def test_a_difference_that_may_be_chance_is_called_so_with_the_number_of_questions_needed(
    home: Workbench, visit: Visit
) -> None:
    stored(home, {"LeanRAG": [1.0, 0.0, 0.5, 1.0], "Naive": [0.5, 0.5, 0.5, 1.0 - 0.125]})
    app = visit("evaluate", home)
    drawn.assert_sound(app)
    text = drawn.text(app)
    assert "4 questions cannot separate LeanRAG from Naive" in text
    assert "questions would." in text


def test_a_kind_of_question_and_the_sorting_are_in_the_link(home: Workbench, visit: Visit) -> None:
    stored(home, BETTER)
    app = visit("evaluate", home)
    app.selectbox("lr_sort").set_value("context-tokens").run()
    drawn.assert_sound(app)
    assert app.query_params["sort"] == "context-tokens"
    assert "Context tokens ↓" in drawn.text(app)
    assert "LeanRAG is 500 below Naive in Context tokens" in drawn.text(app)
    again = visit("evaluate", home, exp="settings", kind="multi-hop", sort="context-tokens")
    drawn.assert_sound(again)
    assert "Multi-hop: LeanRAG" in drawn.text(again)
    assert dict(again.query_params)["kind"] == "multi-hop"


def test_where_the_graph_pays_is_drawn_for_each_kind(home: Workbench, visit: Visit) -> None:
    stored(home, BETTER)
    app = visit("evaluate", home)
    pays, tokens, dots = (shown["drawings"][0] for shown in drawn.component(app, "lr_drawing"))
    texts = [shape["text"] for shape in pays["shapes"] if shape["tag"] == "text"]
    # odd questions are facts: differences 0.5 and 0.5; even ones 0 and 0.25
    assert {"Fact", "12", "+.50", "Multi-hop", "+.12"} <= set(texts)
    titles = [shape["title"] for shape in tokens["shapes"] if shape["tag"] == "circle"]
    assert sorted(titles) == ["LeanRAG: recall .88 with 500 tokens", "Naive: recall .56 with 1,000 tokens"]
    assert sum(bool(shape["pick"]) for shape in dots["shapes"]) == 24, "each question is a dot"


def test_what_is_selected_is_in_the_link_and_the_figures_are_of_it_alone(home: Workbench, visit: Visit) -> None:
    stored(home, BETTER)
    app = visit("evaluate", home, bquestions="1,3,5", bruns="2")
    drawn.assert_sound(app)
    text = drawn.text(app)
    assert "1 of 2 runs, 3 of 24 questions selected" in text
    assert "LeanRAG and Naive differ by +.50 in Evidence recall, which may be chance" in text, "1 - 0.5 on each of 3"
    listed = [button.key for button in app.button if (button.key or "").startswith("question_q")]
    assert listed == ["question_q1", "question_q3", "question_q5"]
    app.button("brush_clear").click().run()
    drawn.assert_sound(app)
    assert "questions selected" not in drawn.text(app)
    assert "bquestions" not in app.query_params
    wrong = visit("evaluate", home, bquestions="1,99", bruns="x")
    drawn.assert_sound(wrong)
    assert "selected" not in drawn.text(wrong).replace("they are selected in all others", "")


def test_two_runs_are_chosen_and_change_places(home: Workbench, visit: Visit) -> None:
    stored(home, BETTER)
    app = visit("evaluate", home, run="Naive", against="LeanRAG")
    drawn.assert_sound(app)
    assert "Naive finds 31 points less gold than LeanRAG" in drawn.text(app)


def test_an_experiment_under_way_shows_what_it_has(home: Workbench, visit: Visit) -> None:
    id_ = stored(home, BETTER)
    record = home.root / "experiments" / id_ / "record.json"
    record.write_text(record.read_text(encoding="utf-8").replace("true", "false"), encoding="utf-8")
    app = visit("evaluate", home)
    drawn.assert_sound(app)
    assert "The first 48 of 48 results are here" in drawn.text(app)


def test_results_that_come_while_a_job_runs_redraw_the_page(home: Workbench, monkeypatch: pytest.MonkeyPatch) -> None:
    store, id_, redrawn = home.experiments.store, stored(home, BETTER), list[str]()
    monkeypatch.setattr(st, "rerun", lambda: redrawn.append("page"))
    monkeypatch.setattr(experiments.state, "recall", lambda name: "")

    def look() -> tuple[str, int]:
        return experiments.progress(store.all(), CORPUS)

    assert look() == (id_, 48)
    experiments.redraw_if_changed((id_, 48), look)
    assert redrawn == []
    experiments.redraw_if_changed((id_, 40), look)
    assert redrawn == ["page"]
    store.delete(id_)
    experiments.redraw_if_changed((id_, 48), look)
    assert redrawn == ["page"] * 2, "another one is shown, or none"


def test_an_experiment_that_is_gone_is_named_and_others_are_a_click_away(home: Workbench, visit: Visit) -> None:
    stored(home, BETTER)
    app = visit("evaluate", home, exp="../<b>gone")
    drawn.assert_sound(app)
    assert "The experiment ../<b>gone is not here" in drawn.text(app)
    app.button("experiment_gone").click().run()
    drawn.assert_sound(app)
    assert "finds 31 points" in drawn.text(app)


def test_losses_come_first_and_a_question_opens_with_its_gold_and_leads_to_compare(
    home: Workbench, visit: Visit
) -> None:
    stored(home, {"LeanRAG": [1.0, 0.0], "Naive": [0.5, 1.0]})
    app = visit("evaluate", home, tab="questions")
    drawn.assert_sound(app)
    assert "LeanRAG is worse than Naive on 1 and better on 1;" in drawn.text(app)
    keys = [str(button.key) for button in app.button if str(button.key).startswith("question_q")]
    assert keys == ["question_q2", "question_q1"], "the loss first"
    app.button("question_q2").click().run()
    drawn.assert_sound(app)
    assert app.query_params["question"] == "q2"
    assert "White clover feeds honey bees in summer." in drawn.text(app)
    app.button("question_compare").click().run()
    assert app.query_params["q"] == HOSTILE
    assert app.query_params["b_strategy"] == "vector"


def test_runs_of_two_experiments_are_compared_question_by_question(home: Workbench, visit: Visit) -> None:
    stored(home, {"LeanRAG": [1.0, 0.5], "Naive": [0.5, 0.5]}, title="First")
    stored(home, {"LeanRAG": [1.0, 1.0], "Naive": [0.5, 1.0]}, title="Second")
    app = visit("evaluate", home, tab="questions", exp="first", exp2="second", run="LeanRAG", against="LeanRAG")
    drawn.assert_sound(app)
    assert "LeanRAG is worse than LeanRAG on 1 and better on 0; equal on 1, of 2 questions" in drawn.text(app)


def test_less_is_better_for_tokens(home: Workbench) -> None:
    stored(home, {"LeanRAG": [1.0], "Naive": [1.0]})
    result = home.experiments.store.read("settings")
    sides = [by_question_view.Side(run, run.name, {row.question: row for row in result.rows if row.run == run.name})
             for run in result.spec.runs]  # fmt: skip
    [pair] = by_question_view.compared(sides[1], sides[0], "context-tokens", {})
    assert pair.change == 500
    assert pair.text == "q1", "the id stands in where the question is not known"


def test_an_ended_experiment_is_told_on_the_tabs_of_experiments_until_it_is_closed(
    home: Workbench, visit: Visit, launched: list[Path]
) -> None:
    app = visit("evaluate", home)
    app.button("primary_experiment").click().run()
    app.button("primary_experiment_start").click().run()
    [job] = home.jobs.all()
    folder = home.root / "jobs" / job.id
    beside = visit("evaluate", home, job=job.id, tab="verdicts")
    assert "job_close" not in {button.key for button in beside.button}
    assert job.title in drawn.text(beside), "at work: told on every tab"
    JobLog(folder).write("failed", error="the disk is full.")
    for tab in ("verdicts", "sweeps"):
        beside = visit("evaluate", home, job=job.id, tab=tab)
        drawn.assert_sound(beside)
        assert f"{job.title} failed" not in drawn.text(beside)
    for _ in range(2):
        app = visit("evaluate", home, job=job.id, tab="history")
        assert f"{job.title} failed" in drawn.text(app)
    app.button("job_close").click().run()
    assert f"{job.title} failed" not in drawn.text(app)


def test_the_history_lists_repeats_and_deletes(home: Workbench, visit: Visit, launched: list[Path]) -> None:
    id_ = stored(home, BETTER)
    app = visit("evaluate", home, tab="history", row=id_)
    drawn.assert_sound(app)
    assert "Seed 0; program 1" in drawn.text(app)
    app.button("history_delete").click().run()
    app.button("history_delete_confirm").click().run()
    drawn.assert_sound(app)
    assert home.experiments.store.all() == ()
    assert launched == []


def test_nonsense_in_a_link_is_passed_over(home: Workbench, visit: Visit) -> None:
    stored(home, BETTER)
    names = ("tab", "kind", "sort", "run", "against", "measure", "columns", "pair", "judge", "flip", "job", "row")
    app = visit("evaluate", home, **dict.fromkeys(names, "<script>alert(1)</script>"))
    drawn.assert_sound(app)


def test_a_damaged_experiment_is_named_and_hides_none_of_the_others(home: Workbench, visit: Visit) -> None:
    stored(home, BETTER)
    (home.root / "experiments" / "broken").mkdir()
    (home.root / "experiments" / "broken" / "spec.json").write_text("{not json", encoding="utf-8")
    app = visit("evaluate", home)
    drawn.assert_sound(app)
    assert "finds 31 points" in drawn.text(app)
    assert "The experiment broken does not read. record.json is not as expected" in drawn.text(app)


def test_the_same_runs_at_an_equal_budget_are_a_click_away(home: Workbench, visit: Visit) -> None:
    stored(home, BETTER, title="Official")
    stored(home, {"LeanRAG": [0.5] * 24, "Naive": [1.0] * 24}, title="Equal", max_tokens=4000)
    app = visit("evaluate", home, exp="official")
    drawn.assert_sound(app)
    assert "LeanRAG finds 31 points more gold" in drawn.text(app)
    app.segmented_control("lr_ebudget").set_value("4000").run()
    drawn.assert_sound(app)
    assert app.query_params["exp"] == "equal"
    assert "LeanRAG finds 50 points less gold" in drawn.text(app)


def test_without_a_link_the_experiment_of_the_chosen_corpus_is_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    def summary(question_set: str, *, is_shipped: bool = True) -> ExperimentSummary:
        return ExperimentSummary(question_set, "All", question_set, ("vector",), 1, 1, 0, 0, True, is_shipped, "2026")

    bees, rivers = summary("bees"), summary("rivers")
    monkeypatch.setattr(experiments.state, "recall", lambda name: "")
    assert experiments.chosen([rivers, bees], "bees") == bees
    assert experiments.chosen([rivers, bees], "my-own") == rivers
    own = summary("moons", is_shipped=False)
    assert experiments.chosen([rivers, bees, own], "bees") == own
    assert experiments.chosen([], "bees") is None


def test_gold_that_no_document_holds_is_named_beside_the_results(
    home: Workbench, visit: Visit, monkeypatch: pytest.MonkeyPatch
) -> None:
    index = home.indexes.open(home.indexes.all()[0].id)
    name = index.document_cells.value("name", 0)
    quote = " ".join(index.chunk(0).text.split()[:8])
    real = {"id": "q1", "question": "Real?", "evidence": [{"document": name, "quote": quote}]}
    nowhere = [{"document": "nosuch.md", "quote": quote}, {"document": name, "quote": "words that nobody wrote"}]
    wrong = {"id": "q2", "question": "Wrong?", "evidence": nowhere}
    for id_, gold, said in (("one", [real], ""), ("two", [real, wrong], "2 gold quotes are in no document")):
        monkeypatch.setitem(globals(), "GOLD", gold)
        app = visit(
            "evaluate", home, exp=stored(home, {"LeanRAG": [1.0] * len(gold), "Naive": [0.5] * len(gold)}, title=id_)
        )
        drawn.assert_sound(app)
        assert (said in drawn.text(app)) if said else ("in no document" not in drawn.text(app))
    assert "nosuch.md" in drawn.text(app)


def test_runs_that_read_most_of_the_corpus_are_named_below_the_table(home: Workbench, visit: Visit) -> None:
    id_ = stored(home, BETTER)
    assert "more than half of the corpus" not in drawn.text(visit("evaluate", home, exp=id_))
    record = home.root / "experiments" / id_ / "record.json"
    index = home.indexes.all()[0].id
    known = json.loads(record.read_text(encoding="utf-8"))
    record.write_text(json.dumps(known | {"versions": {"program": "1", f"tokens {index}": "1500"}}), encoding="utf-8")
    page_text = drawn.text(visit("evaluate", home, exp=id_))
    assert "Naive reads more than half of the corpus for an answer: what it finds says little" in page_text
