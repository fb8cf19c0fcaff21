"""Choices that are remembered and in the link."""

from collections.abc import Sequence

import streamlit as st

from pages._shared.common import widgets
from pages._shared.common.html import draw, html


def labelled_pills(name: str, title: str, options: Sequence[str], default: str) -> str:
    """The chosen option; it is remembered under that name."""
    with st.container(horizontal=True, gap="small", vertical_alignment="center", width="content"):
        draw(html('<span class="lr-small lr-muted">{}</span>', title))
        return widgets.one_of(
            name,
            sorted(options, key=lambda option: option != default),  # the first one is the default
            lambda mount: st.pills(
                title,
                options,
                default=mount.value,
                key=mount.key,
                on_change=mount.changed,
                required=True,
                label_visibility="collapsed",
            ),
            form=tuple(options),
        )


def segments(name: str, titles: dict[str, str], label: str) -> str:
    """A segmented control, remembered under that name; the first choice is the default."""
    return widgets.one_of(
        name,
        list(titles),
        lambda mount: st.segmented_control(
            label,
            list(titles),
            default=mount.value,
            format_func=titles.__getitem__,
            key=mount.key,
            on_change=mount.changed,
            required=True,
            label_visibility="collapsed",
        ),
        form=widgets.labels(titles),
    )
