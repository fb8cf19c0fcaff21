"""Two runs question by question: where the first lost and won against the second, regressions first."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import streamlit as st
from markupsafe import Markup

from leanrag_core.evaluation import measuring
from leanrag_core.evaluation.gold import GoldQuestion
from leanrag_core.figures.question_dots import QuestionDot, question_dots
from leanrag_core.types.experiment import ExperimentResult, ExperimentSummary, QuestionRow, RunSpec
from pages.common import buttons, choices, forms, markup, run_titles, state
from pages.common.frame import page_button
from pages.common.html import draw, html
from pages.common.messages import message, say
from pages.evaluate import brushing, experiments, figure_view, measure_words, sets_view

_SHOWN = 25
_DOT_WIDTHS = (330, 560, 860, 1100)


@dataclass(frozen=True)
class Side:
    """A run of an experiment with its title and its rows by question."""

    run: RunSpec
    title: str
    rows: Mapping[str, QuestionRow]


@dataclass(frozen=True)
class Pair:
    """A question with the scores of both sides. change: first minus second; None where either has no score."""

    question: str
    text: str
    kind: str
    first: float | None
    second: float | None

    @property
    def change(self) -> float | None:
        return None if self.first is None or self.second is None else self.first - self.second


def show(summaries: Sequence[ExperimentSummary], shown: ExperimentSummary) -> None:
    """Draw the choice of two runs and a measure, the counts of losses and gains, and the questions."""
    experiments.pick(summaries, shown)
    result = experiments.opened(shown)
    measures = measure_words.measured(result.rows)
    if not measures:
        message(say("evaluate.no_rows"))
        return
    run, against = experiments.compared(result.spec.runs, result.spec.baseline)
    with st.container(horizontal=True, gap="small", vertical_alignment="bottom", key="question_controls"):
        run = experiments.run_choice(experiments.RUN, say("evaluate.compare_run"), result.spec.runs, run)
        other = _other(summaries, shown)
        second = result if other.id == shown.id else experiments.opened(other)
        if other.id != shown.id:
            _, against = experiments.compared(second.spec.runs, run if _has(second, run) else second.spec.baseline)
        against = experiments.run_choice(
            experiments.AGAINST, say("evaluate.compare_against"), second.spec.runs, against
        )
        measure = _measure(measures)
    questions = {question.id: question for question in experiments.questions_of(shown.id)}
    sides = _side(result, run), _side(second, against)
    pairs = compared(*sides, measure, questions)
    if not pairs:
        message(say("evaluate.questions.none_shared"))
        return
    brushing.bar(result, run_titles.titles(result.spec.runs), questions)
    dots(result, pairs, sides, measure)
    pairs = _selected(result, pairs)
    draw(markup.lead(*_counts(pairs, sides[0].title, sides[1].title, measure), "lr-finding"))
    _list(pairs, sides, measure, questions)


def brushed(
    result: ExperimentResult, run: str, against: str, measure: str, questions: Mapping[str, GoldQuestion]
) -> None:
    """Draw every question as a dot, and list the selected ones below."""
    if all(row.scores.get(measure) is None for row in result.rows):
        return  # a figure of the run alone, such as its latency
    sides = _side(result, run), _side(result, against)
    pairs = compared(*sides, measure, questions)
    dots(result, pairs, sides, measure)
    shown = _selected(result, pairs)
    if len(shown) < len(pairs):
        _list(shown, sides, measure, questions)


def _selected(result: ExperimentResult, pairs: list[Pair]) -> list[Pair]:
    """Return the pairs of the selected questions, all where none is selected."""
    selected = brushing.selected(result, brushing.QUESTIONS)
    return [pair for pair in pairs if pair.question in selected] if selected else pairs


def dots(result: ExperimentResult, pairs: Sequence[Pair], sides: tuple[Side, Side], measure: str) -> None:
    """Draw each question as a dot at the first side's gain or loss; a click or a box selects it."""
    sign = -1.0 if measure_words.less_is_better(measure) else 1.0
    title, known = measure_words.title_of(measure), [pair for pair in pairs if pair.change is not None]
    if not known:
        return
    each = [
        QuestionDot(pair.change or 0.0, sign * (pair.change or 0.0), _dot_title(pair, measure), pair.question)
        for pair in known
    ]
    figure_view.title(
        say("evaluate.brush.dots"), say("evaluate.pays_note", measure=title, run=sides[0].title, against=sides[1].title)
    )
    label = say("evaluate.brush.dots_label", measure=title, run=sides[0].title, against=sides[1].title)
    selected = brushing.selected(result, brushing.QUESTIONS)
    drawings = [
        question_dots(
            each,
            width=width,
            label=label,
            tick=lambda value: measuring.written_difference(measure, value) if value else "0",
        ).with_selected(selected)
        for width in _DOT_WIDTHS
    ]
    head = (say("evaluate.brush.question"), "A", "B", say("evaluate.pays_head.difference"))
    rows = [
        (
            pair.text,
            measure_words.shown(measure, pair.first),
            measure_words.shown(measure, pair.second),
            measuring.written_difference(measure, pair.change or 0.0),
        )
        for pair in known
    ]
    figure_view.show(
        drawings,
        head,
        rows,
        key="question_dots",
        picked=partial(brushing.toggle, result, brushing.QUESTIONS),
        brushed=partial(brushing.select, result, brushing.QUESTIONS),
        most=1.0,
    )


def _dot_title(pair: Pair, measure: str) -> str:
    first, second = (measure_words.shown(measure, score) for score in (pair.first, pair.second))
    return f"{pair.text} A {first}, B {second}"


def _has(result: ExperimentResult, run: str) -> bool:
    return any(each.key == run for each in result.spec.runs)


def _side(result: ExperimentResult, run: str) -> Side:
    spec = next(each for each in result.spec.runs if each.key == run)
    title = run_titles.titles(result.spec.runs)[run]
    return Side(spec, title, {row.question: row for row in result.rows if row.run == run})


def _other(summaries: Sequence[ExperimentSummary], shown: ExperimentSummary) -> ExperimentSummary:
    """Draw the choice of the second run's experiment and return it; the shown experiment until another one is
    chosen."""
    by_id = {each.id: each for each in summaries}
    titles = {shown.id: say("evaluate.questions.same")}
    titles |= {each.id: each.title for each in summaries if each.id != shown.id}
    ids = list(titles)
    if len(ids) == 1:
        return shown
    chosen = choices.dropdown(
        experiments.OTHER, say("evaluate.questions.other"), titles, forgets=(experiments.AGAINST,), width=210
    )
    return by_id[chosen]


def _measure(measures: Sequence[str]) -> str:
    titles = {measure: measure_words.title_of(measure) for measure in measures}
    return choices.dropdown(experiments.MEASURE, say("evaluate.measure"), titles, width=210)


def compared(first: Side, second: Side, measure: str, questions: Mapping[str, GoldQuestion]) -> list[Pair]:
    """Return the questions that both sides have: first the losses of the first side, greatest first, then its gains,
    then the rest."""
    pairs = [
        Pair(
            id_,
            questions[id_].question if id_ in questions else id_,
            row.kind,
            row.scores.get(measure),
            second.rows[id_].scores.get(measure),
        )
        for id_, row in first.rows.items()
        if id_ in second.rows
    ]
    sign = -1.0 if measure_words.less_is_better(measure) else 1.0

    def place(pair: Pair) -> tuple[int, float]:
        change = sign * (pair.change or 0.0)
        return (0 if change < 0 else 1 if change > 0 else 2 if pair.change is not None else 3), -abs(change)

    return sorted(pairs, key=place)


def _counts(pairs: Sequence[Pair], run: str, against: str, measure: str) -> tuple[str, str]:
    sign = -1.0 if measure_words.less_is_better(measure) else 1.0
    changes = [sign * pair.change for pair in pairs if pair.change is not None]
    worse, better = sum(change < 0 for change in changes), sum(change > 0 for change in changes)
    claim = say("evaluate.questions.counts", run=run, against=against, worse=worse, better=better)
    return claim, say(
        "evaluate.questions.equal", n=len(changes) - worse - better, of=len(pairs), without=len(pairs) - len(changes)
    )


def _list(pairs: Sequence[Pair], sides: tuple[Side, Side], measure: str, questions: Mapping[str, GoldQuestion]) -> None:
    """Draw the questions as rows: scores of both sides, the change, and a button that opens the question."""
    whole = state.recall(experiments.MORE) == "1"
    shown = pairs if whole else pairs[:_SHOWN]
    with st.container(key="question_list", gap=None):
        for pair in shown:
            with st.container(
                horizontal=True,
                wrap=False,
                gap="small",
                vertical_alignment="center",
                key=f"question_row_{pair.question}",
            ):
                with st.container(width="stretch", gap=None):
                    label, key = forms.plain(pair.text), f"question_{pair.question}"
                    kind = forms.plain(measure_words.kind_title(pair.kind)) if pair.kind else None
                    buttons.tertiary(label, "", key, _toggle, pair.question, help=kind)
                with st.container(width="content", gap=None):
                    draw(_cells(pair, measure))
            if state.recall("question") == pair.question:
                _opened(pair, sides, questions)
    if len(pairs) > _SHOWN:
        label = say("evaluate.questions.more", n=len(pairs) - _SHOWN)
        buttons.show_all(experiments.MORE, label, "question_more")


def _toggle(question: str) -> None:
    state.remember("question", None if state.recall("question") == question else question)


def _cells(pair: Pair, measure: str) -> Markup:
    sign = -1.0 if measure_words.less_is_better(measure) else 1.0
    change = pair.change
    kind = "same" if not change else "better" if sign * change > 0 else "worse"
    sides = ((letter, measure_words.shown(measure, score)) for letter, score in (("A", pair.first), ("B", pair.second)))
    cells = [
        html(
            '<span class="lr-cell"><b style="color:var(--lr-column-{})">{}</b> {}</span>', letter.lower(), letter, score
        )
        for letter, score in sides
    ]
    shown = "–" if change is None else measuring.written_difference(measure, change)
    return html('<span class="lr-cells">{}{}<span class="lr-change {}">{}</span></span>', *cells, kind, shown)


def _opened(pair: Pair, sides: tuple[Side, Side], questions: Mapping[str, GoldQuestion]) -> None:
    """Draw the question with its gold, the answers of both runs, and the buttons to Compare and Ask."""
    with st.container(border=True, key="question_opened"):
        if pair.question in questions:
            sets_view.gold(questions[pair.question])
        for letter, side in zip(("A", "B"), sides, strict=True):
            row = side.rows[pair.question]
            text = row.error or row.answer
            draw(markup.label(f"{letter}  {side.title}", say("evaluate.questions.passages", n=len(row.passages))))
            if text:
                draw(html('<div class="lr-read" dir="auto">{}</div>', text))
        with st.container(horizontal=True, gap="small"):
            for page, icon in (("compare", "view_column_2"), ("ask", "forum")):
                label, key = say(f"evaluate.questions.{page}"), f"question_{page}"
                page_button(page, label, icon, key, _take, pair.text, sides, page == "compare")


def _take(text: str, sides: tuple[Side, Side], both: bool) -> None:
    """Make Compare or Ask show the question with the runs' indexes and settings. For callbacks."""
    state.remember("q", text)
    if both:
        experiments.take_columns([(side.run, side.run.index) for side in sides])
        return
    state.remember("index", sides[0].run.index)
    experiments.take_settings("", sides[0].run)
