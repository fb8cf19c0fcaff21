"""The settings of one column in a panel beside the columns, by the step they affect; they take effect when applied."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import streamlit as st

from leanrag_core.errors import LeanRAGError
from leanrag_core.evaluation.sweeps.points import BASE_SETTINGS
from leanrag_core.figures import numbers
from leanrag_core.retrieval.base import StrategyInfo
from leanrag_core.retrieval.base import strategies as all_strategies
from leanrag_core.retrieval.variants import Setting
from leanrag_core.types.config import SETTINGS, IndexConfig, is_remote
from leanrag_core.types.summary import IndexSummary
from pages.ask import controls, option_rows, presets
from pages.common import buttons, choices, forms, session, state
from pages.common.component import component
from pages.common.html import draw, html
from pages.common.messages import say, words
from pages.common.scope import Scope
from pages.compare import columns, fragments, loading
from pages.compare.columns import Column

DRAFT = Scope("draft")  # the values of the panel until they are applied; not in links
WIDTH = 306
_OPEN = "lr_compare_panel"  # in the session: the column whose settings are open
_UNSEEN = "lr_compare_panel_unseen"  # the panel was applied; on a phone it covers the page
_MORE = "draft_more"
_ENTER = Path(__file__).with_name("panel_enter.js")
_MODELS = ("model", "embedding", "aggregation_model")  # index settings that may name an endpoint's model
# Settings whose forecast says how long another value takes: of those that read anew, and of the others.
_PROBES = {True: "chunk_tokens", False: "cluster_size"}


def shown() -> str:
    """Return the column whose settings are open, empty where none are."""
    letter = str(st.session_state.get(_OPEN, ""))
    return letter if letter in columns.letters() else ""


def is_unapplied(letter: str) -> bool:
    """Return whether the column's settings are open and not yet applied."""
    return shown() == letter and _UNSEEN not in st.session_state


def open_for(letter: str) -> None:
    """Open the panel with the settings of that column. For callbacks."""
    columns.copy_settings(columns.scope_of(letter), DRAFT, letter)
    st.session_state[_OPEN] = letter
    st.session_state.pop(_UNSEEN, None)


def toggle(letter: str) -> None:
    """Open the panel for that column, or close it. For callbacks."""
    if shown() == letter and _UNSEEN not in st.session_state:
        close()
    else:
        open_for(letter)


def duplicate(letter: str) -> None:
    """Add a column like this one beside it, and open its settings. For callbacks."""
    new_letter = columns.duplicate(letter)
    if new_letter:
        open_for(new_letter)


def close() -> None:
    """Close the panel and discard what was not applied. For callbacks."""
    st.session_state.pop(_OPEN, None)


def _apply(letter: str, base: IndexSummary) -> None:
    columns.copy_settings(DRAFT, columns.scope_of(letter), letter)
    changed = columns.changed_index(DRAFT, base)
    if changed and not any(is_remote(str(getattr(base.config, name))) for name in _MODELS):
        loading.want_trial(base, changed)  # if a model is called, the column shows the cost and waits
    st.session_state[_UNSEEN] = True


def show(chosen: Sequence[Column], indexes: Mapping[str, IndexSummary]) -> None:
    """Draw the panel of the column whose settings are open."""
    column = next((each for each in chosen if each.letter == shown()), None)
    if column is None:
        return
    if _UNSEEN in st.session_state:
        draw(html("<style>@media (max-width:640px){{.st-key-compare_panel{{display:none!important}}}}</style>"))
    session.prepare_trials()
    with st.container(key="compare_panel", width=WIDTH, gap="xsmall"):
        st.fragment(_panel)(column, tuple(chosen), dict(indexes))


def _panel(column: Column, chosen: Sequence[Column], indexes: Mapping[str, IndexSummary]) -> None:
    strategies = all_strategies().by_name()
    letter = column.letter
    chosen_options = controls.held(DRAFT, strategies, default=columns.starter(letter, strategies))
    info = strategies[chosen_options.strategy]
    base = indexes.get(state.recall(DRAFT.name("index")), indexes.get(column.base.id, column.base))
    beside = next((each for each in chosen if each.letter != letter and each.info.name == info.name), None)
    with st.container(horizontal=True, wrap=False, gap="xsmall", vertical_alignment="center", key="compare_panel_head"):
        with st.container(width="stretch", gap=None):
            title = say("compare.panel", letter=letter)
            draw(html('<div class="lr-panelhead">{}<b>{}</b></div>', fragments.square(letter), title))
        if buttons.icon_alone(say("compare.panel_close"), "close", "compare_panel_close", close, shortcut="Esc"):
            st.rerun()
    with st.container(horizontal=True, wrap=False, gap="small", key="compare_panel_apply"):
        label = say("compare.panel_apply", letter=letter)
        if buttons.primary(label, "", "compare_apply", _apply, letter, base, width="stretch", shortcut="Enter"):
            st.rerun()
        if beside is not None:
            label, source = say("compare.panel_same", letter=beside.letter), (beside.scope, DRAFT, beside.letter)
            buttons.secondary(label, "", "compare_same", columns.copy_settings, *source)
    more = state.recall(_MORE) == "1"
    with st.container(gap="xsmall", key="compare_panel_what"):
        if len(indexes) > 1:
            titles = {"": say("compare.index_of_page"), **{id_: each.title for id_, each in indexes.items()}}
            _choice("index", say("frame.index"), titles)
        _choice("strategy", say("ask.strategy"), {name: words(each.title) for name, each in strategies.items()})
        if more:
            presets.show(DRAFT, info)
    rows = option_rows.Rows(DRAFT.prefix, more, _other(beside), tuple(column.fixed))
    n_hidden = option_rows.of_strategy(info, chosen_options.options, rows, partial(_keep, info)) + _index(base, rows)
    buttons.show_all(_MORE, say("compare.panel_more", n=n_hidden), "compare_panel_more")
    label, key = say("compare.remove_column", letter=letter), f"compare_remove_{letter.lower()}"
    buttons.tertiary(label, "delete", key, _remove, letter, disabled=len(columns.letters()) <= columns.LEAST)
    component(_ENTER, "<span></span>")(data={}, key="compare_panel_enter")
    if st.session_state.pop("lr_compare_removed", False):
        st.rerun()


def _choice(name: str, title: str, titles: Mapping[str, str]) -> None:
    """Draw one choice of the column in a line with its title."""
    with st.container(horizontal=True, wrap=False, gap="small", vertical_alignment="center"):
        with st.container(width=70, gap=None):
            draw(html('<div class="lr-panelrow">{}</div>', title))
        choices.dropdown(DRAFT.name(name), title, titles, label_visibility="collapsed")


def _remove(letter: str) -> None:
    columns.remove(letter)
    close()
    st.session_state["lr_compare_removed"] = True


def _other(beside: Column | None) -> option_rows.Beside | None:
    return option_rows.Beside(beside.letter, beside.settings) if beside is not None else None


def _keep(info: StrategyInfo, name: str, value: Any) -> None:
    presets.set_options(DRAFT, info, {name: value})


def _index(base: IndexSummary, rows: option_rows.Rows) -> int:
    """Draw the index settings, and what changing them takes; return how many are behind the button."""
    n_hidden, specs, recorded = 0, forms.option_fields(IndexConfig), base.config.by_name()
    changed = columns.changed_index(DRAFT, base)
    with st.container(key="compare_panel_index", gap=None):
        template = '<div class="lr-panelstep">{}<span>{}</span></div>'
        draw(html(template, say("compare.step.index"), say("compare.panel_trial")))
        takes = _takes(base, changed)
        for name in SETTINGS:
            spec = specs[name]
            if not (rows.more or spec.metadata.get("in_row") or name in changed):
                n_hidden += 1
                continue

            def keep(name: str, value: Any) -> None:
                same = value == recorded[name] or (value is None and recorded[name] in (None, ""))
                state.remember(DRAFT.name(columns.index_name(name)), None if same else state.written(value))

            option_rows.row(Setting(name, of_index=True), spec, changed.get(name, recorded[name]), rows, keep)
            if name in changed:
                draw(html('<div class="lr-paneltime">{}</div>', takes))
            elif name in ("cluster_size", "tau", "chunk_tokens"):
                probe = _PROBES[name in BASE_SETTINGS]
                draw(html('<div class="lr-paneltime">{}</div>', _takes(base, _unmade(base, probe, recorded[probe]))))
    return n_hidden


def _unmade(base: IndexSummary, name: str, recorded: int) -> dict[str, Any]:
    """Return the next larger value of that setting of which no index is there."""
    changed = {name: recorded + 1}
    with suppress(LeanRAGError):  # what is said then is the error
        while session.trial(base, changed) is not None:
            changed = {name: changed[name] + 1}
    return changed


def _takes(base: IndexSummary, changed: Mapping[str, Any]) -> str:
    """Return in words what an index with these settings takes."""
    if not changed:
        return ""
    reuses = "compare.kept_stages" if not set(changed) & set(BASE_SETTINGS) else "compare.reads_anew"
    try:
        if session.trial(base, changed) is not None:  # the kept forecast may be older
            return say("compare.takes_nothing")
        low, high, calls = _forecast(base, tuple(sorted(changed.items())))
    except LeanRAGError as error:
        return words(error)
    if calls:
        return say("compare.takes_calls", n=calls)
    if high < 1.3 * low:
        return say("compare.takes", time=numbers.duration(high), how=say(reuses))
    return say(
        "compare.takes",
        time=say("compare.range", low=numbers.duration(low), high=numbers.duration(high)),
        how=say(reuses),
    )


@st.cache_data(ttl=30, max_entries=256, show_spinner=False, hash_funcs=session.BY_INDEX)
def _forecast(base: IndexSummary, changed: tuple[tuple[str, Any], ...]) -> tuple[float, float, int]:
    """Return the least and the most seconds, and the number of model calls."""
    bench, index = session.workbench(), session.open_index(base)
    seconds = bench.trials.seconds(index, dict(changed))
    config = bench.trials.config(index, dict(changed))
    forecast = bench.trials.forecast(index, config) if seconds.high else None
    return seconds.low, seconds.high, round(forecast.calls.expected) if forecast else 0
