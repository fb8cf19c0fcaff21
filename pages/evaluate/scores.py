"""Tables of an experiment and differences of two of its runs, made once for each change of it."""

from collections.abc import Mapping

import streamlit as st

from leanrag_core.evaluation.tables import KindDifference, ScoreTable, TableRow, pays, score_table
from leanrag_core.types.experiment import ExperimentResult
from pages.evaluate import measure_words
from pages.evaluate.measure_words import LATENCY


def table_of(result: ExperimentResult, kind: str, measures: tuple[str, ...], stamp: str) -> ScoreTable:
    """The table. kind: of questions, "" for all; stamp: when the experiment changed last."""
    return _kept_table(result.id, stamp, kind, measures, result)


@st.cache_resource(show_spinner=False, max_entries=32)
def _kept_table(
    experiment: str, stamp: str, kind: str, measures: tuple[str, ...], _result: ExperimentResult
) -> ScoreTable:
    return score_table(_result, kind, measures)


def differences(
    result: ExperimentResult, run: str, against: str, measure: str, stamp: str
) -> Mapping[str, KindDifference]:
    """The first run minus the second by kind of question; "" for all of them."""
    return _kept_differences(result.id, stamp, run, against, measure, result)


@st.cache_resource(show_spinner=False, max_entries=64)
def _kept_differences(
    experiment: str, stamp: str, run: str, against: str, measure: str, _result: ExperimentResult
) -> Mapping[str, KindDifference]:
    return {each.kind: each for each in pays(_result, [run], against, measure)[run]}


def ranked(table: ScoreTable, measure: str) -> tuple[TableRow, ...]:
    """The rows, the best by that measure first; those without a value last."""
    less = measure_words.less_is_better(measure)

    def key(row: TableRow) -> tuple[bool, float]:
        value = row.latency_ms if measure == LATENCY else _mean(row, measure)
        return (value is None, 0.0 if value is None else value if less else -value)

    return tuple(sorted(table.rows, key=key))


def _mean(row: TableRow, measure: str) -> float | None:
    cell = row.cells.get(measure)
    return None if cell is None or cell.interval is None else cell.interval.value
