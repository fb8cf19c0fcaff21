"""Tables of scores and of differences, as lines and as JSON values."""

from dataclasses import asdict
from typing import Any

from leanrag_core.evaluation.base import Mean
from leanrag_core.evaluation.experiments.comparison import ExperimentDifference
from leanrag_core.evaluation.measuring import decimals, measure_infos
from leanrag_core.evaluation.run_titles import run_titles
from leanrag_core.evaluation.statistics import Interval
from leanrag_core.evaluation.tables import RECALL, Cell, ScoreTable, grounds
from leanrag_core.messages.catalog import sentence
from leanrag_core.retrieval.settings import settings_words
from leanrag_core.types.experiment import ExperimentResult
from leanrag_core.types.visible import visible

_NAME, _CELL, _MEAN = 28, 32, 10  # characters of columns
_SHARE_PLACES = 3


def print_table(table: ScoreTable) -> None:
    """Print a line for each run: mean, interval and letters by measure; then the settings of each."""
    titles, names = {info.name: sentence(info.title) for info in measure_infos()}, _names(table)
    print(f"{table.questions:,} questions{f' ({visible(table.kind)})' if table.kind else ''}")
    heads = "".join(f"{titles.get(measure, measure)[: _CELL - 1]:>{_CELL}}" for measure in table.measures)
    print(f"{'':<{_NAME}}{heads}{'ms':>8}")
    for row in table.rows:
        cells = "".join(f"{_cell(measure, row.cells[measure]):>{_CELL}}" for measure in table.measures)
        latency = "–" if row.latency_ms is None else f"{row.latency_ms:,.0f}"
        failed = f"  {row.errors:,} failed" if row.errors else ""
        print(f"{visible(names[row.run.key])[: _NAME - 1]:<{_NAME}}{cells}{latency:>8}{failed}")
    for row in table.rows:
        settings = sentence(settings_words(row.run.strategy, row.run.options))
        print(f"{visible(names[row.run.key])}: {visible(settings) or '–'}")
    print("runs of a column that share a letter cannot be told apart (paired rank test, Holm, p .05)")


def print_grounds(result: ExperimentResult, table: ScoreTable) -> None:
    """Print what the table rests on, by its first measure of gold evidence, else its first."""
    if table.measures:
        measure = RECALL if RECALL in table.measures else table.measures[0]
        for note in grounds(result, [row.run.key for row in table.rows], measure, table.kind):
            print(f"note, {measure}: {visible(sentence(note))}")


def table_values(table: ScoreTable) -> dict[str, Any]:
    """Return the table as JSON values."""
    names = _names(table)
    rows = [
        {
            "run": names[row.run.key],
            "key": row.run.key,
            "options": dict(row.run.options),
            "cells": {measure: asdict(cell) for measure, cell in row.cells.items()},
            "latency_ms": row.latency_ms,
            "cost": row.cost,
            "errors": row.errors,
        }
        for row in table.rows
    ]
    return {"kind": table.kind, "questions": table.questions, "measures": list(table.measures), "rows": rows}


def _names(table: ScoreTable) -> dict[str, str]:
    """Return what the table's runs are called, by their keys."""
    return {key: sentence(title) for key, title in run_titles([row.run for row in table.rows]).items()}


def _cell(measure: str, cell: Cell) -> str:
    if cell.interval is None:
        return "–"
    return f"{_figures(measure, cell.interval)} {cell.letters}".rstrip()


def _figures(measure: str, interval: Interval, sign: str = "") -> str:
    return with_bounds(interval, decimals(measure, interval.value, of_shares=_SHARE_PLACES), sign)


def figure(measure: str, value: float | None) -> str:
    """Write a score: a count whole, or with a decimal where it is small, anything else with three; a dash for None."""
    return "–" if value is None else f"{value:,.{decimals(measure, value, of_shares=_SHARE_PLACES)}f}"


def print_mean(mean: Mean, note: str = "") -> None:
    """Print a line of a list of means. note: behind the figure."""
    print(f"{sentence(mean.title):>{_NAME}}  {figure(mean.measure, mean.value):>{_MEAN}}{note}")


def with_bounds(interval: Interval, places: int, sign: str = "") -> str:
    """Return the mean with its bounds, if it has any. places: after the point. sign: "+" for a difference."""
    if interval.low is None or interval.high is None:
        return f"{interval.value:{sign},.{places}f}"
    return f"{interval.value:{sign},.{places}f} [{interval.low:,.{places}f}, {interval.high:,.{places}f}]"


def print_difference(difference: ExperimentDifference, most: int) -> None:
    """Print for each run the mean difference and the questions that lost most. most: at most so many of them."""
    print(f"{difference.measure}: {difference.before} -> {difference.after}")
    measure = difference.measure
    for run in difference.runs:
        mean = "–" if run.interval is None else _figures(measure, run.interval, "+")
        name = run.before if run.before == run.after else f"{run.before} -> {run.after}"
        print(f"{visible(name)}: {mean}, p {run.p:.3f}; {run.regressions:,} worse, {run.gains:,} better")
        for change in run.questions[:most]:
            if change.gain < 0:
                before, after = figure(measure, change.before), figure(measure, change.after)
                print(f"  {visible(change.question)}: {before} -> {after}")
    for name in (*difference.only_before, *difference.only_after):
        print(f"{visible(name)}: only in one of the two")
