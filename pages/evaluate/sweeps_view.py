"""Sweeps: the effect of settings, those that cannot be told apart from the best, and what to do with a chosen point."""

from collections.abc import Callable, Sequence
from functools import partial
from operator import attrgetter
from statistics import fmean

import streamlit as st

from leanrag_core.evaluation import measuring
from leanrag_core.evaluation.experiments.selection import chosen_ids, written_places
from leanrag_core.evaluation.sweeps.findings import Findings, findings, headline
from leanrag_core.evaluation.sweeps.points import index_config, options_of
from leanrag_core.figures import numbers
from leanrag_core.jobs.kinds import SWEEP as SWEEP_JOB
from leanrag_core.messages.catalog import ENGLISH, joined_sentences
from leanrag_core.messages.message import Message
from leanrag_core.storage.settings import MAX_TITLE
from leanrag_core.types.experiment import RunSpec
from leanrag_core.types.summary import RecordedConfig
from leanrag_core.types.sweep import PointResult, SweepResult, SweepSummary
from leanrag_core.types.visible import shortened
from pages.build import engine_form, settings_form
from pages.common import buttons, choices, deletion, forms, markup, session, state, widgets
from pages.common.frame import page_button, page_path, plain_errors
from pages.common.html import draw, html
from pages.common.messages import as_sentence, kept_fault, language, message, say, words
from pages.evaluate import brushing, experiments, figure_view, measure_words, sweep_charts

_BUILD, _LEANRAG = "build-seconds", "leanrag"
_IS_OPEN = "lr_sweep_point_open"  # the index exists, so Ask can be shown at once


def panel(sweep: SweepResult, shown: Findings, chosen: str) -> None:
    """Draw the figures of the point, and its buttons."""
    result, best = sweep.at(chosen), sweep.at(shown.best)
    if result is None or best is None:
        return
    with st.container(border=True, key="sweep_panel"):
        template = '<div class="lr-h3">{}<span>{}</span></div>'
        draw(html(template, measure_words.point_title(result.point), say("evaluate.sweep.chosen")))
        head = (
            "",
            say("evaluate.sweep.chosen"),
            say("evaluate.sweep.best", point=sweep_charts.short_name(best, sweep.spec.axes)),
            say("evaluate.sweep.difference"),
        )
        rows = [_row(shown, result, best, name) for name in _figures(shown, result)]
        draw(markup.facts_table(head, rows, caption=say("evaluate.sweep.chosen")))
        with st.container(horizontal=True, gap="small"):
            _buttons(sweep, result)


def _figures(shown: Findings, result: PointResult) -> list[str]:
    names = [shown.measure, shown.cost]
    names += [name for name in ("recall-per-1000",) if measure_words.mean_of(result, name) is not None]
    return [*dict.fromkeys(names), _BUILD] if result.build is not None else list(dict.fromkeys(names))


def _row(shown: Findings, result: PointResult, best: PointResult, name: str) -> tuple[str, str, str, str]:
    if name == _BUILD:
        own, other = (None if each.build is None else each.build.seconds for each in (result, best))
        words: Callable[[float], str] = numbers.duration
        change = "–" if own is None or other is None else _seconds(own - other)
    else:
        own, other = measure_words.mean_of(result, name), measure_words.mean_of(best, name)

        def words(value: float) -> str:
            return measure_words.shown(name, value)

        change = "–" if own is None or other is None else measuring.written_difference(name, own - other)
        interval = shown.at(result.point.name).difference
        if name == shown.measure and interval is not None:
            # Of the questions that both have: the means are of all of each, and a sweep under way has fewer of some.
            change = measuring.written_difference(name, interval.value)
            if interval.low is not None and interval.high is not None:
                change += f" ± {numbers.score((interval.high - interval.low) / 2)}"
    own_text, other_text = ("–" if value is None else words(value) for value in (own, other))
    title = say("evaluate.sweep.build_time") if name == _BUILD else measure_words.axis_title(name)
    return title, own_text, other_text, change


def _seconds(change: float) -> str:
    shown = numbers.decimal(change, 1)
    return f"+{shown} s" if change >= 0.05 else f"{shown} s"


def _buttons(sweep: SweepResult, result: PointResult) -> None:
    """Draw the buttons that open the point on Ask, save its settings as a preset, and fill the form of Build with
    them."""
    if buttons.secondary(
        say("evaluate.questions.ask"), "forum", "sweep_ask", _to_ask, sweep, result
    ) and st.session_state.pop(_IS_OPEN, False):
        st.switch_page(page_path("ask"))
    with st.popover(say("evaluate.sweep.save"), icon=":material/bookmark:", key="sweep_save"):
        default = shortened(measure_words.point_title(result.point), MAX_TITLE)
        title = st.text_input(say("evaluate.sweep.preset_title"), default, MAX_TITLE, key="sweep_preset")
        draw(markup.muted(say("evaluate.sweep.preset_hint")))
        buttons.secondary(say("evaluate.sweep.save"), "", "sweep_save_preset", _save, sweep, result, title)
    if sweep.spec.corpus:
        page_button("build", say("evaluate.sweep.settings"), "tune", "sweep_settings", _to_form, sweep, result)


def _to_ask(sweep: SweepResult, result: PointResult) -> None:
    """Give Ask the point's index and options; start a job first if the index has to be built. For callbacks."""
    with kept_fault(experiments.FAULT):
        opened = session.workbench().sweeps.open_point(sweep.id, result.point.name, language=language())
        state.remember("index", opened.index)
        options = options_of(sweep.spec, result.point)
        experiments.take_settings("", RunSpec(result.point.name, opened.index, sweep.spec.strategy, options))
        state.remember(experiments.JOB, opened.job)
        st.session_state[_IS_OPEN] = not opened.job


def _save(sweep: SweepResult, result: PointResult, title: str) -> None:
    """Save the point's settings as a preset. For callbacks."""
    with kept_fault(experiments.FAULT):
        ask = options_of(sweep.spec, result.point) if sweep.spec.strategy == _LEANRAG else {}
        session.workbench().presets.save(title, index_config(sweep.spec, result.point), ask)
        st.toast(say("evaluate.sweep.saved", title=forms.plain(title)), icon=":material/bookmark:")


def _to_form(sweep: SweepResult, result: PointResult) -> None:
    """Fill the form of Build with the point's settings, and Ask with its options. For callbacks."""
    values = RecordedConfig.of(index_config(sweep.spec, result.point)).by_name()
    settings_form.fill(values)
    engine_form.take_settings(values)
    state.remember("corpus", sweep.spec.corpus)
    run = RunSpec(result.point.name, "", sweep.spec.strategy, options_of(sweep.spec, result.point))
    experiments.take_settings("", run)


SWEEP, COLOUR, POINT, KEEP, KIND, MEASURE = "sweep", "colour", "point", "keep", "skind", "smeasure"
SELECTED = "spoints"  # in links: the places of the points that are selected
_PER_1000 = "recall-per-1000"


def show() -> None:
    """Draw the chosen sweep: its finding, three charts with one chosen point, and what can be done with the point."""
    bench = session.workbench()
    for damaged in bench.sweeps.store.damaged():
        message(damaged.reason, kind="error", title=say("evaluate.sweep.damaged", sweep=damaged.id))
    summaries = bench.sweeps.store.all()
    if not summaries:
        draw(html('<div class="lr-empty">{}</div>', say("evaluate.sweep.none")))
        return
    wanted = state.recall(SWEEP)
    if wanted and all(each.id != wanted for each in summaries):
        message(say("evaluate.sweep.gone", sweep=wanted), kind="error")
        state.memory().unfit.discard(SWEEP)
    with st.container(horizontal=True, gap="small", vertical_alignment="bottom", key="sweep_controls"):
        summary = _choice(summaries)
        sweep = _opened(summary.id, summary.changed)
        measure = _measure(sweep)
        colour = _colour(sweep, measure)
        kind = _kind(sweep)
        _delete_button(summary)
    with plain_errors():
        _sweep(summary, sweep, measure, colour, kind)


def progress() -> tuple[str, int, int]:
    """Return which sweep the page shows, how many of its indexes are built, and how many questions are done."""
    summaries, wanted = session.workbench().sweeps.store.all(), state.recall(SWEEP)
    shown = next((each for each in summaries if each.id == wanted), next(iter(summaries), None))
    return (shown.id, shown.built, shown.rows) if shown is not None else ("", 0, 0)


@st.cache_resource(show_spinner=False, max_entries=8)
def _opened(sweep: str, changed: str) -> SweepResult:
    return session.workbench().sweeps.read(sweep)


@st.cache_resource(show_spinner=False, max_entries=32, hash_funcs={SweepResult: attrgetter("id")})
def _findings(sweep: SweepResult, changed: str, measure: str, kind: str) -> Findings:
    return findings(sweep, measure, kind=kind)


def _sweep(summary: SweepSummary, sweep: SweepResult, measure: str, colour: str, kind: str) -> None:
    draw(markup.muted(_facts(summary, sweep)))
    if not sweep.is_complete:
        message(say("evaluate.sweep.partial", done=summary.rows, all=summary.all, n=summary.built))
        if not summary.is_shipped and not any(job.kind == SWEEP_JOB for job in session.running_jobs()):
            buttons.secondary(say("evaluate.history.go_on"), "play_arrow", "sweep_go_on", _go_on, sweep)
    shown = _findings(sweep, summary.changed, measure, kind)
    if not shown.points:
        return
    sentences = [as_sentence(words(_with_titles(each, sweep))) for each in headline(shown)]
    draw(markup.lead(sentences[0], joined_sentences(sentences[1:]), "lr-finding"))
    names = [standing.name for standing in shown.points]
    chosen = str(state.fitting(POINT, shown.cheapest or shown.best or names[0], str, lambda name: name in names))
    points = tuple(result.point.name for result in sweep.points)
    selected = state.fitting(SELECTED, (), lambda written: chosen_ids(written, points), bool)
    marks = sweep_charts.Marks(chosen, selected, _pick, partial(_select, points))
    _selection_bar(sweep, points, selected)
    left, right = st.columns([6, 7], gap="large")
    with left:
        if sweep_charts.heat(sweep, shown, colour, marks):
            draw(markup.muted(say("evaluate.sweep.signs")))
        else:
            draw(markup.muted(say("evaluate.sweep.no_grid")))
    with right:
        sweep_charts.front(sweep, shown, marks)
    left, right = st.columns([8, 4], gap="large")
    with left:
        _lines(sweep, shown, marks)
    with right:
        panel(sweep, shown, chosen)


def _go_on(sweep: SweepResult) -> None:
    """Start a job that continues the sweep. For callbacks."""
    with kept_fault(experiments.FAULT):
        state.remember(experiments.JOB, session.workbench().sweeps.start(sweep.spec))


def _with_titles(sentence: Message, sweep: SweepResult) -> Message:
    """Return the sentence with the names of settings and points replaced by their titles."""
    values = dict(sentence.values)
    for name in ("best", "cheapest", "dearest"):
        point = sweep.at(str(values.get(name, "")))
        if point is not None:
            values[name] = measure_words.point_title(point.point)
    if "axis" in values:
        values["axis"] = measure_words.axis_title(str(values["axis"]))
    return Message(sentence.code, values)


def _pick(name: str) -> None:
    state.remember(POINT, name)


def _select(points: Sequence[str], chosen: Sequence[str]) -> None:
    """Select exactly these points in all charts. For callbacks."""
    state.remember(SELECTED, written_places(chosen, points))


def _selection_bar(sweep: SweepResult, points: Sequence[str], selected: Sequence[str]) -> None:
    """Draw how many points are selected, a button that clears them, and a list that selects without a mouse."""
    titles = {result.point.name: forms.plain(measure_words.point_title(result.point)) for result in sweep.points}
    selection_text = say("evaluate.brush.points", n=len(selected), of=len(points)) if selected else ""
    with brushing.bar_of(selection_text, say("evaluate.brush.hint_points"), clear=partial(_select, points, ())):
        brushing.by_name(SELECTED, titles, selected, partial(_select, points))


def _title(summary: SweepSummary) -> str:
    """Return the title of a sweep. That of a shipped one, which is English, ends with its axes: on other pages they are
    in the language of the page."""
    if not summary.is_shipped or language() == ENGLISH:
        return summary.title
    name, _, _ = summary.title.rpartition(": ")
    return say("text.titled", title=name, text=" × ".join(map(measure_words.axis_title, summary.axes)))


def _choice(summaries: Sequence[SweepSummary]) -> SweepSummary:
    by_id = {each.id: each for each in summaries}
    titles = {each.id: say("evaluate.sweep.title", title=_title(each), n=each.points) for each in summaries}
    chosen = choices.dropdown(
        SWEEP, say("evaluate.sweep.sweep"), titles, forgets=(POINT, KEEP, KIND, COLOUR, MEASURE, SELECTED), width=400
    )
    return by_id[chosen]


def _measured(sweep: SweepResult) -> list[str]:
    """Return the measures that points have a score of, the specification's measure first."""
    have = {
        name
        for result in sweep.points
        for name, scores in result.scores.items()
        if any(score is not None for score in scores)
    }
    return [name for name in dict.fromkeys((sweep.spec.measure, *measure_words.in_order(sorted(have)))) if name in have]


def _measure(sweep: SweepResult) -> str:
    """Draw the choice of the measure that points are compared by, and return it."""
    names = [name for name in _measured(sweep) if name != sweep.spec.cost] or [sweep.spec.measure]
    titles = {name: measure_words.title_of(name) for name in names}
    return choices.dropdown(MEASURE, say("evaluate.measure"), titles, forgets=(KEEP, COLOUR), width=200)


def _colour(sweep: SweepResult, measure: str) -> str:
    """Draw the choice of the value that colours the heat map, and return it."""
    have = _measured(sweep)
    names = [name for name in dict.fromkeys((measure, sweep.spec.cost, _PER_1000)) if name in have] or [measure]
    titles = {name: forms.plain(measure_words.title_of(name)) for name in names}
    return choices.segments(COLOUR, say("evaluate.sweep.colour"), titles, wrap=True)


def _kind(sweep: SweepResult) -> str:
    kinds = [kind for kind in dict.fromkeys(sweep.kinds) if kind]
    if len(kinds) < 2:
        return ""
    titles = {"": say("evaluate.all_kinds", n=len(sweep.questions))}
    titles |= {kind: f"{measure_words.kind_title(kind)} {sweep.kinds.count(kind):,}" for kind in kinds}
    return choices.dropdown(KIND, say("evaluate.sweep.questions"), titles, width=170)


def _facts(summary: SweepSummary, sweep: SweepResult) -> str:
    """Return in words how many points and indexes there are, and how long the builds took."""
    costs = {result.build.folder: result.build for result in sweep.points if result.build is not None}
    seconds = sum(cost.seconds for cost in costs.values())
    later = [cost.seconds for cost in costs.values() if not cost.is_first]
    facts = say(
        "evaluate.sweep.facts",
        n=summary.points,
        indexes=len(costs),
        time=numbers.duration(seconds),
        questions=len(sweep.questions),
    )
    if later and len(later) < len(costs):
        kept = say("evaluate.sweep.kept", n=len(later), time=numbers.duration(fmean(later)))
        facts = joined_sentences([facts, kept])
    return facts


def _lines(sweep: SweepResult, shown: Findings, marks: sweep_charts.Marks) -> None:
    """Draw all points over parallel axes, with a slider for the least measure of the coloured ones."""
    values = [standing.value.value for standing in shown.points if standing.value is not None]
    if len(values) < 2:
        return
    low, high = round(min(values), 3), round(max(values), 3)
    usual = round(low + 0.75 * (high - low), 3)
    figure_view.title(say("evaluate.sweep.all"))
    keep = None
    if high > low:
        label = say("evaluate.sweep.keep", measure=measure_words.title_of(shown.measure))
        keep = float(
            widgets.remembered(
                KEEP,
                usual,
                lambda mount: st.slider(
                    label, low, high, mount.value, step=0.001, format="%.3f", **mount.wired, width=320
                ),
                widgets.Values(parse=float, allowed=lambda value: low <= value <= high, form=(low, high)),
            )
        )
    kept, n_all = sweep_charts.lines(sweep, shown, keep, marks)
    if keep is not None:
        draw(markup.muted(say("evaluate.sweep.kept_lines", n=kept, of=n_all)))


def _delete_button(summary: SweepSummary) -> None:
    if not summary.is_shipped:
        means = say("evaluate.sweep.delete_hint")
        title = say("evaluate.sweep.delete_title")
        deletion.button(
            "sweep_delete", say("evaluate.sweep.delete"), title, summary.title, means, partial(_delete, summary.id)
        )


def _delete(sweep: str) -> None:
    session.workbench().sweeps.delete(sweep)
    state.forget(SWEEP, POINT, KEEP, SELECTED)
