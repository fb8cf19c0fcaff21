"""Tables of experiments, against figures worked out by hand."""

from collections.abc import Mapping, Sequence

import pytest

from leanrag_core.errors import InvalidConfig
from leanrag_core.evaluation.paper_tables import (
    DATASETS,
    LEANRAG,
    NO_RELATIONS,
    SYSTEMS,
    TABLES,
    paper_spec,
    paper_table,
    published_figures,
)
from leanrag_core.evaluation.tables import kinds_of, measured, pays, score_table, scores_of
from leanrag_core.types.experiment import (
    ABSOLUTE,
    PAIRWISE,
    ExperimentResult,
    ExperimentSpec,
    Judgement,
    JudgeSpec,
    QuestionRow,
    RunCost,
    RunSpec,
)

RECALL, TOKENS = "evidence-recall", "context-tokens"


def result_of(
    recall: Mapping[str, Sequence[float | None]],
    tokens: Mapping[str, Sequence[float]] | None = None,
    kinds: Sequence[str] = (),
    baseline: str = "",
) -> ExperimentResult:
    """Return an experiment with these scores; questions are numbered from 0."""
    runs = tuple(RunSpec(name, "index", "leanrag") for name in recall)
    rows = tuple(
        QuestionRow(
            name,
            str(place),
            kinds[place] if kinds else "",
            {RECALL: score, **({TOKENS: tokens[name][place]} if tokens else {})},
        )
        for name, scores in recall.items()
        for place, score in enumerate(scores)
    )
    costs = tuple(RunCost(row.run, row.question, 10.0 * (place + 1)) for place, row in enumerate(rows))
    return ExperimentResult("x", ExperimentSpec("X", "set", runs, baseline), rows, costs)


def test_a_cell_is_the_mean_with_letters_that_tell_which_runs_differ() -> None:
    high, low = [0.9, 0.8, 1.0, 0.7, 0.85, 0.95, 0.75, 0.65], [0.1, 0.2, 0.15, 0.05, 0.12, 0.3, 0.25, 0.02]
    near = [score - 0.01 * (-1) ** place for place, score in enumerate(high)]
    result = result_of({"A": high, "B": near, "C": low})
    table = score_table(result, measures=[RECALL])
    cells = {row.run.name: row.cells[RECALL] for row in table.rows}
    assert cells["A"].interval is not None
    assert cells["A"].interval.value == pytest.approx(0.825)
    assert cells["A"].interval.low < 0.825 < cells["A"].interval.high
    assert {name: cell.letters for name, cell in cells.items()} == {"A": "a", "B": "a", "C": "b"}
    # Eight differences of one sign: Wilcoxon's exact p is 2 / 2**8, times 3 for the most certain of three pairs.
    assert pays(result, ["A"], "C", RECALL)["A"][0].p == pytest.approx(3 * 2 / 256)
    assert [row.latency_ms for row in table.rows] == [45.0, 125.0, 205.0]
    assert table.questions == 8


def test_the_best_of_tokens_is_the_lowest_and_equal_means_are_no_best() -> None:
    tokens = {"A": [100.0, 300.0], "B": [400.0, 400.0]}
    table = score_table(result_of({"A": [1, 1], "B": [1, 1]}, tokens, baseline="B"), measures=[RECALL, TOKENS])
    assert [row.cells[TOKENS].is_best for row in table.rows] == [True, False]
    assert [row.cells[RECALL].is_best for row in table.rows] == [False, False]


def test_relative_context_is_the_mean_over_that_of_the_baseline() -> None:
    result = result_of({"A": [1, 1], "B": [1, 0]}, {"A": [100.0, 300.0], "B": [400.0, 400.0]}, baseline="B")
    assert scores_of(result, "relative-context", ["0", "1"]) == {"A": (0.25, 0.75), "B": (1.0, 1.0)}
    assert measured(result)[-2:] == (TOKENS, "relative-context")


def test_a_kind_has_the_questions_of_that_kind_alone_and_unmeasured_cells_stay_empty() -> None:
    result = result_of({"A": [1, 0, None], "B": [0, 0, None]}, kinds=["fact", "multi-hop", "unanswerable"])
    assert kinds_of(result) == ("fact", "multi-hop", "unanswerable")
    fact, none = score_table(result, "fact", [RECALL]), score_table(result, "unanswerable", [RECALL])
    assert (fact.questions, fact.rows[0].cells[RECALL].interval.value) == (1, 1.0)
    assert none.rows[0].cells[RECALL].interval is None


def test_when_a_graph_pays_is_the_paired_difference_by_kind() -> None:
    kinds = ["fact"] * 4 + ["multi-hop"] * 4
    result = result_of({"A": [0.5] * 4 + [1, 0.8, 0.9, 0.7], "B": [0.5] * 4 + [0.5, 0.5, 0.5, 0.5]}, kinds=kinds)
    every, fact, hop = pays(result, ["A"], "B")["A"]
    assert (every.kind, fact.kind, hop.kind) == ("", "fact", "multi-hop")
    assert every.interval is not None
    assert every.interval.value == pytest.approx(0.175)
    assert fact.interval is not None
    assert (fact.interval.value, fact.is_told, fact.p) == (0.0, False, 1.0)
    assert hop.interval is not None
    assert hop.interval.value == pytest.approx(0.35)
    assert not hop.is_told, "four questions are too few for the rank test, whatever their interval says"


def test_the_difference_of_two_runs_is_told_where_their_letters_say_so() -> None:
    """Compare eight runs of small differences: some pairs have an interval without 0 that the test over all pairs does
    not bear."""
    shifts = (0.0, 0.1, 0.12, 0.2, 0.25, 0.3, 0.4, 0.6)
    scores = {
        f"run {place}": [0.3 + shift * (number % 3) / 2 - 0.2 * ((number + place) % 2) for number in range(24)]
        for place, shift in enumerate(shifts)
    }
    result = result_of(scores)
    letters = {row.run.name: set(row.cells[RECALL].letters) for row in score_table(result, measures=[RECALL]).rows}
    alone = 0
    for against in scores:
        for run, (every, *_) in pays(result, [name for name in scores if name != against], against).items():
            assert every.is_told == (not letters[run] & letters[against]), (run, against)
            assert every.interval is not None
            assert every.interval.low is not None
            assert every.interval.high is not None
            alone += not every.is_told and (every.interval.low > 0 or every.interval.high < 0)
    assert alone, "the scores should have a pair on which interval and letters disagree"


def test_a_failed_question_is_counted_and_left_out_of_the_times() -> None:
    result = result_of({"A": [1.0, 0.5]})
    failed = QuestionRow("A", "2", "", {}, error="too long")
    result = ExperimentResult("x", result.spec, (*result.rows, failed), (*result.costs, RunCost("A", "2", 0.0)))
    (row,) = score_table(result, measures=[RECALL]).rows
    assert (row.errors, row.latency_ms) == (1, 15.0)


def test_the_published_figures_are_those_of_the_paper() -> None:
    (mix,) = [
        each for each in published_figures("scores", "Mix") if (each.criterion, each.system) == ("overall", "LeanRAG")
    ]
    assert (mix.value, mix.spread) == (8.59, 0.01)
    assert len(published_figures("scores")) == 4 * 4 * 7
    assert len(published_figures("win-rates")) == 4 * 4 * 6
    assert {each.dataset for name in TABLES[:4] for each in published_figures(name)} == set(DATASETS)


@pytest.mark.parametrize("table", TABLES)
def test_each_table_has_an_experiment_of_its_own(table: str) -> None:
    judge = JudgeSpec("openai:judge", repeats=2)
    spec = paper_spec(table, "index", "set", judges=[judge], options={"top_c": 5})
    assert spec.runs[0] == RunSpec(LEANRAG, "index", "leanrag", {"top_c": 5})
    assert len(spec.runs) == {"scores": 7, "relations": 2, "context": 2, "win-rates": 7, "tokens": 5}[table]
    kinds = [judge.kinds for judge in spec.judges]
    assert kinds == ([] if table == "tokens" else [(ABSOLUTE,) if table in ("scores", "context") else (PAIRWISE,)])
    if table == "relations":
        assert spec.runs[1] == RunSpec(NO_RELATIONS, "index", "leanrag", {"top_c": 5, "inter_cluster": False})
    assert {run.strategy for run in spec.runs} <= set(SYSTEMS.values())
    with pytest.raises(InvalidConfig, match="table 9"):
        paper_spec("table 9", "index", "set")


def test_table_1_has_own_means_beside_the_published_ones() -> None:
    spec = paper_spec("scores", "index", "set", judges=[JudgeSpec("j", repeats=2)])
    judgements = [
        Judgement("j", ABSOLUTE, str(question), "LeanRAG", "", repeat, {"overall": score}, "", "")
        for repeat, scores in enumerate([(8.0, 6.0), (9.0, 7.0)])
        for question, score in enumerate(scores)
    ]
    (table,) = paper_table("scores", ExperimentResult("x", spec, judgements=tuple(judgements)))
    cells = {(cell.criterion, cell.system): cell for cell in table.cells}
    own = cells["overall", "LeanRAG"]
    assert own.own is not None
    assert (own.own.value, own.own.n) == (7.5, 2)
    assert own.spread == pytest.approx(0.7071, abs=1e-4), "of the means 7 and 8 of the two repeats"
    assert own.published == {"Mix": 8.59, "CS": 8.82, "Legal": 8.49, "Agriculture": 8.87}
    assert cells["overall", "KAG"].own is None


def test_table_4_has_win_rates_of_leanrag_in_percent_whichever_was_shown_first() -> None:
    spec = paper_spec("win-rates", "index", "set", judges=[JudgeSpec("j", repeats=1)])
    shown = [("LeanRAG", "HiRAG", 1.0), ("HiRAG", "LeanRAG", 1.0), ("LeanRAG", "HiRAG", 0.0), ("HiRAG", "LeanRAG", 2.0)]
    judgements = tuple(
        Judgement("j", PAIRWISE, f"q{place // 2}", first, second, 0, {"overall": verdict}, "", "")
        for place, (first, second, verdict) in enumerate(shown)
    )
    (table,) = paper_table("win-rates", ExperimentResult("x", spec, judgements=judgements))
    (cell,) = [cell for cell in table.cells if cell.own is not None]
    assert (cell.criterion, cell.system, cell.own.value) == ("overall", "HiRAG", 62.5)
    assert cell.published["Mix"] == 71.9
    turned = tuple(
        Judgement(
            "j",
            PAIRWISE,
            each.question,
            each.first.replace("HiRAG", NO_RELATIONS),
            each.second.replace("HiRAG", NO_RELATIONS),
            0,
            each.verdicts,
            "",
            "",
        )
        for each in judgements
    )
    (ablation,) = paper_table("relations", ExperimentResult("x", spec, judgements=turned))
    own = {cell.system: cell.own.value for cell in ablation.cells if cell.own is not None}
    assert own == {LEANRAG: 62.5, NO_RELATIONS: 37.5}


def test_figure_3_is_our_tokens_over_the_mean_of_the_others() -> None:
    spec = paper_spec("tokens", "index", "set")
    tokens = {"LeanRAG": 200.0, "GraphRAG": 300.0, "LightRAG": 500.0, "HiRAG": 400.0, "FastGraphRAG": 400.0}
    rows = tuple(QuestionRow(run, str(n), "", {TOKENS: value + n}) for run, value in tokens.items() for n in range(2))
    (table,) = paper_table("tokens", ExperimentResult("x", spec, rows))
    ratio = table.cells[-1]
    assert ratio.own is not None
    assert ratio.own.value == pytest.approx(200.5 / 400.5)
    assert ratio.published == {"mean of data sets": 0.54}
