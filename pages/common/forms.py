"""Forms drawn from a configuration dataclass: each field with its help, its bounds and the paper's value."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import Field, fields
from functools import partial
from typing import Any, Literal

import pandas as pd
import streamlit as st

from leanrag_core.figures.drawing import isolated
from leanrag_core.retrieval import settings
from leanrag_core.retrieval.base import RERANK
from leanrag_core.types.config import CHUNK, IndexConfig, help_of, within_bounds
from leanrag_core.types.visible import visible
from pages.common import markup, reveal, state, widgets
from pages.common.html import draw
from pages.common.messages import message, say, words

Fault = Callable[[Any], str]


def no_fault(value: Any) -> str:
    """Return "" for any value: no fault."""
    return ""


NO_FAULTS: Mapping[str, Fault] = {}


def title_of(name: str, config: type | None = None) -> str:
    """Return the title on screen of that configuration's field, or of a strategy's option."""
    return words(settings.option_title(name, of_index=config is IndexConfig))


def choice_title(name: str, choice: Any) -> str:
    """Return the title of an option's choice; the value itself if it has none."""
    return words(settings.choice_title(name, choice))


def shown(name: str, value: object) -> str:
    """Return the value of that option in words."""
    return words(settings.option_value(name, value))


def option_fields(config: type) -> dict[str, Field[Any]]:
    """Return the fields of a configuration dataclass by name, the one that all strategies have (RERANK) last."""
    return {spec.name: spec for spec in sorted(fields(config), key=lambda spec: spec.name == RERANK)}


def link_name(spec: Field[Any], prefix: str) -> str:
    """Return the name of a field in links and in memory: its own with the prefix, or one that strategies share."""
    return spec.metadata.get("link") or f"{prefix}{spec.name}"


def hint(spec: Field[Any]) -> str:
    """Return the field's help text with the paper's value."""
    help_text = words(help_of(spec))
    paper = spec.metadata.get("paper")
    if paper is None or isinstance(paper, bool):
        return help_text
    return say("option.help_with_paper", help=help_text, paper=shown(spec.name, paper))


def _reading(spec: Field[Any]) -> tuple[Any, Callable[[str], Any], Callable[[Any], bool]]:
    """Return a field's default as its widget holds it, the parser of a text, and the test for allowed values."""
    default, choices = spec.default, spec.metadata.get("choices") or ()
    if choices:
        return default, str, lambda value: value in choices
    if isinstance(default, bool):
        return default, state.as_flag, lambda value: True
    if isinstance(default, int | float):
        read = int if isinstance(default, int) else float
        return default, read, partial(within_bounds, spec)
    return "" if default is None else str(default), str, lambda value: True


def field_value(config: type, name: str, under: str) -> Any:
    """Return the value of a field's widget, drawn or not. under: its name in links and in memory."""
    spec = option_fields(config)[name]
    return _entered(spec, state.fitting(under, *_reading(spec)))


def chunking() -> IndexConfig:
    """Return what the form of Build says of chunks, drawn or not; other settings are the usual ones."""
    names = [name for name, spec in option_fields(IndexConfig).items() if spec.metadata.get("stage") == CHUNK]
    values = {name: field_value(IndexConfig, name, f"b_{name}") for name in names}
    overlap = min(values["overlap_tokens"], values["chunk_tokens"] - 1)  # the form says so where it is larger
    return IndexConfig(**{**values, "overlap_tokens": overlap})


def _entered(spec: Field[Any], value: Any) -> Any:
    """Return a text stripped of spaces at both ends; None for an empty one."""
    return value.strip() or None if isinstance(value, str) and not spec.metadata.get("choices") else value


def option_widget(
    spec: Field[Any],
    title: str,
    mount: widgets.Mount[Any],
    *,
    empty: str,
    width: int | Literal["stretch"] = "stretch",
    choice_width: int | Literal["stretch"] = "stretch",
    **more: Any,
) -> Any:
    """Draw the widget that fits the option's kind. empty: shown in a field without a text. width, choice_width: of
    fields and of a drop-down list. more: other arguments of each widget."""
    low, high, choices = (spec.metadata.get(bound) for bound in ("low", "high", "choices"))
    common: dict[str, Any] = {**mount.wired, **more}
    if choices:
        titles = {choice: choice_title(spec.name, choice) for choice in choices}
        place = choices.index(mount.value)
        return st.selectbox(title, choices, index=place, format_func=titles.__getitem__, width=choice_width, **common)
    if isinstance(spec.default, bool):
        return st.toggle(title, value=mount.value, **common)
    common["width"] = width
    if isinstance(spec.default, int):
        return st.number_input(title, min_value=low, max_value=high, value=int(mount.value), step=1, **common)
    if isinstance(spec.default, float):
        lowest, highest = (None if bound is None else float(bound) for bound in (low, high))
        return st.number_input(title, min_value=lowest, max_value=highest, value=float(mount.value), **common)
    return st.text_input(title, value=mount.value, placeholder=empty, **common)


def draw_field(config: type, name: str, *, under: str, fault: Fault = no_fault) -> Any:
    """Draw one field of a configuration as a widget with its help below; return its value.

    under: its name in links and in memory. fault: returns what is wrong with a value, which is shown below the widget.
    """
    spec = option_fields(config)[name]
    default, parse, allowed = _reading(spec)
    title, choices = title_of(name, config), spec.metadata.get("choices") or ()
    titles = {choice: choice_title(name, choice) for choice in choices}

    def widget(mount: widgets.Mount[Any]) -> Any:
        return option_widget(spec, title, mount, empty=say("option.chosen_from_data"))

    with reveal.place(under, gap="xsmall"):
        values = widgets.Values(parse, allowed, form=widgets.labels(titles) if choices else None)
        value = _entered(spec, widgets.remembered(under, default, widget, values))
        problem = fault(value)
        if problem:
            message(problem, kind="error")
        else:
            draw(markup.hint(hint(spec)))
    return value


def draw_fields(
    config: type, names: Sequence[str], *, prefix: str, faults: Mapping[str, Fault] = NO_FAULTS
) -> dict[str, Any]:
    """Draw the fields side by side, wrapping on narrow windows; return their values. faults: by name."""
    values = {}
    with st.grid(3, min_column_width=190, gap="small"):
        for name in names:
            values[name] = draw_field(config, name, under=f"{prefix}{name}", fault=faults.get(name, no_fault))
    return values


def plain(text: str) -> str:
    """Escape a text for a Streamlit label, which reads Markdown. The options of a drop-down list and of a multiselect
    are not Markdown: for them use visible()."""
    return "".join(f"\\{sign}" if sign in "\\`*_{}[]()#+-.!:$~|<>" else sign for sign in visible(text))


def visible_cells(table: pd.DataFrame) -> pd.DataFrame:
    """Return the table with invisible characters of its texts made visible."""
    return table.map(lambda cell: visible(cell) if isinstance(cell, str) else cell)


def table_height(rows: int, most: int) -> int | Literal["content"]:
    """Return the height that shows all rows of a short table, else the height from which it scrolls."""
    return "content" if 35 * rows + 40 <= most else most


def table(rows: pd.DataFrame, most: int, **more: Any) -> Any:
    """Draw the table and return what st.dataframe() does. most: px, from which it scrolls. more: further arguments."""
    return st.dataframe(visible_cells(rows), hide_index=True, height=table_height(len(rows), most), **more)


def clickable_table(table: pd.DataFrame, pick: Callable[[int], object], *, key: str, **more: Any) -> None:
    """Draw the table. pick: called with the number of the row that a person clicks. more: arguments of
    st.dataframe."""

    def clicked() -> None:
        cells = st.session_state[key]["selection"]["cells"]
        if cells:
            pick(int(cells[0][0]))

    st.dataframe(
        visible_cells(table), hide_index=True, key=key, on_select=clicked, selection_mode="single-cell", **more
    )


def first_of(names: Sequence[str], most: int) -> str:
    """Return the first names of a list, and the number of all others."""
    comma = say("ask.comma")
    listed = comma.join(isolated(visible(name)) for name in names[:most])
    return comma.join([listed, f"+{len(names) - most:,}"]) if len(names) > most else listed
