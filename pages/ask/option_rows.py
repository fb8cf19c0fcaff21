"""The options of a strategy as rows, by the step they affect: a title, another variant's value, a widget."""

from collections.abc import Callable, Mapping
from dataclasses import Field, dataclass
from typing import Any

import streamlit as st

from leanrag_core.figures.drawing import isolated
from leanrag_core.retrieval.base import MAX_TOKENS, TOP_C, StrategyInfo
from leanrag_core.retrieval.settings import step_of
from leanrag_core.retrieval.variants import Setting, VariantSettings
from leanrag_core.types.config import STEPS, IndexConfig
from pages.common import forms, markup, widgets
from pages.common.html import NOTHING, draw, html
from pages.common.messages import say, words

Keep = Callable[[str, Any], None]  # takes an option's name and its new value


@dataclass(frozen=True)
class Beside:
    """Another variant of the strategy, whose differing values are shown. label: its name."""

    label: str
    settings: VariantSettings


@dataclass(frozen=True)
class Rows:
    """How rows are drawn. key: prefix of their widgets' keys, unique on the page. more: draw rarely used options too.
    fixed: options that another choice decides."""

    key: str
    more: bool
    beside: Beside | None = None
    fixed: tuple[str, ...] = ()


def of_strategy(info: StrategyInfo, option_values: Mapping[str, Any], rows: Rows, keep: Keep) -> int:
    """Draw the options of the strategy by step: the main ones, and the others if wanted; return how many are left
    out."""
    specs, n_hidden = forms.option_fields(info.config), 0
    for place, step in enumerate(STEPS):
        of_step = [spec for spec in specs.values() if step_of(spec) == step]
        first = [spec for spec in of_step if rows.more or _is_first(spec, option_values, rows.beside)]
        n_hidden += len(of_step) - len(first)
        if not first:
            continue
        with st.container(gap=None, key=f"{rows.key}_panel_{step}"):
            draw(html('<div class="lr-panelstep">{} {}</div>', place + 1, say(f"compare.step.{step}")))
            for spec in first:
                if spec.name in rows.fixed:
                    draw(markup.muted(say("compare.equal_decides", options=forms.title_of(spec.name))))
                else:
                    row(Setting(spec.name), spec, option_values.get(spec.name, spec.default), rows, keep)
    return n_hidden


def _is_first(spec: Field[Any], option_values: Mapping[str, Any], beside: Beside | None) -> bool:
    """Return whether an option is always drawn: main options, budgets, options without their default value, and those
    in which the other variant differs."""
    value = option_values.get(spec.name, spec.default)
    other = beside.settings.options.get(spec.name, spec.default) if beside else value
    named = spec.metadata.get("in_row") or spec.name in (TOP_C, MAX_TOKENS)
    return bool(named or value != spec.default or other != value)


def row(setting: Setting, spec: Field[Any], value: Any, rows: Rows, keep: Keep) -> None:
    """Draw a setting in one line: its title, marked if the other variant has another value, and its widget."""
    beside = rows.beside
    other = beside.settings.value(setting) if beside else value
    differs = str(other or "") != str(value or "") if not isinstance(value, bool) else other != value
    title = forms.title_of(setting.name, IndexConfig if setting.of_index else None)
    key = f"lr_{rows.key}_{'index' if setting.of_index else 'ask'}_{setting.name}"
    note = NOTHING
    if differs and beside is not None:
        other_value = words(setting.value_words(other))
        note = html("<small>{}</small>", say("compare.other_has", letter=beside.label, value=isolated(other_value)))
    with st.container(horizontal=True, wrap=False, gap="small", vertical_alignment="center", key=f"row_{key}"):
        with st.container(width="stretch", gap=None):
            template = '<div class="lr-panelrow{}" title="{}">{}{}{}</div>'
            draw(html(template, " differs" if differs else "", forms.hint(spec), "≠ " if differs else "", title, note))
        _widget(key, title, spec, value, lambda chosen: keep(setting.name, chosen))


def _widget(key: str, title: str, spec: Field[Any], value: Any, keep: Callable[[Any], None]) -> None:
    """Draw the widget that fits the option's kind; its title is for screen readers only."""
    options = spec.metadata.get("choices")

    def widget(mount: widgets.Mount[Any]) -> Any:
        look = {"empty": say("setting.from_data"), "label_visibility": "collapsed"}
        return forms.option_widget(spec, title, mount, width=124, choice_width=140, **look)

    is_text = spec.default is None or (isinstance(spec.default, str) and not options)
    shown_value = ("" if value is None else str(value)) if is_text else value
    form = tuple(options) if options else None
    widgets.show(
        key, shown_value, widget, lambda chosen: keep(chosen.strip() or None if is_text else chosen), form=form
    )
