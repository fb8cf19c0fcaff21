"""Buttons with an icon and a callback, by Streamlit's types of buttons.

icon: a name of Material Symbols, empty for none. act: called with args when the button is pressed. more: other
arguments of st.button. Each function returns whether the button was pressed.
"""

from collections.abc import Callable
from typing import Any

import streamlit as st

from pages.common import forms, state
from pages.common.messages import say

Act = Callable[..., Any] | None


def primary(label: str, icon: str, key: str, act: Act = None, *args: Any, **more: Any) -> bool:
    """Draw the button of a form's or panel's main action."""
    return _button(label, icon, key, act, args, type="primary", **more)


def secondary(label: str, icon: str, key: str, act: Act = None, *args: Any, **more: Any) -> bool:
    """Draw a button with a frame."""
    return _button(label, icon, key, act, args, **more)


def tertiary(label: str, icon: str, key: str, act: Act = None, *args: Any, **more: Any) -> bool:
    """Draw a button that looks like text."""
    return _button(label, icon, key, act, args, type="tertiary", **more)


def _button(label: str, icon: str, key: str, act: Act, args: tuple[Any, ...], **more: Any) -> bool:
    drawn_icon = f":material/{icon}:" if icon else None
    return bool(st.button(label, icon=drawn_icon, key=key, on_click=act, args=args, **more))


def icon_alone(label: str, icon: str, key: str, act: Act = None, *args: Any, **more: Any) -> bool:
    """Draw an icon without a text. label: for screen readers and the tooltip; style.css hides it by the key."""
    return tertiary(forms.plain(label), icon, key, act, *args, help=forms.plain(label), **more)


def show_all(name: str, label: str, key: str) -> None:
    """Draw the button that shows all of a list, or its beginning again. name: under which the choice is remembered.
    label: for all."""
    whole = state.recall(name) == "1"
    tertiary(say("compare.less") if whole else label, "", key, state.remember, name, None if whole else "1")
