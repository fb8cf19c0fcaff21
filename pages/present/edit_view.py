"""The editor of a presentation: its input, and the actions of a person in it. Every change is stored at once."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from typing import Any

import streamlit as st

from leanrag_core.errors import LeanRAGError
from leanrag_core.figures.drawing import isolated
from leanrag_core.files.records import from_values, plain
from leanrag_core.presenting import slides
from leanrag_core.presenting.edits import (
    MAX_LOGO_BYTES,
    MAX_NOTES,
    MAX_QUOTATION,
    MAX_SLIDE_TITLE,
    MAX_SUBTITLE,
    MAX_TEXT,
    MAX_TITLE,
    Edits,
    require_logo,
)
from leanrag_core.presenting.pages_added import LETTERS, cut_side
from leanrag_core.presenting.slides import deck_of, values_of_deck
from leanrag_core.presenting.storing import revision_of
from leanrag_core.presenting.story import COMPARISON, AddedComparison, Presentation
from leanrag_core.retrieval.settings import settings_words
from leanrag_core.types.visible import visible_values
from pages.common import session, state, to_presentation
from pages.common.messages import language, message, say, words

_KEY = "lr_present_editor"
_SAID = "lr_present_said"
START = "lr_present_start"  # position of the slide with which a show begins
_SCRIPT = "present/edit.js"
_STYLE = "present/edit.css"
_START = """
export default function (component) {
  const { data, parentElement, setTriggerValue } = component;
  const host = parentElement.querySelector(".lre");
  host.lrEditor ??= new DeckEditor(host, (name, value) => host.lrSend(name, value));
  host.lrSend = setTriggerValue;
  host.lrEditor.update(data);
  return () => {
    host.lrEditor?.end();
    host.lrEditor = null;
  };
}
"""
_WORDS = (
    "undo", "redo", "pdf", "show", "done", "slides", "keys", "notes", "notes_hint", "lock", "saved", "saving", "up",
    "down", "leave_out", "put_back", "left_out", "remove", "removed", "moved", "not_shown", "slide_title", "title",
    "slide_subtitle", "deck_subtitle", "text", "quotation", "length", "add", "add_text", "add_text_hint", "equal",
    "equal_hint", "equal_none", "equal_wrong", "question", "budget", "add_it", "add_elsewhere", "this_slide",
    "take_claim", "as_stored", "whole", "logo", "other_logo", "no_logo", "logo_hint",
)  # fmt: skip


@dataclass
class _Said:
    """The page's reply to the editor. seq: of the last received event; error: why that did nothing; added: key of the
    slide added last."""

    seq: int = 0
    error: str = ""
    added: str = ""


def show(presentation_id: str) -> bool:
    """Draw the editor and return True; for an unreadable presentation draw its error and return False."""
    try:
        presentation = session.workbench().presentations.read(presentation_id)
        values = _values(presentation_id, presentation)
    except LeanRAGError as error:
        message(error, kind="error", title=say("present.not_shown"))
        return False
    with st.container(key="lr_present_editor_frame", gap=None):
        _component()(
            data=values,
            key=_KEY,
            on_edited_change=lambda: _heard(presentation_id, "edited"),
            on_equal_change=lambda: _heard(presentation_id, "equal"),
            on_left_change=lambda: _heard(presentation_id, "left"),
        )
    return True


def begin(presentation_id: str) -> None:
    """Open the editor. For callbacks."""
    st.session_state[_SAID] = _Said()
    state.remember("edit", presentation_id)
    to_presentation.prefer(presentation_id)


def _said() -> _Said:
    return state.in_session(_SAID, _Said)


def _values(presentation_id: str, presentation: Presentation) -> dict[str, Any]:
    deck = values_of_deck(deck_of(presentation, language(), whole=True))
    for slide in deck["slides"]:
        slide["stored_notes"] = presentation.notes.get(slide["kind"], "")
    reply = _said()
    named = {name: say(f"present.edit.{name}") for name in _WORDS}
    for name in ("text.title", "text.foot"):
        named[name.replace(".", "_")] = say(f"present.{name}")
    named["logo_large"], named["logo_kind"] = say("present.logo_large", limit=MAX_LOGO_BYTES), say("present.logo_kind")
    return {
        "deck": deck,
        "edits": {**_EMPTY, **plain(presentation.edits)},
        "title": visible_values(presentation.title),
        "revision": revision_of(presentation),
        "runs": visible_values(_runs(presentation)),
        "seq": reply.seq,
        "error": reply.error,
        "added": reply.added,
        "chosen": to_presentation.slide_in_hand(presentation_id),
        "words": named,
        "limits": {
            "title": MAX_TITLE,
            "slide_title": MAX_SLIDE_TITLE,
            "subtitle": MAX_SUBTITLE,
            "text": MAX_TEXT,
            "quotation": MAX_QUOTATION,
            "notes": MAX_NOTES,
            "logo": MAX_LOGO_BYTES,
        },
    }


_EMPTY: Mapping[str, Any] = {
    "title": "",
    "subtitle": "",
    "logo": "",
    "order": [],
    "left_out": [],
    "words": {},
    "notes": {},
}


def _asked(presentation: Presentation) -> dict[str, Any]:
    """Return the questions with stored runs: those of the story, and whole comparisons that were added."""
    comparisons: dict[str, Any] = {f"question-{n}": question for n, question in enumerate(presentation.questions)}
    added = {key: each for key, each in presentation.added.items() if isinstance(each, AddedComparison)}
    return comparisons | {key: each for key, each in added.items() if not each.budget}


def _runs(presentation: Presentation) -> list[dict[str, Any]]:
    return [
        {
            "key": key,
            "question": comparison.question,
            "sides": [
                {
                    "name": say("ask.comma").join(
                        map(words, (trace.title, settings_words(trace.strategy, trace.parameters)))
                    ),
                    "tokens": trace.context.tokens,
                }
                for trace in (side.run.trace for side in comparison.sides)
            ],
        }
        for key, comparison in _asked(presentation).items()
    ]


def _heard(presentation_id: str, kind: str) -> None:
    """Carry out a person's action in the editor. For callbacks."""
    event, reply = st.session_state[_KEY].get(kind) or {}, _said()
    reply.seq, reply.error = int(event.get("seq", reply.seq)), ""
    store = session.workbench().presentations
    try:
        if kind == "equal":
            added = store.add_slide(
                presentation_id, COMPARISON, _equal(store.read(presentation_id), event), after=str(event["after"])
            )
            reply.added = added.key
            state.remember("edit", added.id)
            return
        require_logo(str(event["edits"].get("logo", "")))
        edits = from_values(Edits, event["edits"], closed=True)
        stored = store.read(presentation_id)
        if edits != stored.edits:
            presentation_id = store.edit(presentation_id, edits, revision=str(event["revision"]))
            state.remember("edit", presentation_id)
        to_presentation.prefer(presentation_id, after=str(event.get("chosen") or ""))
    except LeanRAGError as error:
        reply.error = words(error)
        return
    if kind == "left":
        state.forget("edit")
        if event["how"] == "show":
            state.remember("show", presentation_id)
            st.session_state[START] = int(event["place"])


def _equal(presentation: Presentation, event: Mapping[str, Any]) -> AddedComparison:
    comparison = _asked(presentation)[str(event["run"])]
    budget = int(event["budget"])
    sides = tuple(cut_side(comparison.sides[int(place)], budget) for place in event["sides"][: len(LETTERS)])
    index = isolated(comparison.index if isinstance(comparison, AddedComparison) else presentation.index.name)
    made = comparison.made if isinstance(comparison, AddedComparison) else presentation.made
    return AddedComparison(
        comparison.question, index, made or date.today().isoformat(), sides, comparison.n_gold, budget
    )


@st.cache_resource(show_spinner=False)
def _component() -> Any:
    return st.components.v2.component(
        "lr_present_editor",
        html='<div class="lre"></div>',
        css=slides.styles() + slides.asset(_STYLE),
        js=slides.scripts() + slides.asset(_SCRIPT) + _START,
        isolate_styles=False,
    )
