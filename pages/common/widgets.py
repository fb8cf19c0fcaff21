"""Widgets that show what is remembered, at every mount and after any change of it, and report what a person chose.

Streamlit forgets a widget that is not drawn (behind another strategy, on another page), and mounts it later with the
default that it is given: so each is given what is remembered as its default, in every run, since one behind a closed
popover is mounted runs after it was drawn. A value that is set from outside would reach the browser in one run alone,
and be lost with a run that is overtaken; then the browser sends its old value back as if a person had chosen it. So a
widget whose value changes from outside is replaced by a new one, and what the old one still sends is ignored.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Generic, TypeVar

import streamlit as st

from pages.common import state

_Value = TypeVar("_Value")


@dataclass(frozen=True)
class Mount(Generic[_Value]):
    """What a Streamlit widget is drawn with. changed: for its on_change."""

    key: str
    value: _Value
    changed: Callable[[], None]


@dataclass(frozen=True)
class Values:
    """Which values a widget may hold, and how they are held. parse, write: from and to the text of a link; parse may
    raise ValueError. read: from what Streamlit holds. form: what else makes it another widget (bounds, options)."""

    parse: Callable[[str], Any] = str
    allowed: Callable[[Any], bool] = lambda value: True
    write: Callable[[Any], Any] = state.written
    read: Callable[[Any], Any] = lambda stored: stored
    form: object = None


_TEXTS = Values()


def show(
    base: str,
    value: _Value,
    draw: Callable[[Mount[_Value]], Any],
    keep: Callable[[Any], Any],
    *,
    read: Callable[[Any], Any] = lambda stored: stored,
    form: object = None,
) -> Any:
    """Draw the widget and returns what it holds: `value`, or what a person chose since, which is handed to `keep`.

    keep: may return what the widget is to show instead, None where the choice is accepted (or stays to be corrected).
    read: what Streamlit holds as a value. form: what else makes it another widget (bounds, options).
    """
    screen, replaced = state.memory().screen, state.memory().replaced
    if base in screen and screen[base] != (form, value):
        replaced[base] = replaced.get(base, 0) + 1
    screen[base] = (form, value)
    key = key_of(base)

    def changed() -> None:
        if key == key_of(base):
            chosen = read(st.session_state[key])
            instead = keep(chosen)
            if instead is not None:  # not in a new widget: a person is in this one, and it would stay beside that
                st.session_state[key] = instead
            settle(base, chosen if instead is None else instead, form=form)

    chosen = read(draw(Mount(key, value, changed)))
    if chosen != value:  # its callback was cut off by the next run
        keep(chosen)
        settle(base, chosen, form=form)
    return chosen


def labels(titles: Mapping[str, str]) -> object:
    """Return the form of a choice with these titles. Streamlit knows what a browser has chosen by its title alone: a
    choice whose titles change has to be another widget, or it is empty from then on."""
    return tuple(titles.items())


def key_of(base: str) -> str:
    """Return the widget's present key."""
    replaced = state.glance().replaced.get(base, 0)
    return f"{base}~{replaced}" if replaced else base


def settle(base: str, value: Any, *, form: object = None) -> None:
    """Note that the widget holds that value, so that it need not be replaced to show it."""
    state.memory().screen[base] = (form, value)


def remembered(
    name: str,
    default: _Value,
    draw: Callable[[Mount[_Value]], Any],
    values: Values = _TEXTS,
    *,
    key: str = "",
    pin: bool = False,
    forgets: Sequence[str] = (),
) -> Any:
    """Draw a widget of what is remembered under that name; returns its value. The default is not written into links.

    pin: the default is remembered too, since another one may take its place (the newest index). forgets: what another
    choice here makes void. A widget that a browser empties holds no choice: what it showed stays, unless the default is
    None too.
    """
    value = state.fitting(name, default, values.parse, values.allowed)
    if pin and not state.recall(name):
        state.remember(name, values.write(value))

    def keep(chosen: Any) -> None:
        if chosen is None and default is not None:
            return
        state.remember(name, None if chosen is None or (chosen == default and not pin) else values.write(chosen))
        for void in forgets:
            state.remember(void, None)

    chosen = show(key or f"lr_{name}", value, draw, keep, read=values.read, form=values.form)
    return value if chosen is None and default is not None else chosen


def one_of(name: str, options: Sequence[str], draw: Callable[[Mount[str]], Any], values: Values = _TEXTS) -> str:
    """Return what is chosen among options; the first one is the default. values: without `allowed`."""
    chosen = remembered(name, options[0], draw, replace(values, allowed=lambda value: value in options))
    return chosen or options[0]
