"""The table of an experiment: for each run and measure the mean, its letter, and a dot with the interval."""

from collections.abc import Collection, Mapping

import streamlit as st
from markupsafe import Markup

from leanrag_core.evaluation.tables import Cell, KindDifference, ScoreTable, TableRow, pays, score_table
from leanrag_core.figures.interval_marks import CellScale, column_scale
from leanrag_core.messages.catalog import joined_sentences
from leanrag_core.retrieval.base import strategies as all_strategies
from leanrag_core.retrieval.settings import settings_line, shown_settings
from leanrag_core.types.experiment import ExperimentResult
from pages.common import markup
from pages.common.html import NOTHING, html, joined
from pages.common.messages import say, words
from pages.compare import fragments
from pages.evaluate import experiments, figure_view, measure_words
from pages.evaluate.measure_words import LATENCY


@st.cache_resource(show_spinner=False, max_entries=32, hash_funcs=experiments.BY_ID)
def table_of(result: ExperimentResult, kind: str, measures: tuple[str, ...], stamp: str) -> ScoreTable:
    """Return the table of scores. kind: of questions, "" for all; stamp: a part of the cache key that changes with the
    experiment."""
    return score_table(result, kind, measures)


@st.cache_resource(show_spinner=False, max_entries=64, hash_funcs=experiments.BY_ID)
def differences(
    result: ExperimentResult, run: str, against: str, measure: str, stamp: str
) -> Mapping[str, KindDifference]:
    """Return the first run minus the second by kind of question; the key "" holds all questions. stamp: as of
    table_of()."""
    return {each.kind: each for each in pays(result, [run], against, measure)[run]}


def ranked(table: ScoreTable, measure: str) -> tuple[TableRow, ...]:
    """Return the rows, best first by that measure; rows without a value come last."""
    less = measure_words.less_is_better(measure)

    def key(row: TableRow) -> tuple[bool, float]:
        value = row.latency_ms if measure == LATENCY else mean(row, measure)
        return (value is None, 0.0 if value is None else value if less else -value)

    return tuple(sorted(table.rows, key=key))


def mean(row: TableRow, measure: str) -> float | None:
    """Return the mean score of the row's run; None where it has none."""
    cell = row.cells.get(measure)
    return None if cell is None or cell.interval is None else cell.interval.value


def table(
    rows: ScoreTable,
    sort: str,
    letters: Mapping[str, str],
    titles: Mapping[str, str],
    index_names: Mapping[str, str],
    selected: Collection[str] = (),
) -> Markup:
    """Return the table, the best by `sort` first. letters: of the runs that are compared, which keep colour and marker.

    titles: of the runs. index_names: titles of the runs' indexes, where the experiment has several. selected: runs
    beside which the others are pale.
    """
    head = [html("<th>{}</th>", say("evaluate.run"))]
    for measure in (*rows.measures, LATENCY):
        arrow = "↓" if measure == sort else ""
        state = html(' aria-sort="{}"', "ascending" if measure_words.less_is_better(measure) else "descending")
        head.append(
            html(
                '<th class="{}" title="{}"{}>{} {}</th>',
                "sorted" if arrow else "",
                measure_words.help_of(measure),
                state if arrow else NOTHING,
                measure_words.title_of(measure),
                arrow,
            )
        )
    scales = {measure: _scale(rows, measure) for measure in rows.measures}
    pale = {row.run.key for row in rows.rows if selected and row.run.key not in selected}
    lines = [_line(row, rows, scales, letters, titles, index_names, pale) for row in ranked(rows, sort)]
    return markup.wide_table("lr-ev", say("evaluate.scores"), joined(head), lines)


def _scale(rows: ScoreTable, measure: str) -> CellScale:
    return column_scale(row.cells[measure].interval for row in rows.rows)


def _line(
    row: TableRow,
    rows: ScoreTable,
    scales: Mapping[str, CellScale],
    letters: Mapping[str, str],
    titles: Mapping[str, str],
    index_names: Mapping[str, str],
    pale: Collection[str],
) -> Markup:
    letter = letters.get(row.run.key, "")
    cells = [_name(row, letter, titles[row.run.key], index_names)]
    cells += [_cell(row.cells[measure], measure, scales[measure], letter) for measure in rows.measures]
    times = [each.latency_ms for each in rows.rows if each.latency_ms is not None]
    fastest = row.latency_ms is not None and len(times) > 1 and row.latency_ms == min(times)
    shown = measure_words.shown(LATENCY, row.latency_ms)
    cells.append(html("<td><b>{}</b></td>" if fastest else "<td>{}</td>", shown))
    classes = f"{'marked' if letter else ''} {'pale' if row.run.key in pale else ''}".strip()
    return html('<tr class="{}">{}</tr>', classes, joined(cells))


def _name(row: TableRow, letter: str, title: str, index_names: Mapping[str, str]) -> Markup:
    info = all_strategies().by_name().get(row.run.strategy)
    badge = NOTHING
    if info is not None:
        meaning = f"{say(f'badge.{info.badge}.meaning')}. {words(info.differs)}"
        badge = html('<span class="lr-tag" title="{}">{}</span>', meaning, words(info.badge_title))
    settings = words(settings_line(shown_settings(info, row.run.options)))
    index = index_names.get(row.run.index, "") if row.run.name else ""  # else its title has it
    return html(
        '<td><span class="sq">{}</span><span class="n">{}</span> {}{}{}{}</td>',
        fragments.square(letter) if letter else NOTHING,
        title,
        badge,
        html(' <span class="lr-muted lr-small">{}</span>', index) if index else NOTHING,
        html(' <span class="lr-ev-bad">{}</span>', say("evaluate.failed_questions", n=row.errors))
        if row.errors
        else NOTHING,
        html('<span class="set">{}</span>', settings) if settings else NOTHING,
    )


def _cell(cell: Cell, measure: str, scale: CellScale, letter: str) -> Markup:
    interval = cell.interval
    if interval is None:
        return figure_view.not_measured()
    n_questions = say("evaluate.of_questions", n=interval.n)
    described = joined_sentences([figure_view.interval_words(interval, measure), n_questions])
    value = measure_words.shown(measure, interval.value)
    dot = figure_view.interval_bar(scale.mark(interval), described, letter)
    best = html('<span class="lr-ev-best">{}</span>', say("set.best")) if cell.is_best else NOTHING
    return html(
        '<td class="{}"><span class="v"><b>{}</b><small>{}</small>{}</span>{}</td>'
        if cell.is_best
        else '<td class="{}"><span class="v">{}<small>{}</small>{}</span>{}</td>',
        "best" if cell.is_best else "",
        value,
        cell.letters,
        best,
        dot,
    )
