"""Follow-up questions: each is rewritten to stand alone, shows how, can be changed, and keeps its thread."""

from typing import Any

import streamlit as st

from leanrag_core.answering.follow_up import PERSON
from leanrag_core.errors import InvalidConfig, LeanRAGError
from leanrag_core.figures.drawing import isolated
from leanrag_core.messages.message import Message
from leanrag_core.retrieval.base import MAX_QUESTION, require_question
from leanrag_core.types.question_set import HistoryEntry, entry_id
from leanrag_core.types.summary import IndexSummary
from leanrag_core.types.trace import Answer
from pages.ask import asking, history_view, reference_view
from pages.common import buttons, forms, markup, session, state
from pages.common.html import draw, html
from pages.common.messages import message, say, words
from pages.common.scope import Scope

AFTER, WROTE = history_view.AFTER, history_view.WROTE
_SHOWN = 4  # earlier questions of a thread


def form(scope: Scope) -> None:
    """Draw a field for the next question of the thread."""
    with (
        st.form(scope.name("follow_form"), border=False, clear_on_submit=True),
        st.container(horizontal=True, gap="xsmall", vertical_alignment="bottom"),
    ):
        key = scope.name("follow_text")
        look: dict[str, Any] = {"placeholder": say("follow.placeholder"), "label_visibility": "collapsed"}
        st.text_input(say("follow.field"), max_chars=MAX_QUESTION, key=key, **look)
        icon = ":material/reply:"
        st.form_submit_button(say("follow.ask"), icon=icon, key=scope.name("follow_ask"), on_click=_sent, args=(scope,))


def _sent(scope: Scope) -> None:
    text = " ".join(str(st.session_state.get(scope.name("follow_text"), "")).split())
    if text:
        st.session_state[scope.key("follow_up")] = text


def take(scope: Scope, summary: IndexSummary) -> None:
    """Rewrite a follow-up that was just sent so that it stands alone, and ask it. Called before the question is drawn;
    waits for a model that rewrites."""
    text = st.session_state.pop(scope.key("follow_up"), "")
    before = state.recall(scope.name("q"))
    if not text or not before:
        return
    bench, slot = session.workbench(), st.empty()
    try:
        require_question(text)
        earlier = [entry.question for entry in bench.history.thread(entry_id(summary.id, before))] or [before]
        with slot.container():
            draw(markup.muted(say("follow.in_work")))
            st.skeleton(60)
        answer = str(st.session_state.get(scope.key("last_answer"), ""))
        follow_up = bench.questions.follow_up(session.open_index(summary), text, earlier, answer)
        require_question(follow_up.question)
    except LeanRAGError as error:
        slot.empty()
        message(error, kind="error", title=say("ask.question_not_asked"))
        return
    slot.empty()
    _ask(scope, follow_up.question, entry_id(summary.id, before), text)
    st.session_state[scope.key("follow_said")] = (follow_up.question, follow_up.way, follow_up.said)


def _ask(scope: Scope, question: str, after: str, wrote: str) -> None:
    state.remember(scope.name("q"), question)
    state.remember(scope.name(AFTER), after)
    state.remember(scope.name(WROTE), wrote)
    state.forget(scope.name("node"), reference_view.PLACE)
    asking.want(scope, question)


def way(scope: Scope, question: str) -> str:
    """Return how the question was made to stand alone; empty if this session does not know."""
    known: tuple[str, str, Message] | None = st.session_state.get(scope.key("follow_said"))
    return known[1] if known is not None and known[0] == question else ""


def thread(scope: Scope, question: str) -> None:
    """Draw the earlier questions of the thread, what was written, and how it was rewritten; the rewritten question can
    be changed."""
    after, wrote = state.recall(scope.name(AFTER)), state.recall(scope.name(WROTE))
    if not wrote:
        return
    try:
        earlier = session.workbench().history.thread(after)
    except LeanRAGError:  # shown when the history is opened
        earlier = ()
    with st.container(border=True, gap="xsmall", key=scope.name("thread")):
        draw(markup.label(say("follow.thread"), say("follow.earlier", n=len(earlier)) if earlier else ""))
        for entry in earlier[-_SHOWN:]:
            _earlier(scope, entry)
        draw(html('<div class="lr-small">{}</div>', say("follow.you_wrote", text=isolated(wrote))))
        known: tuple[str, str, Message] | None = st.session_state.get(scope.key("follow_said"))
        if known is not None and known[0] == question:
            draw(markup.muted(words(known[2])))
        with st.expander(say("follow.change"), key=scope.name("follow_change")):
            key = scope.name(f"follow_as_{entry_id('', question)}")
            st.text_area(say("follow.asked_as"), value=question, key=key, max_chars=MAX_QUESTION)
            buttons.secondary(
                say("follow.ask_again"), "send", scope.name("follow_again"), _changed, scope, key, after, wrote
            )


def _earlier(scope: Scope, entry: HistoryEntry) -> None:
    label = forms.plain(entry.question)
    buttons.tertiary(label, "chat_bubble", scope.name(f"thread_{entry.id}"), history_view.open_entry, scope, entry)


def _changed(scope: Scope, key: str, after: str, wrote: str) -> None:
    question = " ".join(str(st.session_state.get(key, "")).split())
    try:
        require_question(question)
    except InvalidConfig:  # an empty field changes nothing
        return
    _ask(scope, question, after, wrote)
    st.session_state[scope.key("follow_said")] = (question, PERSON, Message("follow.by_person"))


def remember_answer(scope: Scope, answer: Answer | None) -> None:
    """Store the answer's text for a model that rewrites the next question; empty if the answer is not grounded."""
    st.session_state[scope.key("last_answer")] = answer.text if answer is not None and answer.grounded else ""
