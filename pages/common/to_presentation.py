"""Adds a slide to a presentation by one click on another page: to the one edited last, else to the newest one about the
page's index, else to the newest one."""

from collections.abc import Callable, Sequence
from itertools import chain

import streamlit as st

from leanrag_core.errors import InvalidConfig
from leanrag_core.presenting.storing import AddedTo
from leanrag_core.presenting.story import AddedSlide, PresentationSummary
from pages.common import buttons, forms, session, state
from pages.common.frame import page_path, plain_errors
from pages.common.messages import say, toast_next

_INTO, _AFTER, _DONE = "lr_present_into", "lr_present_after", "lr_present_done"


def prefer(presentation_id: str, *, after: str = "") -> None:
    """Send slides of other pages to that presentation from now on. after: key of the slide before them; empty for the
    last."""
    st.session_state[_INTO], st.session_state[_AFTER] = presentation_id, after


def button(kind: str, make: Callable[[], AddedSlide], *, key: str, topic: object) -> None:
    """Draw the button, or after a click a link to the new slide. topic: what would be added; the button returns when it
    changes. kind: prefix of the slide's key."""
    if added(key, topic):
        return
    presentation = target()
    if presentation is None:
        return
    if buttons.tertiary(say("present.add"), "slideshow", key, help=help_of(presentation)):
        with plain_errors():
            add(kind, make(), key=key, topic=topic)
            st.rerun()


def added(key: str, topic: object) -> bool:
    """Draw a link to the slide that this button has added about the topic; tell whether it has."""
    done = st.session_state.get(_DONE)
    if done is None or done[:2] != (key, topic):
        return False
    slide: AddedTo = done[2]
    if buttons.tertiary(say("present.added", place=slide.place), "check", f"open_{key}"):
        state.remember("edit", slide.id)
        st.switch_page(page_path("present"))
    return True


def add(kind: str, slide: AddedSlide, *, key: str, topic: object) -> None:
    """Store the slide after the one chosen or added last. Raises the errors of the store's add_slide(), and
    InvalidConfig if there is no presentation any more."""
    presentation = target()
    if presentation is None:
        raise InvalidConfig("present.nowhere")
    place = session.workbench().presentations.add_slide(
        presentation.id, kind, slide, after=slide_in_hand(presentation.id)
    )
    prefer(place.id, after=place.key)
    toast_next(say("present.added_to", place=place.place, title=forms.plain(presentation.title)), "slideshow")
    st.session_state[_DONE] = (key, topic, place)


def help_of(presentation: PresentationSummary) -> str:
    """Return where a slide will be added."""
    title = forms.plain(presentation.title)
    if presentation.is_shipped:
        return say("present.add_copy", title=title)
    return say("present.add_after" if slide_in_hand(presentation.id) else "present.add_help", title=title)


def slide_in_hand(presentation_id: str) -> str:
    """Return the key of the slide chosen or added last, after which a new one is added; empty for the last slide."""
    return str(st.session_state.get(_AFTER, "")) if st.session_state.get(_INTO) == presentation_id else ""


def target() -> PresentationSummary | None:
    """Return the presentation to which slides are added; see best_of()."""
    listed = session.workbench().presentations.all().presentations
    return best_of(listed, str(st.session_state.get(_INTO, "")), state.recall("index"))


def best_of(listed: Sequence[PresentationSummary], edited_last: str, index_id: str) -> PresentationSummary | None:
    """Return the presentation edited last, else the newest about that index, else the newest. listed: newest first."""
    about = (each for each in listed if each.index_id == index_id)
    edited = (each for each in listed if each.id == edited_last)
    return next(chain(edited, about, listed), None)
