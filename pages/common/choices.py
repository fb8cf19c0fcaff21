"""Choices among titled options, fields and switches; each is remembered under its name.

titles: what is shown for each option, in order; the first option is the default unless another one is named. Lists
show invisible characters as marks; labels of segments and pills are Markdown (forms.plain()). pin, key and forgets are
those of widgets.remembered; all other arguments go to Streamlit (width, wrap, …). The functions selectbox,
segmented_control, multiselect and several_pills draw widgets that are remembered elsewhere, or not at all.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import streamlit as st

from leanrag_core.types.visible import visible
from pages.common import state, widgets
from pages.common.widgets import Mount


def dropdown(
    name: str,
    label: str,
    titles: Mapping[str, str],
    *,
    default: str | None = None,
    key: str = "",
    pin: bool = False,
    forgets: Sequence[str] = (),
    **layout: Any,
) -> str:
    """Return the option chosen in a drop-down list."""

    def draw(mount: Mount[str]) -> Any:
        return selectbox(label, titles, mount.value, **mount.wired, **layout)

    return _chosen(name, titles, draw, default, key=key, pin=pin, forgets=forgets)


def segments(
    name: str,
    label: str,
    titles: Mapping[str, str],
    *,
    default: str | None = None,
    key: str = "",
    pin: bool = False,
    **layout: Any,
) -> str:
    """Return the option chosen in a row of segments."""

    def draw(mount: Mount[str]) -> Any:
        return segmented_control(label, titles, mount.value, **mount.wired, **layout)

    return _chosen(name, titles, draw, default, key=key, pin=pin)


def pills(name: str, label: str, titles: Mapping[str, str], *, default: str | None = None, **layout: Any) -> str:
    """Return the option chosen in a row of pills."""

    def draw(mount: Mount[str]) -> Any:
        title_of = titles.__getitem__
        return st.pills(
            label, list(titles), default=mount.value, format_func=title_of, **mount.wired, required=True, **layout
        )

    return _chosen(name, titles, draw, default)


def toggle(name: str, label: str, *, key: str = "") -> bool:
    """Return whether a switch is on; it is off by default."""
    chosen = widgets.remembered(
        name,
        False,
        lambda mount: st.toggle(label, value=mount.value, **mount.wired),
        widgets.Values(parse=state.as_flag),
        key=key,
    )
    return bool(chosen)


def text(name: str, label: str, values: widgets.Values = widgets.TEXTS, *, key: str = "", **layout: Any) -> str:
    """Return what is written in a field of one line."""
    field = widgets.remembered(
        name, "", lambda mount: st.text_input(label, mount.value, **mount.wired, **layout), values, key=key
    )
    return str(field or "")


def number(
    name: str, label: str, default: Any, bounds: tuple[Any, Any], *, key: str = "", form: object = None, **more: Any
) -> Any:
    """Return the number in a field, of the default's type, or a whole number or None where the default is None.
    bounds: the least and the most, None for any. form: see widgets.Values. more: forgets, and Streamlit's arguments."""
    low, high = bounds
    kind, forgets = int if default is None else type(default), more.pop("forgets", ())
    values = widgets.Values(kind, lambda value: low <= value and (high is None or value <= high), form=form)

    def draw(mount: Mount[Any]) -> Any:
        return st.number_input(label, min_value=low, max_value=high, value=mount.value, **mount.wired, **more)

    return widgets.remembered(name, default, draw, values, key=key, forgets=forgets)


def selectbox(label: str, titles: Mapping[str, str], default: str | None = None, **more: Any) -> Any:
    """Draw a drop-down list; return the chosen option. default: the one that is chosen at first; the first of all where
    it is none of them."""
    options = list(titles)
    index = options.index(default) if default is not None and default in titles else 0
    return st.selectbox(label, options, index, format_func=_shown(titles), **more)


def segmented_control(label: str, titles: Mapping[str, str], default: str | None, **more: Any) -> Any:
    """Draw a row of segments, one of which is always chosen; return the chosen option."""
    title_of = titles.__getitem__
    return st.segmented_control(label, list(titles), default=default, format_func=title_of, required=True, **more)


def multiselect(label: str, titles: Mapping[str, str], default: Sequence[str] = (), **more: Any) -> Any:
    """Draw a choice of several options; return the chosen ones. default: those that are chosen at first."""
    options, chosen = list(titles), list(default)
    return st.multiselect(label, options, chosen, format_func=_shown(titles), select_all=False, **more)


def several_pills(label: str, titles: Mapping[str, str], default: Sequence[str], **more: Any) -> Any:
    """Draw a row of pills, any of which may be chosen; return the chosen options."""
    options, chosen = list(titles), list(default)
    return st.pills(label, options, selection_mode="multi", default=chosen, format_func=titles.__getitem__, **more)


def _shown(titles: Mapping[str, str]) -> Callable[[str], str]:
    return lambda option: visible(titles[option])


def _chosen(
    name: str, titles: Mapping[str, str], draw: Callable[[Mount[str]], Any], default: str | None = None, **more: Any
) -> str:
    first = next(iter(titles)) if default is None else default
    values = widgets.Values(allowed=titles.__contains__, form=widgets.labels(titles))
    return str(widgets.remembered(name, first, draw, values, **more))
