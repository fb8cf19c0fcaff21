"""Tables of GraphRAG and LightRAG, against figures worked out by hand."""

import pytest

from leanrag_core.errors import InvalidConfig
from leanrag_core.evaluation.paper_tables import PaperCell, published_figures
from leanrag_core.evaluation.rival_tables import (
    ABLATIONS,
    COST,
    LEVEL_RATES,
    LIGHT_RATES,
    RIVAL_TABLES,
    WINDOW,
    rival_spec,
    rival_table,
)
from leanrag_core.types.experiment import PAIRWISE, ExperimentResult, Judgement, JudgeSpec, QuestionRow, RunCost


def judged(first: str, second: str, winner: float, question: str = "q") -> Judgement:
    """Return a verdict by one criterion. winner: 1 for the answer shown first, 2 for the other."""
    return Judgement("j", PAIRWISE, question, first, second, 0, {"comprehensiveness": winner}, "", "")


def cells_of(table: str, *judgements: Judgement) -> dict[tuple[str, str], PaperCell]:
    """Return the cells of the table made from the judgements."""
    spec = rival_spec(table, "index", "set", judges=[JudgeSpec("j", repeats=1)])
    (made,) = rival_table(table, ExperimentResult("x", spec, judgements=judgements))
    return {(cell.criterion, cell.system): cell for cell in made.cells}


def value(cell: PaperCell) -> float:
    assert cell.own is not None
    return cell.own.value


def test_the_published_figures_are_those_of_the_papers() -> None:
    known = {
        (each.table, each.dataset, each.criterion, each.system): each.value
        for table in RIVAL_TABLES
        for each in published_figures(table)
    }
    assert known[LIGHT_RATES, "Mix", "overall", "GraphRAG"] == 48.14
    assert known[ABLATIONS, "Legal", "diversity", "-Origin"] == 86.84
    assert known[LEVEL_RATES, "News", "directness", "C0 against SS"] == 41.44
    assert known[WINDOW, "mean of comparisons", "comprehensiveness", "8k against 16k, 32k and 64k"] == 58.1
    assert known[COST, "Legal", "tokens", "GraphRAG"] == 610_000
    counts = [len(published_figures(table)) for table in RIVAL_TABLES]
    assert counts == [3, 4 * 15 * 2, 4 * 4 * 4, 4 * 4 * 4, 3]
    assert all(each.source for table in RIVAL_TABLES for each in published_figures(table))


def test_each_table_compares_what_its_paper_compares() -> None:
    pairs = {
        table: rival_spec(table, "i", "s", judges=[JudgeSpec("j")]).judges[0].pairs
        for table in RIVAL_TABLES
        if table != COST
    }
    assert pairs[WINDOW] == (("8k", "16k"), ("8k", "32k"), ("8k", "64k"))
    assert len(pairs[LEVEL_RATES]) == 4 + 4 + 6 + 1, "levels against SS, TS and each other; TS against SS"
    assert pairs[LIGHT_RATES] == tuple(("LightRAG", name) for name in ("NaiveRAG", "RQ-RAG", "HyDE", "GraphRAG"))
    assert pairs[ABLATIONS] == tuple((name, "NaiveRAG") for name in ("LightRAG", "-High", "-Low", "-Origin"))
    assert rival_spec(COST, "i", "s", judges=[JudgeSpec("j")]).judges == ()
    with pytest.raises(InvalidConfig, match="table 9"):
        rival_spec("table 9", "i", "s")


def test_ablations_take_one_level_or_the_text_away() -> None:
    options = {run.name: run.options for run in rival_spec(ABLATIONS, "i", "s").runs if run.strategy == "lightrag"}
    assert [options[name]["mode"] for name in ("LightRAG", "-High", "-Low", "-Origin")] == [
        "hybrid",
        "low",
        "high",
        "hybrid",
    ]
    assert options["-Origin"] == {**options["LightRAG"], "chunk_tokens": 0, "top_c": 0}


def test_the_rate_is_of_the_first_of_a_pair_whichever_was_shown_first() -> None:
    cells = cells_of(
        ABLATIONS, judged("-Low", "NaiveRAG", 1), judged("NaiveRAG", "-Low", 2), judged("NaiveRAG", "-Low", 1, "q2")
    )
    cell = cells["comprehensiveness", "-Low"]
    assert value(cell) == pytest.approx(100 * 2 / 3)
    assert cell.published["Mix"] == 64.08
    assert cells["comprehensiveness", "-High"].own is None


def test_the_window_study_has_the_mean_over_the_larger_windows() -> None:
    cells = cells_of(WINDOW, judged("8k", "16k", 1), judged("8k", "32k", 2), judged("64k", "8k", 2))
    rates = [value(cells["comprehensiveness", f"8k against {name}"]) for name in ("16k", "32k", "64k")]
    assert rates == [100.0, 0.0, 100.0]
    mean = cells["comprehensiveness", "8k against 16k, 32k and 64k"]
    assert value(mean) == pytest.approx(200 / 3)
    assert mean.published == {"mean of comparisons": 58.1}


def test_the_window_study_tells_how_long_the_contexts_were() -> None:
    spec = rival_spec(WINDOW, "index", "set")
    rows = tuple(QuestionRow(name, "q", "", {"context-tokens": tokens}) for name, tokens in (("8k", 7.0), ("64k", 9.0)))
    (made,) = rival_table(WINDOW, ExperimentResult("x", spec, rows))
    own = {cell.system: cell.own.value for cell in made.cells if cell.own and cell.criterion == "context-tokens"}
    assert own == {"8k": 7.0, "64k": 9.0}


def test_costs_are_means_of_what_was_paid_for_a_question() -> None:
    spec = rival_spec(COST, "index", "set")
    paid = {("LightRAG", "a"): (2, 80), ("GraphRAG", "a"): (3, 300), ("GraphRAG", "b"): (5, 500)}
    costs = tuple(
        RunCost(run, question, 1.0, calls=calls, prompt_tokens=tokens, completion_tokens=20)
        for (run, question), (calls, tokens) in paid.items()
    )
    (made,) = rival_table(COST, ExperimentResult("x", spec, costs=costs))
    cells = {(cell.criterion, cell.system): cell for cell in made.cells}
    own = {key: value(cell) for key, cell in cells.items()}
    assert own["tokens", "LightRAG"] == 100.0
    assert (own["tokens", "GraphRAG"], own["calls", "GraphRAG"]) == (420.0, 4.0)
    assert cells["calls", "LightRAG"].published == {"Legal": 1.0}
    assert cells["calls", "GraphRAG"].published == {}
