"""A table of what judges say of an experiment's answers: scores, win rates, grades."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import streamlit as st
from markupsafe import Markup

from leanrag_core.evaluation.judging.tables import MeanScore, WinRate, grades, mean_scores, win_rates
from leanrag_core.evaluation.run_titles import titled
from leanrag_core.evaluation.statistics import Interval
from leanrag_core.figures import numbers
from leanrag_core.figures.interval_marks import CellScale, column_scale
from leanrag_core.types.experiment import ExperimentResult, ExperimentSummary, Judgement
from pages.common import buttons, choices, markup, state
from pages.common.html import NOTHING, draw, html, joined
from pages.common.messages import say
from pages.compare import fragments
from pages.evaluate import audit_charts, audit_source, experiments, figure_view
from pages.evaluate.audit_charts import judge_title


@dataclass(frozen=True)
class Judged:
    """Summed-up judgements: absolute scores, win rates of pairs, shares of right answers."""

    scores: tuple[MeanScore, ...]
    rates: tuple[WinRate, ...]
    grades: tuple[MeanScore, ...]

    @property
    def judges(self) -> tuple[str, ...]:
        """Return the judges in order of first appearance."""
        names = [*(each.judge for each in (*self.scores, *self.grades)), *(each.judge for each in self.rates)]
        return tuple(dict.fromkeys(names))


@st.cache_resource(show_spinner=False, max_entries=8, hash_funcs=experiments.BY_ID)
def _judged(result: ExperimentResult, stamp: str, kind: str, titles: tuple[tuple[str, str], ...]) -> Judged:
    seed, judgements = result.spec.seed, titled(of_kind(result, kind), dict(titles))
    order = [dict(titles)[key] for key in result.spec.order]
    return Judged(mean_scores(judgements, seed=seed), win_rates(judgements, seed, order), grades(judgements, seed))


def of_kind(result: ExperimentResult, kind: str) -> tuple[Judgement, ...]:
    """Return the judgements about questions of that kind; all for ""."""
    question_ids = {row.question for row in result.rows if not kind or row.kind == kind}
    return tuple(judgement for judgement in result.judgements if judgement.question in question_ids)


def show(
    summary: ExperimentSummary,
    result: ExperimentResult,
    letters: Mapping[str, str],
    kind: str,
    titles: Mapping[str, str],
) -> None:
    """Draw one judge's tables over questions of a kind, and the button to its audit; nothing without judgements.

    letters, titles: of the runs, by their keys.
    """
    if not result.judgements:
        return
    judged = _judged(result, summary.changed, kind, tuple(titles.items()))
    letters = {titles[key]: letter for key, letter in letters.items()}
    if not judged.judges:
        return
    figure_view.title(say("evaluate.judged"), say("evaluate.judged_note", n=len(of_kind(result, kind))))
    with st.container(horizontal=True, gap="small", vertical_alignment="bottom", key="judged_controls"):
        judge = _judge(judged.judges)
        buttons.tertiary(say("evaluate.judged_audit"), "balance", "judged_audit", _to_audit, result.id, judge)
    scores = [each for each in judged.scores if each.judge == judge]
    if scores:
        draw(_scores(scores, letters, say("evaluate.judged_scores"), lambda value: numbers.decimal(value, 2)))
    rates = [each for each in judged.rates if each.judge == judge]
    if rates:
        draw(_rates(rates, letters))
    graded = [each for each in judged.grades if each.judge == judge]
    if graded:
        draw(_scores(graded, letters, say("evaluate.judged_grades"), lambda value: numbers.share(value)))
    n_unparsed = sum(each.unparsed for each in (*scores, *graded)) + sum(each.unparsed for each in rates)
    draw(markup.muted(say("evaluate.judged_signs", n=n_unparsed)))


def _judge(judges: Sequence[str]) -> str:
    if len(judges) == 1:
        draw(html('<span class="lr-small">{}</span>', say("evaluate.judged_by", judge=judge_title(judges[0]))))
        return judges[0]
    titles = {judge: judge_title(judge) for judge in judges}
    return choices.dropdown("judge", say("evaluate.audit.judge"), titles, width=260)


def _to_audit(experiment: str, judge: str) -> None:
    state.remember(experiments.TAB, experiments.AUDIT)
    state.remember(audit_source.NAME, experiment)
    state.remember("judge", judge)


def _scores(
    scores: Sequence[MeanScore], letters: Mapping[str, str], caption: str, shown: Callable[[float], str]
) -> Markup:
    """Return a table of mean scores: one row per run, one column per criterion."""
    criteria = list(dict.fromkeys(each.criterion for each in scores))
    by_key = {(each.run, each.criterion): each for each in scores}
    scales = {name: column_scale(each.mean for each in scores if each.criterion == name) for name in criteria}
    lines = []
    for run in dict.fromkeys(each.run for each in scores):
        cells = []
        for name in criteria:
            score = by_key.get((run, name))
            spread = "" if score is None or score.spread is None else f"± {numbers.score(score.spread)}"
            mean = None if score is None else score.mean
            is_best = mean is not None and mean.value == _highest(scores, name)
            cells.append(interval_cell(mean, spread, scales[name], letters.get(run, ""), shown, is_best=is_best))
        lines.append(html("<tr>{}{}</tr>", _name(run, letters), joined(cells)))
    return interval_table(caption, [say("evaluate.run"), *map(audit_charts.criterion_title, criteria)], lines)


def _highest(scores: Sequence[MeanScore], criterion: str) -> float | None:
    """Return the highest mean of a column, None where runs do not differ."""
    values = [each.mean.value for each in scores if each.criterion == criterion and each.mean is not None]
    return max(values) if len(set(values)) > 1 else None


def _rates(rates: Sequence[WinRate], letters: Mapping[str, str]) -> Markup:
    """Return a table of win rates: one row per pair, one column per criterion; each cell says how often the first run
    wins."""
    criteria = list(dict.fromkeys(each.criterion for each in rates))
    by_key = {(each.a, each.b, each.criterion): each for each in rates}
    scale = CellScale(0.0, 1.0)
    lines = []
    for a, b in dict.fromkeys((each.a, each.b) for each in rates):
        cells = []
        for name in criteria:
            rate = by_key.get((a, b, name))
            note = "" if rate is None else f"p {numbers.p_value(rate.p_holm)}"
            interval = None if rate is None else rate.win_rate
            cells.append(interval_cell(interval, note, scale, letters.get(a, ""), numbers.share))
        pair = html("<td>{}</td>", say("audit.pair", a=a, b=b))
        lines.append(html("<tr>{}{}</tr>", pair, joined(cells)))
    head = [say("evaluate.judged_wins"), *map(audit_charts.criterion_title, criteria)]
    return interval_table(say("evaluate.judged_wins"), head, lines)


def interval_cell(
    interval: Interval | None,
    note: str,
    scale: CellScale,
    letter: str,
    shown: Callable[[float], str],
    *,
    is_best: bool = False,
) -> Markup:
    """Return a cell with a value, a note behind it, and its interval as a bar. letter: of the run."""
    if interval is None:
        return html('<td class="lr-muted">–</td>')
    mark = scale.mark(interval)
    described = ""
    if interval.low is not None and interval.high is not None:
        described = say("evaluate.interval", low=shown(interval.low), high=shown(interval.high))
    value = html("<b>{}</b>" if is_best else "{}", shown(interval.value))
    template = '<td class="{}"><span class="v wide">{} <small>{}</small></span>{}</td>'
    return html(template, "best" if is_best else "", value, note, figure_view.interval_bar(mark, described, letter))


def _name(run: str, letters: Mapping[str, str]) -> Markup:
    letter = letters.get(run, "")
    return html('<td><span class="sq">{}</span>{}</td>', fragments.square(letter) if letter else NOTHING, run)


def interval_table(caption: str, head: Sequence[str], lines: Sequence[Markup]) -> Markup:
    """Return a table of such cells; it scrolls sideways when it is too wide."""
    return markup.wide_table("lr-ev", caption, joined(html("<th>{}</th>", name) for name in head), lines)
