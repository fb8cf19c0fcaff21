"""The table of an experiment: means with intervals and letters, and differences of two runs."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median

import streamlit as st

from leanrag_core.evaluation.statistics.intervals import Interval, difference_interval, mean_interval
from leanrag_core.evaluation.statistics.letters import compact_letters
from leanrag_core.evaluation.statistics.rank_tests import holm, paired_test
from leanrag_core.types.experiment import ExperimentResult, RunSpec
from pages._shared.evaluate import measure_words
from pages._shared.evaluate.measure_words import LATENCY


@dataclass(frozen=True)
class Cell:
    """A mean with its interval, and the letters of its groups. interval: None where nothing is measured."""

    interval: Interval | None
    letters: str = ""
    is_best: bool = False


@dataclass(frozen=True)
class Row:
    """A run with its cells, by measure."""

    run: RunSpec
    cells: Mapping[str, Cell]
    latency_ms: float | None
    errors: int


@dataclass(frozen=True)
class Table:
    """The runs of an experiment over the questions of a kind."""

    measures: tuple[str, ...]
    rows: tuple[Row, ...]
    questions: int


def table_of(result: ExperimentResult, kind: str, measures: tuple[str, ...], stamp: str) -> Table:
    """The table, kept until the experiment changes. stamp: when it changed last."""
    return _kept_table(result.id, stamp, kind, measures, result)


@st.cache_resource(show_spinner=False, max_entries=32)
def _kept_table(experiment: str, stamp: str, kind: str, measures: tuple[str, ...], _result: ExperimentResult) -> Table:
    questions = questions_of(_result, kind)
    scores = {measure: scores_of(_result, measure, questions) for measure in measures}
    cells = {measure: _cells(measure, scores[measure], _result.spec.seed) for measure in measures}
    asked = set(questions)
    rows = []
    for run in _result.spec.runs:
        times = [cost.retrieval_ms for cost in _result.costs if cost.run == run.name and cost.question in asked]
        errors = sum(bool(row.error) for row in _result.rows if row.run == run.name and row.question in asked)
        rows.append(
            Row(run, {name: cells[name][run.name] for name in measures}, median(times) if times else None, errors)
        )
    return Table(measures, tuple(rows), len(questions))


def questions_of(result: ExperimentResult, kind: str = "") -> tuple[str, ...]:
    """The questions of that kind, all for "", in the order of the rows."""
    return tuple(dict.fromkeys(row.question for row in result.rows if not kind or row.kind == kind))


def scores_of(
    result: ExperimentResult, measure: str, questions: Sequence[str]
) -> Mapping[str, tuple[float | None, ...]]:
    """Of each run the scores of these questions, None where there is none."""
    scores = {(row.run, row.question): row.scores.get(measure) for row in result.rows}
    return {run.name: tuple(scores.get((run.name, question)) for question in questions) for run in result.spec.runs}


def _cells(measure: str, scores: Mapping[str, Sequence[float | None]], seed: int) -> Mapping[str, Cell]:
    names = list(scores)
    intervals = [mean_interval(scores[name], seed) for name in names]
    sign = -1.0 if measure_words.less_is_better(measure) else 1.0
    values = [None if interval is None else sign * interval.value for interval in intervals]
    best = max((value for value in values if value is not None), default=None)
    couples = [(first, second) for first in range(len(names)) for second in range(first + 1, len(names))]
    corrected = holm([paired_test(scores[names[first]], scores[names[second]]) for first, second in couples])
    matrix = [[1.0] * len(names) for _ in names]
    for (first, second), p in zip(couples, corrected, strict=True):
        matrix[first][second] = matrix[second][first] = p
    letters = compact_letters(names, matrix, values)
    is_apart = len({round(value, 9) for value in values if value is not None}) > 1
    return {
        name: Cell(interval, letters[name] if len(names) > 1 else "", is_apart and value == best)
        for name, interval, value in zip(names, intervals, values, strict=True)
    }


def difference(result: ExperimentResult, run: str, against: str, measure: str, kind: str = "") -> Interval | None:
    """The mean of a run's score minus the other one's over the questions of a kind, with its interval."""
    scores = scores_of(result, measure, questions_of(result, kind))
    return difference_interval(scores[run], scores[against], result.spec.seed)


def value_of(row: Row, measure: str) -> float | None:
    """What a table is sorted by."""
    if measure == LATENCY:
        return row.latency_ms
    cell = row.cells.get(measure)
    return None if cell is None or cell.interval is None else cell.interval.value


def ranked(table: Table, measure: str) -> tuple[Row, ...]:
    """The rows, the best by that measure first; those without a value last."""
    less = measure_words.less_is_better(measure)

    def key(row: Row) -> tuple[bool, float]:
        value = value_of(row, measure)
        return (value is None, 0.0 if value is None else value if less else -value)

    return tuple(sorted(table.rows, key=key))
