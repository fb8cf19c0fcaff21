"""Widgets that show what is remembered, after every mount and every change, and report what a person chose.

Streamlit forgets a widget that is not drawn (another strategy, another page), and mounts it later with its default. So
each run passes the remembered value as the default, since a widget behind a closed popover may be mounted runs after it
was drawn. A value set through the session's state would reach the browser in one run only; if that run is overtaken it
is lost, and the browser sends its old value back as if a person had chosen it. So a widget whose value changes from
outside is replaced by a new one, and whatever the old one still sends is ignored.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Generic, TypeVar

import streamlit as st

from pages.common import state

_Value = TypeVar("_Value")


@dataclass(frozen=True)
class Mount(Generic[_Value]):
    """The arguments of a Streamlit widget. changed: for its on_change."""

    key: str
    value: _Value
    changed: Callable[[], None]

    @property
    def wired(self) -> dict[str, Any]:
        """Return the arguments that connect the widget with what is remembered."""
        return {"key": self.key, "on_change": self.changed}


@dataclass(frozen=True)
class Values:
    """The values that a widget may hold, and their conversions. parse, write: from and to the text of a link; parse may
    raise ValueError. read: from Streamlit's value. form: whatever else, if it changes, requires a new widget (bounds,
    options)."""

    parse: Callable[[str], Any] = str
    allowed: Callable[[Any], bool] = lambda value: True
    write: Callable[[Any], Any] = state.written
    read: Callable[[Any], Any] = lambda stored: stored
    form: object = None


TEXTS = Values()


def show(
    base: str,
    value: _Value,
    draw: Callable[[Mount[_Value]], Any],
    keep: Callable[[Any], Any],
    *,
    read: Callable[[Any], Any] = lambda stored: stored,
    form: object = None,
) -> Any:
    """Draw the widget and return its value: `value`, or what a person has chosen since, which is passed to `keep`.

    keep: returns the value to show instead, or None if the choice is accepted (or stays to be corrected). read:
    converts Streamlit's value. form: whatever else, if it changes, requires a new widget (bounds, options).
    """
    screen, replaced = state.memory().screen, state.memory().replaced
    if base in screen and screen[base] != (form, value):
        replaced[base] = replaced.get(base, 0) + 1
    screen[base] = (form, value)
    key = key_of(base)

    def changed() -> None:
        if key == key_of(base) and key in st.session_state:  # else forgotten in a run that was interrupted
            chosen = read(st.session_state[key])
            instead = keep(chosen)
            if instead is not None:  # not in a new widget: a person is in this one, and it would stay beside that
                st.session_state[key] = instead
            settle(base, chosen if instead is None else instead, form=form)

    chosen = read(draw(Mount(key, value, changed)))
    if chosen != value:  # the next run interrupted its callback
        keep(chosen)
        settle(base, chosen, form=form)
    return chosen


def labels(titles: Mapping[str, str]) -> object:
    """Return the form of a choice with these titles. Streamlit identifies a browser's choice by its title only, so a
    choice with other titles has to be a new widget, or it would be empty."""
    return tuple(titles.items())


def key_of(base: str) -> str:
    """Return the widget's current key."""
    replaced = state.glance().replaced.get(base, 0)
    return f"{base}~{replaced}" if replaced else base


def settle(base: str, value: Any, *, form: object = None) -> None:
    """Record that the widget already holds that value, so that it is not replaced to show it."""
    state.memory().screen[base] = (form, value)


def remembered(
    name: str,
    default: _Value,
    draw: Callable[[Mount[_Value]], Any],
    values: Values = TEXTS,
    *,
    key: str = "",
    pin: bool = False,
    forgets: Sequence[str] = (),
) -> Any:
    """Draw a widget for the value remembered under that name; return its value. The default is not written into links.

    pin: remember the default too, since it may change (the newest index). forgets: names that a new choice makes void.
    A widget that a browser has emptied keeps its last value, unless the default is None.
    """
    value = state.fitting(name, default, values.parse, values.allowed)
    if pin and not state.recall(name):
        state.remember(name, values.write(value))

    def keep(chosen: Any) -> None:
        if chosen is None and default is not None:
            return
        state.remember(name, None if chosen is None or (chosen == default and not pin) else values.write(chosen))
        state.forget(*forgets)

    chosen = show(key or f"lr_{name}", value, draw, keep, read=values.read, form=values.form)
    return value if chosen is None and default is not None else chosen


def one_of(name: str, options: Sequence[str], draw: Callable[[Mount[str]], Any], values: Values = TEXTS) -> str:
    """Return the chosen one of the options; the first is the default. values: without `allowed`."""
    chosen = remembered(name, options[0], draw, replace(values, allowed=lambda value: value in options))
    return chosen or options[0]
