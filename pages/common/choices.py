"""Choices of one among titled options, as a drop-down list, segments or pills, and switches; each is remembered under
its name.

titles: what is shown for each option, in order; the first option is the default unless another one is named. pin, key
and forgets are those of widgets.remembered; all other arguments go to Streamlit (width, wrap, …).
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import streamlit as st

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
    options = list(titles)

    def draw(mount: Mount[str]) -> Any:
        return st.selectbox(
            label,
            options,
            index=options.index(mount.value),
            format_func=titles.__getitem__,
            **mount.wired,
            **layout,
        )

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
    return _chosen(name, titles, _row(st.segmented_control, label, titles, layout), default, key=key, pin=pin)


def pills(name: str, label: str, titles: Mapping[str, str], *, default: str | None = None, **layout: Any) -> str:
    """Return the option chosen in a row of pills."""
    return _chosen(name, titles, _row(st.pills, label, titles, layout), default)


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


def _row(
    widget: Callable[..., Any], label: str, titles: Mapping[str, str], layout: Mapping[str, Any]
) -> Callable[[Mount[str]], Any]:
    def draw(mount: Mount[str]) -> Any:
        return widget(
            label,
            list(titles),
            default=mount.value,
            format_func=titles.__getitem__,
            **mount.wired,
            required=True,
            **layout,
        )

    return draw


def _chosen(
    name: str,
    titles: Mapping[str, str],
    draw: Callable[[Mount[str]], Any],
    default: str | None = None,
    **more: Any,
) -> str:
    first = next(iter(titles)) if default is None else default
    values = widgets.Values(allowed=titles.__contains__, form=widgets.labels(titles))
    return str(widgets.remembered(name, first, draw, values, **more))
