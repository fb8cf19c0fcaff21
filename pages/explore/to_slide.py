"""Adds the picture of the open view to a presentation, in both themes and with its legend, by one click."""

from datetime import date
from pathlib import Path
from typing import Any

import streamlit as st

from leanrag_core.figures.palette import Palette, palette
from leanrag_core.presenting.sent_pictures import picture_sent
from leanrag_core.presenting.story import MAX_PICTURE, PICTURE
from leanrag_core.views.graph import hues
from pages.common import to_presentation
from pages.common.component import component
from pages.common.frame import is_dark
from pages.common.messages import kept_fault, say, show_fault
from pages.explore.exploring import Exploring, View

_SCRIPT = Path(__file__).with_name("to_slide.js")
# Hidden, since it has no name before the script writes its label.
_FRAME = (
    '<div class="lr-slide"><button type="button" style="visibility:hidden"></button><span role="status"></span></div>'
)
_KEY, _FAULT = "explore_present", "lr_explore_present_fault"


def button(exploring: Exploring, view: View, topic: object) -> None:
    """Draw the button, or after a click a link to the new slide. topic: of what is shown."""
    presentation = to_presentation.target()
    if presentation is None or to_presentation.added(_KEY, (view.name, topic)):
        return
    show_fault(_FAULT)

    def send() -> None:
        with kept_fault(_FAULT):
            sent, today = st.session_state[_KEY].get("picture"), date.today().isoformat()
            slide = picture_sent(sent, index=exploring.summary.name, made=today)
            to_presentation.add(PICTURE, slide, key=_KEY, topic=(view.name, topic))

    words = {name: say(f"explore.slide.{name}") for name in ("none", "large", "failed")}
    words |= {"add": say("present.add"), "help": to_presentation.help_of(presentation)}
    data = {
        "words": words,
        "theme": "dark" if is_dark() else "light",
        "themes": {"light": _colours(palette(dark=False)), "dark": _colours(palette(dark=True))},
        "most": MAX_PICTURE,
    }
    component(_SCRIPT, _FRAME, parts=("figure_tools",))(data=data, key=_KEY, on_picture_change=send)


def _colours(colours: Palette) -> dict[str, Any]:
    """Return the style sheets' colour variables, the hues of the graph's clouds, and all hues that figures get from
    Python."""
    clouds = hues(colours)
    return {
        "variables": colours.variables(),
        "clouds": clouds,
        "hues": [*clouds, *colours.clusters, colours.colours["text"], colours.colours["mute"]],
    }
