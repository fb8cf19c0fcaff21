"""Experiments compared, and as files: escaped, without network, and run again from what they hold."""

import csv
import io
import json
import re
from html import unescape
from html.parser import HTMLParser
from pathlib import Path

import pytest

from leanrag_core.errors import InvalidConfig
from leanrag_core.evaluation.experiments.comparison import compare_experiments
from leanrag_core.evaluation.experiments.report import as_csv, as_html, as_json
from leanrag_core.evaluation.experiments.running import read_spec, strategies_spec
from leanrag_core.evaluation.gold import GoldQuestion
from leanrag_core.evaluation.measuring import written, written_difference
from leanrag_core.figures.fonts import font_faces
from leanrag_core.types.experiment import (
    ABSOLUTE,
    PAIRWISE,
    ExperimentResult,
    ExperimentSpec,
    Judgement,
    QuestionRow,
    RunCost,
    RunSpec,
)

RECALL, TOKENS = "evidence-recall", "context-tokens"
EVIL = '<script>alert("x")</script><img src=http://evil.example/a.png>'


class Elements(HTMLParser):
    """Names of the elements and attributes of a page."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.attributes: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes |= {name for name, _ in attrs}


def experiment(
    id_: str, scores: dict[str, float | None], measure: str = RECALL, run: str = "LeanRAG"
) -> ExperimentResult:
    rows = tuple(
        QuestionRow(run, question, "fact", {measure: score}, answer="A.") for question, score in scores.items()
    )
    return ExperimentResult(id_, ExperimentSpec(id_, "set", (RunSpec(run, "index", "leanrag"),)), rows)


@pytest.fixture
def hostile() -> ExperimentResult:
    """Return an experiment in which every text that a person, a document or a model gives is hostile."""
    runs = (RunSpec(EVIL, "index", "leanrag", {"top_c": 2}), RunSpec("=NaiveRAG", "index", "vector"))
    rows = tuple(
        QuestionRow(run.name, question, EVIL, {RECALL: 1.0, TOKENS: 10.0}, ("chunk-1",), f"=1+1 {EVIL}")
        for run in runs
        for question in ("q1", "q2")
    )
    judgements = (
        Judgement(EVIL, PAIRWISE, "q1", EVIL, "=NaiveRAG", 0, {"overall": 1.0}, EVIL, EVIL),
        Judgement(EVIL, ABSOLUTE, "q1", EVIL, "", 0, {"overall": 7.0}, EVIL, EVIL),
    )
    costs = tuple(RunCost(row.run, row.question, 5.0) for row in rows)
    spec = ExperimentSpec(EVIL, "set", runs, baseline="=NaiveRAG")
    return ExperimentResult("x", spec, rows, costs, judgements, is_complete=True, versions={"program": EVIL})


QUESTIONS = (GoldQuestion("q1", EVIL, (EVIL,)), GoldQuestion("q2", "@Who?"))


def test_regressions_come_first_whichever_way_the_measure_goes() -> None:
    before = experiment("before", {"a": 0.5, "b": 1.0, "c": 0.0, "d": None, "e": 0.5})
    after = experiment("after", {"a": 1.0, "b": 0.25, "c": 0.0, "d": 1.0})
    difference = compare_experiments(before, after)
    (run,) = difference.runs
    assert [(change.question, change.difference) for change in run.questions] == [("b", -0.75), ("c", 0.0), ("a", 0.5)]
    assert (run.regressions, run.gains, run.alone) == (1, 1, 2)
    assert run.interval is not None
    assert run.interval.value == pytest.approx(-0.25 / 3)
    fewer, more = experiment("x", {"a": 100.0}, TOKENS), experiment("y", {"a": 200.0}, TOKENS)
    (tokens,) = compare_experiments(fewer, more, TOKENS).runs
    assert (tokens.questions[0].difference, tokens.questions[0].gain, tokens.regressions) == (100.0, -100.0, 1)


def test_single_runs_are_set_side_by_side_and_others_by_name() -> None:
    (run,) = compare_experiments(experiment("x", {"a": 1.0}), experiment("y", {"a": 1.0}, run="C 8")).runs
    assert (run.before, run.after, run.questions[0].same_answer) == ("LeanRAG", "C 8", True)
    two = ExperimentResult("z", ExperimentSpec("z", "set", (RunSpec("A", "i", "leanrag"), RunSpec("B", "i", "vector"))))
    none = compare_experiments(experiment("x", {"a": 1.0}), two)
    assert (none.runs, none.only_before, none.only_after) == ((), ("LeanRAG",), ("A", "B"))


def test_the_page_escapes_everything_and_asks_no_network(hostile: ExperimentResult) -> None:
    for language in ("en", "zh"):
        page = as_html(hostile, QUESTIONS, language).decode()
        assert "<script" not in page
        elements = Elements()
        elements.feed(page)
        assert "img" not in elements.tags
        assert not {"src", "href", "srcset", "action", "onload", "onerror"} & elements.attributes
        assert "url(" not in page.replace(font_faces(), ""), "type faces are in the file itself"
        assert "default-src 'none'" in unescape(page)
        assert page.count("&lt;script&gt;") > 10
        assert "experiment run spec.json" in page


def test_a_title_of_the_program_is_in_the_language_of_the_report_and_ones_own_as_it_is() -> None:
    def heading(title: str, language: str) -> str:
        page = as_html(experiment(title, {"a": 0.5}), QUESTIONS, language).decode()
        [written] = {*re.findall("<(?:h1|title)>(.*?)</", page)}
        return str(written)

    assert heading("Equal budget of 2,000 tokens, Bees", "zh") == "相同预算（2,000 个词元）：Bees"
    assert heading("Equal budget of 2,000 tokens, Bees", "en") == "Equal budget of 2,000 tokens, Bees"
    assert heading("My 3 bees", "zh") == "My 3 bees"


def test_the_report_writes_a_number_as_the_page_does() -> None:
    scores = {"LeanRAG": (0.798, 3512.4), "Naive": (0.5, 99.5)}
    rows = [
        QuestionRow(run, question, "fact", {RECALL: recall, TOKENS: tokens})
        for run, (recall, tokens) in scores.items()
        for question in ("a", "b")
    ]
    runs = (RunSpec("LeanRAG", "index", "leanrag"), RunSpec("Naive", "index", "vector"))
    costs = tuple(RunCost(row.run, row.question, 1250.0) for row in rows)
    spec = ExperimentSpec("x", "set", runs, baseline="Naive", answers=False)
    page = as_html(ExperimentResult("x", spec, tuple(rows), costs), QUESTIONS).decode()
    cells = re.findall(r"<td[^>]*>([^<]*)<", page)
    assert {".80", ".50", "3,512", "99.5", "1.2 s", "+.30 [+.30 … +.30]"} <= {cell.removesuffix(" *") for cell in cells}
    assert ".798" not in page
    assert (written(RECALL, 0.798), written(TOKENS, 3512.4), written(TOKENS, 99.5)) == (".80", "3,512", "99.5")
    assert (written_difference(TOKENS, -3413.0), written_difference(RECALL, 0.0)) == ("−3,413", ".00")


def test_a_spreadsheet_takes_no_text_for_a_formula(hostile: ExperimentResult) -> None:
    rows = list(csv.DictReader(io.StringIO(as_csv(hostile, QUESTIONS).decode("utf-8-sig"))))
    assert len(rows) == 4
    assert (rows[0][RECALL], rows[0]["retrieval_ms"], rows[0]["passages"]) == ("1.0", "5.0", "chunk-1")
    assert rows[2]["run"] == "'=NaiveRAG"
    assert rows[0]["answer"].startswith("'=1+1")
    assert rows[1]["text"] == "'@Who?"


def test_an_export_holds_the_specification_to_run_again(hostile: ExperimentResult, tmp_path: Path) -> None:
    path = tmp_path / "export.json"
    path.write_bytes(as_json(hostile, QUESTIONS))
    assert read_spec(path) == hostile.spec
    path.write_text(json.dumps(json.loads(path.read_text())["spec"]))
    assert read_spec(path) == hostile.spec
    path.write_text('{"title": "x"}')
    with pytest.raises(InvalidConfig, match="holds no experiment"):
        read_spec(path)
    with pytest.raises(InvalidConfig, match="cannot read"):
        read_spec(tmp_path / "none.json")


def test_all_strategies_have_official_or_equal_budgets_and_naive_vectors_as_baseline() -> None:
    official = strategies_spec("All", "index", "set", asks_model=False)
    names = [run.strategy for run in official.runs]
    assert "zero_shot" not in names
    assert names[0] == "leanrag"
    assert next(run for run in official.runs if run.name == official.baseline).strategy == "vector"
    equal = strategies_spec("All", "index", "set", ["vector", "bm25"], asks_model=True, equal_tokens=4000)
    assert [run.options["max_tokens"] for run in equal.runs] == [4000, 4000]
    assert "zero_shot" in {run.strategy for run in strategies_spec("All", "index", "set", asks_model=True).runs}
    with pytest.raises(InvalidConfig):
        strategies_spec("All", "index", "set", ["magic"], asks_model=False)


def test_the_page_says_kinds_of_questions_in_its_language() -> None:
    rows = [QuestionRow("LeanRAG", f"q{n}", ("multi-hop", "of my own")[n % 2], {RECALL: 1.0}) for n in range(4)]
    made = ExperimentResult("x", ExperimentSpec("x", "set", (RunSpec("LeanRAG", "index", "leanrag"),)), tuple(rows))
    for language, kind in (("en", "Multi-hop"), ("zh", "多跳")):
        page = as_html(made, QUESTIONS, language).decode()
        assert kind in page
        assert "multi-hop" not in page
        assert "of my own" in page
