"""The list of presentations, each with buttons to show and to export it."""

from datetime import date
from functools import partial

import streamlit as st

from leanrag_core.figures import numbers
from leanrag_core.figures.drawing import isolated
from leanrag_core.messages.message import message as message_of
from leanrag_core.presenting.slides import as_html
from leanrag_core.presenting.storing import MAX_BYTES, content_of, presentation_of
from leanrag_core.presenting.story import PresentationSummary
from pages.common import buttons, deletion, downloads, saved_files, session, state
from pages.common.html import NOTHING, draw, html
from pages.common.messages import language, message, say, say_or
from pages.present import edit_view

_WIDE = 3  # cards per row
_MENU = "lr_present_menu"  # in the session, by id: how often a dialog closed the menu of a card


def show_open() -> None:
    """Draw the button that opens the file of a presentation."""

    def read(content: bytes, name: str) -> None:
        state.remember("show", session.workbench().presentations.add(presentation_of(content, name=name)))

    codes = ("present.open_file", "present.open_hint", "present.open_file", "present.not_opened")
    saved_files.open_button(codes, MAX_BYTES, read, key="present_open", file_key="present_file")


def show() -> None:
    """Draw a card for each presentation, the person's own first."""
    listed = session.workbench().presentations.all()
    if not listed.presentations:
        message(say("present.empty"))
    for start in range(0, len(listed.presentations), _WIDE):
        row = listed.presentations[start : start + _WIDE]
        for column, summary in zip(st.columns(_WIDE), row, strict=False):
            with column, st.container(border=True, key=f"lr_present_card_{summary.id}", gap="small"):
                _card(summary)
    deletion.damaged(
        listed.damaged,
        say("present.delete"),
        session.workbench().presentations.delete,
        lambda id_: say("present.damaged", presentation=id_),
    )


def _card(summary: PresentationSummary) -> None:
    strategies = say("text.list").join(say_or(name, f"strategy.{name}.title") for name in summary.strategies)
    facts = say(
        "present.card_facts",
        index=isolated(summary.index),
        questions=message_of("present.count_questions", n=len(summary.questions)),
        strategies=strategies,
    )
    tag = html('<span class="lr-tag">{}</span>', say("present.sample")) if summary.is_shipped else NOTHING
    draw(
        html(
            '<div class="lr-card"><div class="n"><span>{}</span>{}</div><div class="f">{}</div>'
            '<div class="d" dir="auto">{}</div><div class="f">{}</div></div>',
            summary.title,
            tag,
            facts,
            " ".join(summary.questions),
            say("ask.comma").join(
                part for part in (_stored_on(summary.made), _edited(summary), numbers.size(summary.size_bytes)) if part
            ),
        )
    )
    with st.container(horizontal=True, gap="small", key=f"lr_present_actions_{summary.id}"):
        with st.container(key=f"primary_present_{summary.id}", width="content"):
            buttons.primary(say("present.show"), "slideshow", f"show_{summary.id}", state.remember, "show", summary.id)
        key = f"edit_{summary.id}"
        buttons.secondary(say("present.edit"), "edit", key, edit_view.begin, summary.id, help=say("present.edit_help"))
        code = language()
        downloads.button(
            say("present.export"),
            lambda: as_html(session.workbench().presentations.read(summary.id), code),
            f"{summary.id}.html",
            "text/html",
            key=f"html_{summary.id}",
            icon=":material/html:",
            type="secondary",
            help=say("present.export_help"),
        )
        opened = st.session_state.get(f"{_MENU}_{summary.id}", 0)
        with st.popover("", icon=":material/more_horiz:", type="tertiary", key=f"more_{summary.id}_{opened}"):
            downloads.button(
                say("present.download"),
                lambda: content_of(session.workbench().presentations.read(summary.id)),
                f"{summary.id}.json",
                "application/json",
                key=f"json_{summary.id}",
                help=say("present.download_help"),
            )
            if not summary.is_shipped:
                deletion.button(
                    f"delete_{summary.id}",
                    say("present.delete"),
                    say("present.delete_title"),
                    summary.title,
                    say("present.delete_hint"),
                    partial(session.workbench().presentations.delete, summary.id),
                    on_click=partial(_close_menu, summary.id),
                )


def _close_menu(presentation_id: str) -> None:
    """Give the menu a new key, which closes it; it would cover the dialog. For callbacks."""
    key = f"{_MENU}_{presentation_id}"
    st.session_state[key] = st.session_state.get(key, 0) + 1


def _edited(summary: PresentationSummary) -> str:
    """Return when it was changed last, which may be the only difference between copies of the sample."""
    if summary.is_shipped or not summary.edited:
        return ""
    return say("present.edited_on", time=numbers.day(summary.edited, language()))


def _stored_on(stored_day: str) -> str:
    try:
        day = numbers.date_alone(date.fromisoformat(stored_day), language())
    except ValueError:
        return ""
    return say("present.stored_on", day=day)
