"""The history of questions: a drawer to search, open, pin, note and delete them, and the latest ones on an empty
page."""

from collections.abc import Sequence

import streamlit as st

from leanrag_core.errors import LeanRAGError
from leanrag_core.figures import numbers
from leanrag_core.figures.drawing import isolated
from leanrag_core.retrieval.base import StrategyInfo
from leanrag_core.retrieval.base import strategies as all_strategies
from leanrag_core.types.question_set import MAX_NOTE, HistoryEntry
from leanrag_core.types.summary import IndexSummary
from leanrag_core.types.trace import Answer
from pages.ask import asking
from pages.common import buttons, forms, markup, session, state
from pages.common.html import draw, html
from pages.common.messages import LANGUAGE, kept_fault, language, message, say, show_fault, words
from pages.common.scope import Scope

AFTER, WROTE = "after", "wrote"  # names in links: the previous question of the thread, and the follow-up as written
# The part of a link that says where a person looked, not what was asked.
_NOT_KEPT = ("at", "why", "without", "node", "step", "show", LANGUAGE)
_SHOWN, _RECENT = 30, 3


def keep(scope: Scope, ask: asking.Ask, answer: Answer | None, way: str) -> None:
    """Add the question to the history once per request, and its answer as soon as there is one."""
    marker = (ask.summary.id, ask.question, ask.documents, answer is not None)
    if st.session_state.get(scope.key("in_history")) == marker:
        return
    st.session_state[scope.key("in_history")] = marker
    link = {name: value for name, value in state.memory().published.items() if name not in _NOT_KEPT}
    try:
        entry = HistoryEntry.now(
            ask.summary.id,
            ask.summary.title,
            ask.question,
            ask.strategy,
            link=link,
            answer=_line_of(answer),
            follows=state.recall(scope.name(AFTER)),
            written=state.recall(scope.name(WROTE)),
            way=way,
        )
        session.workbench().history.keep(entry)
    except LeanRAGError as error:  # the answer is shown even if the history cannot be written
        message(error, title=say("history.not_kept"))


def _line_of(answer: Answer | None) -> str:
    """Return the history's line about an answer; empty if there was none."""
    if answer is None or (not answer.grounded and not answer.trace.context.sections):
        return ""
    return answer.text if answer.grounded or not answer.extractive else say("ask.nothing_answers")


def open_entry(scope: Scope, entry: HistoryEntry) -> None:
    """Put the question on the page with its original settings. For callbacks."""
    link = {**entry.link, LANGUAGE: state.recall(LANGUAGE)}
    state.memory().follow(state.memory().page, link)
    state.remember(scope.name("q"), entry.question)
    state.remember("index", entry.index)
    state.remember(scope.name(AFTER), entry.follows)
    state.remember(scope.name(WROTE), entry.written)
    asking.withdraw(scope)


def button(scope: Scope) -> None:
    """Draw the button that opens the history in a drawer."""
    if buttons.tertiary(say("history.open"), "history", scope.name("history")):
        st.session_state.pop(scope.key("deleted"), None)
        dialog = st.dialog(say("history.title"), width="medium", position="right", icon=":material/history:")
        dialog(_history)(scope)


def recent(scope: Scope, summary: IndexSummary) -> None:
    """Draw the latest questions to this index, on a page without one."""
    try:
        entries = [entry for entry in session.workbench().history.matching() if entry.index == summary.id][:_RECENT]
    except LeanRAGError:  # shown when the history is opened
        return
    if not entries:
        return
    draw(markup.label(say("history.recent")))
    with st.container(gap="xxsmall"):
        for entry in entries:
            _question(scope, entry, "recent")


def _question(scope: Scope, entry: HistoryEntry, place: str) -> bool:
    label, key = forms.plain(entry.question), scope.name(f"{place}_{entry.id}")
    return buttons.tertiary(label, "keep" if entry.pinned else "history", key, open_entry, scope, entry)


def _history(scope: Scope) -> None:
    bench = session.workbench()
    label, key, icon = say("history.search"), scope.name("history_search"), ":material/search:"
    search = st.text_input(
        label, key=key, icon=icon, type="search", placeholder=say("history.search"), label_visibility="collapsed"
    )
    show_fault(scope.key("history_failed"))
    _undo(scope)
    try:
        entries = bench.history.matching(search or "")
    except LeanRAGError as error:
        message(error, kind="error")
        return
    if not entries:
        draw(markup.muted(say("history.nothing_matches") if search else say("history.empty")))
        return
    draw(markup.muted(say("history.count", n=len(entries), shown=min(_SHOWN, len(entries)))))
    strategies = all_strategies().strategies
    for entry in entries[:_SHOWN]:
        _row(scope, entry, strategies)


def _row(scope: Scope, entry: HistoryEntry, strategies: Sequence[StrategyInfo]) -> None:
    editing = scope.key("history_noting")
    with st.container(border=True, gap="xxsmall", key=scope.name(f"history_row_{entry.id}")):
        if _question(scope, entry, "asked"):
            st.rerun()
        title = next((info.title for info in strategies if info.name == entry.strategy), entry.strategy)
        facts = [isolated(entry.index_name), words(title), numbers.day(entry.asked, language())]
        if entry.written:
            facts.append(say("history.follow_up"))
        draw(markup.muted(say("ask.comma").join(facts)))
        if entry.answer:
            draw(html('<div class="lr-past" dir="auto">{}</div>', entry.answer))
        if entry.note and st.session_state.get(editing) != entry.id:
            draw(html('<div class="lr-pastnote" dir="auto">{}</div>', entry.note))
        with st.container(horizontal=True, gap="xsmall"):
            pin = say("history.unpin") if entry.pinned else say("history.pin")
            for name, label, icon, act in (
                ("pin", pin, "keep_off" if entry.pinned else "keep", _pin),
                ("note", say("history.note"), "edit_note", _begin_note),
                ("delete", say("history.delete"), "delete", _delete),
            ):
                buttons.tertiary(label, icon, scope.name(f"history_{name}_{entry.id}"), act, scope, entry)
        if st.session_state.get(editing) == entry.id:
            key = scope.name(f"history_text_{entry.id}")
            st.text_area(say("history.note"), value=entry.note, key=key, max_chars=MAX_NOTE, height=80)
            save = say("history.save_note")
            buttons.secondary(save, "", f"{key}_save", _note, scope, entry, key)


def _undo(scope: Scope) -> None:
    """Draw a button that restores what was deleted since the drawer was opened, the last one first."""
    deleted: list[HistoryEntry] = st.session_state.get(scope.key("deleted"), [])
    if not deleted:
        return
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key=scope.name("history_undo_row")):
        with st.container(width="stretch"):
            draw(html('<div class="lr-small" role="status">{}</div>', say("history.deleted", n=len(deleted))))
        label = say("history.undo")
        buttons.tertiary(label, "undo", scope.name("history_undo"), _restore, scope)


def _pin(scope: Scope, entry: HistoryEntry) -> None:
    with kept_fault(scope.key("history_failed")):
        session.workbench().history.pin(entry.id, pinned=not entry.pinned)


def _begin_note(scope: Scope, entry: HistoryEntry) -> None:
    editing = scope.key("history_noting")
    st.session_state[editing] = None if st.session_state.get(editing) == entry.id else entry.id


def _note(scope: Scope, entry: HistoryEntry, key: str) -> None:
    with kept_fault(scope.key("history_failed")):
        session.workbench().history.note(entry.id, str(st.session_state.get(key, "")))
    st.session_state[scope.key("history_noting")] = None


def _delete(scope: Scope, entry: HistoryEntry) -> None:
    with kept_fault(scope.key("history_failed")):
        session.workbench().history.delete(entry.id)
        st.session_state[scope.key("deleted")] = [*st.session_state.get(scope.key("deleted"), []), entry]


def _restore(scope: Scope) -> None:
    deleted: list[HistoryEntry] = st.session_state.get(scope.key("deleted"), [])
    with kept_fault(scope.key("history_failed")):
        session.workbench().history.restore(deleted[-1])
        st.session_state[scope.key("deleted")] = deleted[:-1]
