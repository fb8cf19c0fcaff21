"""Fields for a budget, remembered under a name: dollars and tokens."""

from typing import Any

import streamlit as st

from pages.common import widgets

_MOST_TOKENS = 2**53  # a browser counts no further


def dollars(name: str, label: str, default: float = 0.0, *, key: str, **layout: Any) -> float:
    """The dollars that a person allows; 0 for any."""
    chosen = widgets.remembered(
        name,
        default,
        lambda mount: st.number_input(
            label,
            min_value=0.0,
            value=mount.value,
            step=1.0,
            format="%.2f",
            key=mount.key,
            on_change=mount.changed,
            **layout,
        ),
        parse=float,
        allowed=lambda value: 0.0 <= value < float("inf"),
        key=key,
    )
    return float(chosen)


def tokens(name: str, label: str, default: int = 0, *, key: str, **layout: Any) -> int:
    """The tokens that a person allows; 0 for any."""
    chosen = widgets.remembered(
        name,
        default,
        lambda mount: st.number_input(
            label,
            min_value=0,
            value=mount.value,
            step=100_000,
            key=mount.key,
            on_change=mount.changed,
            **layout,
        ),
        parse=int,
        allowed=lambda value: 0 <= value < _MOST_TOKENS,
        key=key,
    )
    return int(chosen)
