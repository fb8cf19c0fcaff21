"""The chosen point of a sweep beside the best one, and what can be done with its settings."""

from collections.abc import Callable

import streamlit as st
from markupsafe import Markup

from leanrag_core.evaluation.sweeps.findings import Findings
from leanrag_core.evaluation.sweeps.points import index_config, options_of
from leanrag_core.figures import numbers
from leanrag_core.types.experiment import RunSpec
from leanrag_core.types.summary import RecordedConfig
from leanrag_core.types.sweep import PointResult, SweepResult
from pages.build import engine_form, form_values
from pages.common import forms, markup, session, state
from pages.common.frame import page_path
from pages.common.html import draw, html
from pages.common.messages import say
from pages.evaluate import experiments, faults, measure_words, places, sweep_charts, sweep_words

_BUILD, _LEANRAG = "build-seconds", "leanrag"
_IS_OPEN = "lr_sweep_point_open"  # Ask can be shown at once


def panel(sweep: SweepResult, shown: Findings, chosen: str) -> None:
    """The figures of the point, and its buttons."""
    result, best = sweep.at(chosen), sweep.at(shown.best)
    if result is None or best is None:
        return
    with st.container(border=True, key="sweep_panel"):
        draw(
            html(
                '<div class="lr-h3">{}<span>{}</span></div>',
                sweep_words.point_title(result),
                say("evaluate.sweep.chosen"),
            )
        )
        head = (
            "",
            say("evaluate.sweep.chosen"),
            say("evaluate.sweep.best", point=sweep_charts.short_name(best, sweep.spec.axes)),
            say("evaluate.sweep.difference"),
        )
        draw(_table(head, [_row(sweep, shown, result, best, name) for name in _figures(shown, result)]))
        with st.container(horizontal=True, gap="small"):
            _buttons(sweep, result)


def _figures(shown: Findings, result: PointResult) -> list[str]:
    names = [shown.measure, shown.cost]
    names += [name for name in ("recall-per-1000",) if sweep_words.mean_of(result, name) is not None]
    return [*dict.fromkeys(names), _BUILD] if result.build is not None else list(dict.fromkeys(names))


def _row(
    sweep: SweepResult, shown: Findings, result: PointResult, best: PointResult, name: str
) -> tuple[str, str, str, str]:
    if name == _BUILD:
        own, other = (None if each.build is None else each.build.seconds for each in (result, best))
        words: Callable[[float], str] = numbers.duration
        change = "–" if own is None or other is None else _seconds(own - other)
    else:
        own, other = sweep_words.mean_of(result, name), sweep_words.mean_of(best, name)

        def words(value: float) -> str:
            return measure_words.shown(name, value)

        change = "–" if own is None or other is None else measure_words.shown_difference(name, own - other)
        interval = shown.at(result.point.name).difference
        if name == shown.measure and interval is not None and interval.low is not None and interval.high is not None:
            change += f" ± {numbers.score((interval.high - interval.low) / 2)}"
    own_text, other_text = ("–" if value is None else words(value) for value in (own, other))
    return sweep_words.axis_title(name), own_text, other_text, change


def _seconds(change: float) -> str:
    shown = numbers.decimal(change, 1)
    return f"+{shown} s" if change >= 0.05 else f"{shown} s"


def _table(head: tuple[str, ...], rows: list[tuple[str, str, str, str]]) -> Markup:
    return markup.facts_table(head, rows, caption=say("evaluate.sweep.chosen"))


def _buttons(sweep: SweepResult, result: PointResult) -> None:
    """Ask with the point's index and options; the form of Build with its settings."""
    if st.button(
        say("evaluate.questions.ask"),
        icon=":material/forum:",
        key="sweep_ask",
        on_click=_to_ask,
        args=(sweep, result),
    ) and st.session_state.pop(_IS_OPEN, False):
        st.switch_page(page_path("ask"))
    with st.popover(say("evaluate.sweep.save"), icon=":material/bookmark:", key="sweep_save"):
        title = st.text_input(say("evaluate.sweep.preset_title"), sweep_words.point_title(result), key="sweep_preset")
        draw(markup.muted(say("evaluate.sweep.preset_hint")))
        st.button(
            say("evaluate.sweep.save"),
            key="sweep_save_preset",
            on_click=_save,
            args=(sweep, result, title),
        )
    if sweep.spec.corpus and st.button(
        say("evaluate.sweep.settings"),
        icon=":material/tune:",
        key="sweep_settings",
        on_click=_to_form,
        args=(sweep, result),
    ):
        st.switch_page(page_path("build"))


def _to_ask(sweep: SweepResult, result: PointResult) -> None:
    """Ask holds the point's index and options; an index that is to be built first is shown as a job. For callbacks."""
    with faults.kept():
        opened = session.workbench().sweeps.open_point(sweep.id, result.point.name)
        state.remember("index", opened.index)
        options = options_of(sweep.spec, result.point)
        experiments.take_settings("", RunSpec(result.point.name, opened.index, sweep.spec.strategy, options))
        state.remember(places.JOB, opened.job)
        st.session_state[_IS_OPEN] = not opened.job


def _save(sweep: SweepResult, result: PointResult, title: str) -> None:
    """The point's settings are a preset. For callbacks."""
    with faults.kept():
        ask = options_of(sweep.spec, result.point) if sweep.spec.strategy == _LEANRAG else {}
        session.workbench().presets.save(title, index_config(sweep.spec, result.point), ask)
        st.toast(say("evaluate.sweep.saved", title=forms.plain(title)), icon=":material/bookmark:")


def _to_form(sweep: SweepResult, result: PointResult) -> None:
    """The form of Build holds the point's settings, and Ask its options. For callbacks."""
    values = RecordedConfig.of(index_config(sweep.spec, result.point)).by_name()
    form_values.fill(values)
    engine_form.take_settings(values)
    state.remember("corpus", sweep.spec.corpus)
    run = RunSpec(result.point.name, "", sweep.spec.strategy, options_of(sweep.spec, result.point))
    experiments.take_settings("", run)
