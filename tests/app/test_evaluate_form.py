"""The form of a new experiment on Evaluate: runs, load and cost; and the question sets that it may ask."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

import leanrag_core.workbench
from leanrag_core import Workbench
from leanrag_core.evaluation.paper_tables import TABLES
from leanrag_core.evaluation.question_sets.reading import read_set
from leanrag_core.retrieval.base import strategies
from leanrag_core.types.config import model_title
from leanrag_core.types.experiment import ExperimentSpec, JudgeSpec, RunSpec
from leanrag_core.types.question_set import Generation
from leanrag_core.types.settings import Price, Settings
from pages.evaluate import run_forecast, sets_view
from tests.app import drawn
from tests.app.conftest import QUESTIONS
from tests.app.test_evaluate import BETTER, GOLD, stored

Visit = Callable[..., AppTest]


@pytest.fixture(autouse=True)
def no_shipped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let no experiment come with the program."""
    monkeypatch.setattr(leanrag_core.workbench, "SAMPLES", tmp_path / "none")


@pytest.mark.parametrize("what", ["own", TABLES[0]])
def test_a_title_that_is_too_long_is_refused_and_stays_in_the_field(home: Workbench, visit: Visit, what: str) -> None:
    app = visit("evaluate", home)
    app.button("primary_experiment").click().run()
    app.selectbox("experiment_what").set_value(what).run()
    app.text_input("experiment_title").set_value("题" * 121).run()
    drawn.assert_sound(app)
    assert "121 characters are too many: write at most 120." in drawn.text(app)
    assert app.text_input("experiment_title").value == "题" * 121
    assert app.button("primary_experiment_start").disabled
    app.text_input("experiment_title").set_value("题" * 120).run()
    assert "too many" not in drawn.text(app)
    assert not app.button("primary_experiment_start").disabled


def test_an_experiment_is_started_as_a_job(home: Workbench, visit: Visit, launched: list[Path]) -> None:
    app = visit("evaluate", home)
    app.button("primary_experiment").click().run()
    drawn.assert_sound(app)
    assert "No cost" in drawn.text(app)
    assert "Index parts to be made first" in drawn.text(app), "BM25 needs its part"
    assert "Retrievals9" in drawn.text(app), "three strategies over three questions"
    app.button("primary_experiment_start").click().run()
    drawn.assert_sound(app)
    [job] = home.jobs.all()
    assert job.kind.name == "experiment"
    assert [folder.name for folder in launched] == [job.id]
    assert [run["strategy"] for run in job.config["runs"]] == ["leanrag", "vector", "bm25"]
    assert app.query_params["job"] == job.id


def test_two_variants_of_a_system_are_runs_named_by_what_differs(
    home: Workbench, visit: Visit, launched: list[Path]
) -> None:
    app = visit("evaluate", home)

    def form() -> AppTest:
        app.button("primary_experiment").click().run()  # a test's run closes the dialog
        drawn.assert_sound(app)
        return app

    form()
    app.button("experiment_remove_run3").click()
    form()
    app.button("experiment_duplicate_run1").click()
    form()
    assert "LeanRAG (2) has the settings of LeanRAG" in drawn.text(app)
    assert app.button("primary_experiment_start").disabled, "nothing is run twice"
    assert [text for text in ("No cost", "Retrievals") if text in drawn.text(app)] == [], "nothing can be estimated"
    app.number_input("lr_run3_ask_top_n").set_value(20)
    form()
    assert "LeanRAG, N 20" in drawn.text(app)
    assert "LeanRAG, N 10 has 10" in drawn.text(app), "the other variant's value stands beside"
    assert "= 24 settings are equal" in drawn.text(app)
    assert "Retrievals9" in drawn.text(app), "three runs over three questions"
    app.button("experiment_duplicate_run3").click()
    form()
    app.number_input("lr_run4_ask_top_c").set_value(2)
    form()
    assert "LeanRAG, N 20, C 2" in drawn.text(app)
    app.button("experiment_remove_run3").click()
    form()
    app.button("primary_experiment_start").click().run()
    drawn.assert_sound(app)
    [job] = home.jobs.all()
    runs = [(run["id"], run["options"].get("top_n"), run["options"]["top_c"]) for run in job.config["runs"]]
    assert runs == [("leanrag", 10, 5), ("leanrag-2", 20, 2), ("vector", None, 20)]
    assert job.config["baseline"] == "vector"


def test_the_form_begins_with_the_set_that_was_looked_at_and_says_when_a_set_asks_about_another_corpus(
    home: Workbench, visit: Visit
) -> None:
    summary = home.indexes.all()[0]
    questions = home.question_sets.questions(home.question_sets.all()[0].id)[:1]
    own = home.question_sets.add("Mine", questions)
    away = home.question_sets.add("Away", questions, corpus_id="elsewhere")
    for looked_at, first in ((own, own), (away, home.question_sets.all()[0].id)):
        app = visit("evaluate", home, tab="sets", set=looked_at, index=summary.id)
        app.button("primary_experiment").click().run()
        assert app.selectbox("experiment_set").value == first
        assert "about another corpus" not in drawn.text(app)
    app.selectbox("experiment_set").set_value(away)
    app.button("primary_experiment").click().run()
    assert "about another corpus than the index" in drawn.text(app)


def test_an_uploaded_set_asks_about_the_corpus_of_the_chosen_index(home: Workbench, visit: Visit) -> None:
    summary = home.indexes.all()[0]
    app = visit("evaluate", home, tab="sets", index=summary.id)
    app.file_uploader[0].set_value(("mine.jsonl", json.dumps(GOLD[0]).encode(), "application/json")).run()
    assert app.selectbox("set_corpus_upload").value == summary.corpus_id


def test_the_load_counts_every_call_of_models_and_judges() -> None:
    runs = (RunSpec("A", "i", "leanrag"), RunSpec("B", "i", "vector"), RunSpec("C", "builtin", "bm25"))
    judge = JudgeSpec("openai:j", ("absolute", "pairwise"), repeats=2)
    spec = ExperimentSpec("t", "s", runs, baseline="B", judges=(judge,))
    load = run_forecast.load_of(spec, 10, strategies().by_name(), {"i": "openai:m"})
    assert load.retrievals == 30
    assert load.answer_calls == 20, "answers about the third index need no model"
    assert load.judge_calls == 2 * 10 * (3 + 2 * 2), "three answers; two pairs in both orders"
    assert run_forecast.load_of(spec, 10, strategies().by_name(), {}).answer_calls == 0


def test_the_cost_is_known_where_every_model_has_a_price() -> None:
    runs = (RunSpec("A", "i", "leanrag"),)
    spec = ExperimentSpec("t", "s", runs, judges=(JudgeSpec("openai:j"),))
    load = run_forecast.Load(10, answer_calls=100, judge_calls=10)
    prices = {"m": Price(1.0, 10.0), "j": Price(2.0, 0.0)}
    # 100 x (5,500 x 1 + 300 x 10) / 1e6 and 10 x 2,200 x 2 / 1e6
    dollars = run_forecast.dollars_of(spec, load, {"i": "openai:m"}, Settings(prices=prices))
    assert dollars == pytest.approx(0.85 + 0.044)
    assert run_forecast.dollars_of(spec, load, {"i": "openai:m"}, Settings(prices={"m": Price()})) is None
    assert run_forecast.tokens_of(load) == (100 * 5_500 + 10 * 2_200, 100 * 300 + 10 * 400)
    here = Settings(base_url="http://127.0.0.1:8000/v1")
    assert run_forecast.dollars_of(spec, load, {"i": "openai:m"}, here) == 0, (
        "a model of this machine may have no price"
    )


def test_a_price_of_a_model_on_this_machine_is_in_the_forecast(llm_home: Workbench, visit: Visit) -> None:
    questions = read_set(json.dumps(GOLD[0]).encode(), "one.jsonl")
    a_set = llm_home.question_sets.add("One", questions)
    for prices, cost in (({}, "No cost"), ({"scripted-chat": Price(1.0, 10.0)}, "$0.026")):  # 3 answers, $0.0085 each
        llm_home.settings.save(replace(llm_home.settings.read(), prices=prices))
        app = visit("evaluate", llm_home, tab="sets", set=a_set)
        app.button("primary_experiment").click().run()
        app.toggle("experiment_answers").set_value(True).run()
        drawn.assert_sound(app)
        assert cost in drawn.text(app)


def test_a_form_stays_open_when_the_page_runs_by_itself_and_closes_when_it_is_sent(
    home: Workbench, visit: Visit, launched: list[Path]
) -> None:
    stored(home, BETTER)
    app = visit("evaluate", home)
    assert "Start" not in {button.label for button in app.button}
    app.button("primary_experiment").click().run()
    assert "primary_experiment_start" in {button.key for button in app.button}
    app.run()
    assert "primary_experiment_start" in {button.key for button in app.button}, "as when a job ends"
    drawn.assert_sound(app)
    app.button("primary_experiment_start").click().run()
    assert "primary_experiment_start" not in {button.key for button in app.button}
    app.run()
    assert "primary_experiment_start" not in {button.key for button in app.button}


def test_a_question_set_is_shown_uploaded_and_deleted(home: Workbench, visit: Visit) -> None:
    app = visit("evaluate", home, tab="sets")
    drawn.assert_sound(app)
    assert f"{len(QUESTIONS)} questions, comes with the program" in drawn.text(app)
    wrong = json.dumps(GOLD[0]) + "\n{not json\n"
    app.file_uploader[0].set_value(("mine.jsonl", wrong.encode(), "application/json")).run()
    drawn.assert_sound(app)
    assert "The file was not read." in drawn.text(app)
    assert "Line 2 of mine.jsonl is no question" in drawn.text(app)
    lines = "\n".join(map(json.dumps, GOLD))
    app.file_uploader[0].set_value(("mine.jsonl", lines.encode(), "application/json")).run()
    drawn.assert_sound(app)
    assert "2 questions, 2 with gold evidence" in drawn.text(app)
    assert app.text_input("set_title_upload").max_chars == 200, "adding refuses a longer one"
    app.button("primary_set_add").click().run()
    drawn.assert_sound(app)
    [own] = [info for info in home.question_sets.all() if not info.is_shipped]
    assert app.query_params["set"] == own.id
    assert home.question_sets.questions(own.id)[0].answers == ("Lorenzo Langstroth",)
    app.button("set_delete").click().run()
    app.button("set_delete_confirm").click().run()
    assert [info.id for info in home.question_sets.all() if not info.is_shipped] == []


def test_a_generated_set_says_in_words_how_it_was_made(home: Workbench, visit: Visit) -> None:
    index = home.indexes.all()[0]
    app = visit("evaluate", home, tab="sets", lang="zh")
    app.button("set_generate").click().run()
    app.button("primary_set_generate").click().run()
    drawn.assert_sound(app)
    [own] = [info for info in home.question_sets.all() if not info.is_shipped]
    assert own.title == f"{index.name}，由图生成的问题"
    app = visit("evaluate", home, tab="sets", set=own.id)
    template = f"Generated by templates over the graph of {index.title}: up to 10 of each kind, seed 0."
    assert template in drawn.text(app)
    how = Generation(model="http:a-model", users=2, tasks=3, questions=4)
    about = {"index": index.id, "model": how.model, "users": 2, "tasks": 3, "questions": 4, "lost": 1}
    of_model = home.question_sets.add("By a model", read_set(json.dumps(GOLD[0]).encode(), "g.jsonl"), about=about)
    text = drawn.text(visit("evaluate", home, tab="sets", set=of_model))
    counts = "Users: 2. Tasks of each: 3. Questions for each task: 4. Replies that could not be used: 1."
    assert f"Generated by {model_title(how.model)} about {index.title}. {counts}" in text


def test_rows_written_by_hand_become_questions(home: Workbench) -> None:
    rows = [
        {"question": "Who?", "type": "fact", "answers": "Ada | Lovelace", "document": "a.md", "quote": "Ada did."},
        {"question": "", "type": None, "answers": float("nan"), "document": "", "quote": ""},
    ]
    [question] = read_set(sets_view.written(rows), "questions.jsonl")
    assert (question.question, question.kind, question.answers) == ("Who?", "fact", ("Ada", "Lovelace"))
    assert question.evidence[0].quote == "Ada did."
