"""What judges say on Evaluate: their tables apart from what is measured, the audit, files of others."""

import json
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

import leanrag_core.workbench
from leanrag_core import Workbench
from leanrag_core.evaluation.paper_tables import PaperCell
from leanrag_core.evaluation.question_sets.reading import read_set
from leanrag_core.evaluation.statistics import Interval
from leanrag_core.types.experiment import (
    ABSOLUTE,
    PAIRWISE,
    ExperimentResult,
    ExperimentSpec,
    Judgement,
    JudgeSpec,
    QuestionRow,
    RunSpec,
)
from pages.evaluate import paper_view
from pages.evaluate.audit_view import explanation, verdict_words
from pages.evaluate.judged_view import of_kind
from tests.app import drawn
from tests.app.conftest import CORPUS

Visit = Callable[..., AppTest]
HOSTILE = "<b>Naive</b> [x](y)"
BAND = r" \(95 %: \d+ % to 100 %, \d+ questions\)"


@pytest.fixture(autouse=True)
def no_shipped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let no experiment come with the program."""
    monkeypatch.setattr(leanrag_core.workbench, "SAMPLES", tmp_path / "none")


def judged(bench: Workbench, *, always_first: bool, questions: int = 12, other: str = "NaiveRAG") -> str:
    """Store an experiment with the judgements of one judge: of the answer shown first, or of LeanRAG's."""
    index = bench.indexes.all()[0].id
    runs = (RunSpec("LeanRAG", index, "leanrag"), RunSpec(other, index, "vector"))
    ids = [f"q{place}" for place in range(questions)]
    rows = tuple(
        QuestionRow(run.name, id_, "fact", {"evidence-recall": 0.5, "context-tokens": 100.0}, (), "An answer.")
        for run in runs
        for id_ in ids
    )
    reply = '{"Overall": {"Winner": "Answer 1", "Explanation": "It says <i>more</i>."}}'
    judgements = []
    for id_ in ids:
        for first, second in (("LeanRAG", other), (other, "LeanRAG")):
            winner = 1.0 if always_first or first == "LeanRAG" else 2.0
            judgements.append(
                Judgement("openai:judge", PAIRWISE, id_, first, second, 0, {"overall": winner}, "Which?", reply, (9, 9))
            )
        for run, score in (("LeanRAG", 8.0), (other, 7.0)):
            judgements.append(Judgement("openai:judge", ABSOLUTE, id_, run, "", 0, {"overall": score}, "How?", "8"))
    spec = ExperimentSpec("Judged", CORPUS, runs, other, judges=(JudgeSpec("openai:judge"),))
    lines = "\n".join(json.dumps({"id": id_, "question": f"Question {id_}?"}) for id_ in ids)
    bench.experiments.store.begin("judged", spec, {}, read_set(lines.encode(), "q.jsonl"))
    with bench.experiments.store.writer("judged") as writer:
        writer.add_rows(rows, [])
        writer.add_judgements(judgements)
        writer.finish(ExperimentResult("judged", spec, rows, (), tuple(judgements), True))
    return "judged"


def test_judged_figures_have_a_table_of_their_own_and_lead_to_the_audit(home: Workbench, visit: Visit) -> None:
    judged(home, always_first=False)
    app = visit("evaluate", home)
    drawn.assert_sound(app)
    tables = [body for body in drawn.html(app) if "<table" in body]
    measured = next(body for body in tables if "Evidence recall" in body)
    assert "8.00" not in measured
    scores = next(body for body in tables if "Scores from 1 to 10" in body)
    assert "8.00" in scores
    assert "7.00" in scores
    rates = next(body for body in tables if "Win rate of the first named" in body)
    assert "LeanRAG against NaiveRAG" in rates
    assert "100 %" in rates
    app.button("judged_audit").click().run()
    drawn.assert_sound(app)
    assert app.query_params["tab"] == "audit"


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        ({"answer": ""}, "No question has answers of two of these runs yet."),
        ({}, "No question has different answers of these runs: 12 are the same, word for word."),
    ],
)
def test_verdicts_tell_runs_without_answers_from_runs_with_the_same_ones(
    changed: dict[str, str], told: str, home: Workbench, visit: Visit
) -> None:
    id_ = judged(home, always_first=False)
    result = home.experiments.store.read(id_)
    rows = tuple(replace(row, **changed) if row.run == "LeanRAG" else row for row in result.rows)
    with home.experiments.store.writer(id_) as writer:
        writer.finish(replace(result, rows=rows))
    app = visit("evaluate", home, tab="verdicts", exp=id_)
    drawn.assert_sound(app)
    assert told in drawn.text(app)


def test_judged_tables_split_by_kind_of_question(home: Workbench) -> None:
    judged(home, always_first=False)
    result = home.experiments.store.read("judged")
    rows = tuple(replace(row, kind="multi-hop") if row.question == "q3" else row for row in result.rows)
    split = replace(result, rows=rows)
    assert {judgement.question for judgement in of_kind(split, "multi-hop")} == {"q3"}
    assert len(of_kind(split, "multi-hop")) == 4, "two orders and two scores"
    assert of_kind(split, "") == result.judgements


def test_published_figures_stand_beside_runs_of_the_papers_names(home: Workbench, visit: Visit) -> None:
    judged(home, always_first=False)
    app = visit("evaluate", home, pset="CS")
    drawn.assert_sound(app)
    drawings = [shown["drawings"][0] for shown in drawn.component(app, "lr_drawing")]
    [beside] = [drawing for drawing in drawings if drawing["label"].startswith("Table 1, scores beside")]
    texts = [shape["text"] for shape in beside["shapes"] if shape["tag"] == "text"]
    assert {"LeanRAG", "8.00", "NaiveRAG", "7.00", "KAG"} <= set(texts)
    published = [shape["title"] for shape in beside["shapes"] if shape["tag"] == "rect"]
    assert "LeanRAG: 8.82" in published, "Table 1 of the paper, CS, overall"


def test_a_cell_without_an_own_figure_shows_the_published_one_alone() -> None:
    own = PaperCell("overall", "LeanRAG", Interval(8.2, 8.0, 8.4, 20), {"Mix": 8.59})
    rows = paper_view.rows_of([own, PaperCell("overall", "KAG", None, {"Mix": 7.2})], "Mix")
    assert [(row.value, row.published, row.shown) for row in rows] == [(8.2, 8.59, "8.20"), (None, 7.2, "–")]


def test_a_judge_that_always_takes_the_first_is_exposed(home: Workbench, visit: Visit) -> None:
    judged(home, always_first=True)
    app = visit("evaluate", home, tab="audit")
    drawn.assert_sound(app)
    text = drawn.text(app)
    assert re.search(rf"cannot tell LeanRAG from NaiveRAG: 100 %{BAND} of its verdicts change with the order\.", text)
    assert "First answer wins100 %" in text
    assert "? cannot tell" in text
    assert "It says <i>more</i>." in text, "a flip is read, as text"
    panel = next(body for body in drawn.html(app) if "lr-verdict" in body)
    assert 'class="lr-verdict bad"' in panel


def test_a_judge_that_holds_is_cleared(home: Workbench, visit: Visit) -> None:
    judged(home, always_first=False)
    app = visit("evaluate", home, tab="audit")
    drawn.assert_sound(app)
    text = drawn.text(app)
    assert "This judge holds: 100 % of verdicts survive the swap." in text
    assert "✓ A wins" in text
    assert "No verdict of this pair changes when the answers are swapped." in text
    panel = next(body for body in drawn.html(app) if "lr-verdict" in body)
    assert "bad" not in panel


def test_names_of_runs_become_no_markup(home: Workbench, visit: Visit) -> None:
    judged(home, always_first=True, other=HOSTILE)
    for tab in ("results", "questions", "audit", "history"):
        app = visit("evaluate", home, tab=tab, row="judged", question="q1")
        drawn.assert_sound(app)
        assert HOSTILE in drawn.text(app) or tab == "questions"


def test_files_of_judgements_are_read_and_one_that_does_not_read_says_why(home: Workbench, visit: Visit) -> None:
    line = {"Overall Winner": {"Winner": "Answer 1", "Explanation": "Longer."}}
    content = "\n".join(json.dumps(line) for _ in range(8)).encode()
    app = visit("evaluate", home, tab="audit")
    uploader = app.file_uploader[0]
    uploader.set_value([("mix_eval_hi_naive_result_openai.jsonl", b"{no", "application/json")]).run()
    drawn.assert_sound(app)
    assert "The files were not read." in drawn.text(app)
    app.file_uploader[0].set_value([("mix_eval_hi_naive_result_openai.jsonl", content, "application/json")]).run()
    drawn.assert_sound(app)
    assert re.search(
        rf"cannot tell hi from naive: 100 %{BAND} of its verdicts change with the order\.", drawn.text(app)
    )
    assert "The lengths of the answers are not known." in drawn.text(app)


def test_the_finding_on_a_judge_is_not_repeated_below_it(home: Workbench, visit: Visit) -> None:
    """A judge that was asked in one order is told so once."""
    line = json.dumps({"question": "q", "first": "a", "second": "b", "verdicts": {"overall": 1}}).encode()
    app = visit("evaluate", home, tab="audit")
    app.file_uploader[0].set_value([("own.jsonl", line, "application/json")]).run()
    drawn.assert_sound(app)
    assert drawn.text(app).count("Every pair was shown in one order only") == 1
    assert "Do not report a against b." in drawn.text(app)


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        ('{"Overall Winner": {"Winner": "Answer 1", "Explanation": "Because."}}', "Because."),
        ("no JSON", "no JSON"),
        ("[" * 100_000, "[" * 420 + "…"),
        ('{"Overall": 3}', '{"Overall": 3}'),
    ],
)
def test_the_reason_of_a_verdict_is_found_in_a_reply_or_the_reply_is_shown(reply: str, expected: str) -> None:
    assert explanation(Judgement("j", PAIRWISE, "q", "a", "b", 0, {}, "", reply), "overall") == expected


def test_a_judgement_says_its_winner_its_tie_or_that_it_was_not_read() -> None:
    def verdict_word(second: str, verdict: float | None) -> str:
        return verdict_words(Judgement("j", PAIRWISE, "q", "a", second, 0, {"overall": verdict}, "", ""), "overall")

    assert [verdict_word("b", verdict) for verdict in (1.0, 2.0, 0.0, None)] == ["a", "b", "a tie", "–"]
    assert verdict_word("", 7.0) == "7"
