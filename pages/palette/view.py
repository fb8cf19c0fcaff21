"""The command palette in the browser, and the effect of choosing an item.

It is a fragment: it opens and searches without a run of the page. Items that change during work are sent when it is
opened, and the browser keeps them until it is opened again.
"""

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import streamlit as st

from leanrag_core.messages.catalog import ENGLISH, codes, sentence
from leanrag_core.messages.message import Message
from leanrag_core.types.settings import LANGUAGES
from pages.common import session, state, tour
from pages.common.component import component
from pages.common.frame import PAGES, page_path, plain_errors
from pages.common.messages import LANGUAGE, language, say
from pages.common.scope import PAGE
from pages.palette import items

_HERE = Path(__file__).parent
_FRAME = '<button type="button" class="lr-palette-open" style="visibility:hidden"></button>'
_KEY = "lr_palette"
_SEARCHED, _TARGET, _THEME = "lr_palette_searched", "lr_palette_target", "lr_palette_theme"
_LONGEST = 200  # most characters of a search
_WORDS = ("open", "label", "placeholder", "nothing", "keys", "close")


@st.fragment
def show() -> None:
    """Draw the button that opens the palette, and the palette; go to the page of a chosen item."""
    target = st.session_state.pop(_TARGET, None)
    if target:
        st.switch_page(page_path(target))
    elif target is not None or st.session_state.pop(_THEME, False):
        st.rerun()
    with plain_errors():
        component(_HERE / "palette.js", _FRAME, parts=("palette_match", "streamlit_words"))(
            data={
                "language": language(),
                "fixed": _fixed(language()),
                "streamlit": _streamlit_words(language()),
                "words": {name: say(f"palette.{name}") for name in _WORDS} | {"found": say("palette.found", n="{n}")},
                "kinds": {kind: say(f"palette.kind.{kind}") for kind in items.KINDS},
                **_wanted(),
            },
            key=_KEY,
            on_searched_change=_searched,
            on_chosen_change=_chosen,
            on_theme_change=partial(st.session_state.__setitem__, _THEME, True),
        )


@st.cache_data(max_entries=4, show_spinner=False)
def _fixed(of_language: str) -> list[dict[str, Any]]:
    return [item.sent() for item in items.fixed()]


@st.cache_data(max_entries=4, show_spinner=False)
def _streamlit_words(of_language: str) -> dict[str, str]:
    """Return Streamlit's own words, which are the catalog's English sentences, in that language; none for English."""
    if of_language == ENGLISH:
        return {}
    own = [Message(code) for code in codes() if code.startswith("streamlit.")]
    return {sentence(word): sentence(word, of_language) for word in own}


def _wanted() -> dict[str, Any]:
    """Return what the browser has requested since the last run: the changing items if it opened the palette, and the
    entities that match the search."""
    searched = st.session_state.pop(_SEARCHED, None)
    if not isinstance(searched, Mapping):
        return {}
    text = str(searched.get("text", ""))[:_LONGEST]
    wanted = {"text": text, "entities": [item.sent() for item in items.entities(text)]}
    if searched.get("opened"):
        wanted["of_home"] = [item.sent() for item in items.of_home()]
    return wanted


def _searched() -> None:
    st.session_state[_SEARCHED] = st.session_state[_KEY].get("searched")


def _chosen() -> None:
    """Take over the values of the chosen item's link; the next run goes to its page."""
    item = st.session_state[_KEY].get("chosen")
    if not isinstance(item, Mapping):
        return
    page, does = str(item.get("page", "")), str(item.get("does", ""))
    values = {str(name): str(value) for name, value in dict(item.get("values") or {}).items()}
    if item.get("whole"):
        state.memory().follow(page, {**values, LANGUAGE: state.recall(LANGUAGE)})
    for name, value in values.items():
        state.remember(name, value)
    _do(does, values)
    st.session_state[_TARGET] = page if page in dict(PAGES) else ""


def _do(does: str, values: Mapping[str, str]) -> None:
    """Run the chosen action if no link can hold it: tour, language, ask or compare."""
    action, _, argument = does.partition(":")
    if action == items.TOUR:
        tour.show_again()
    elif action == items.LANGUAGE and argument in LANGUAGES:
        state.forget(LANGUAGE)
        session.workbench().settings.change(lambda settings: replace(settings, language=argument))
    elif action in (items.ASK, items.COMPARE):
        # These modules are imported with the first question asked from here, so that they do not delay every page.
        from pages.ask import question_view
        from pages.compare import columns

        askers = [PAGE] if action == items.ASK else [columns.scope_of(letter) for letter in columns.letters()]
        question_view.ask(PAGE, values.get("q", ""), askers)
