"""The result of a question with one strategy: the answer, the retrieval beside it, the context and the chunks."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import streamlit as st
from markupsafe import Markup

from leanrag_core.comparing.as_code import Asked, Code, code_of_question
from leanrag_core.errors import EndpointError, LeanRAGError, PartMissing
from leanrag_core.retrieval.base import strategies
from leanrag_core.retrieval.settings import own_settings
from leanrag_core.types.index import Index
from leanrag_core.types.trace import Trace, TraceStep
from pages.ask import (
    answer_view,
    asking,
    beside_view,
    changes_view,
    context_view,
    follow_view,
    history_view,
    part_view,
    play,
    recorded_view,
    reference_view,
    retrieval_view,
    structure_view,
    why_view,
    without_view,
)
from pages.common import buttons, code_view, copy_button, markup, session
from pages.common.html import draw, html, joined
from pages.common.messages import message, say, words
from pages.common.scope import Scope

_LOOK_SECONDS = 0.1  # between two checks whether a retrieval has ended
_HEAD_START_SECONDS = 0.04  # of the picture, which the browser would else draw after the hundred elements behind it


def show(scope: Scope, index: Index, ask: asking.Ask, *, drawn: Callable[[], None]) -> None:
    """Draw the result, or after an error the reason and a way to retry. drawn: called once the picture is there, or
    before waiting for a model."""
    try:
        if ask.calls_model:
            drawn()
        retrieve = partial(_model_trace, scope, index, ask) if ask.calls_model else partial(_trace, ask)
        trace = part_view.with_quick_parts(scope, ask.summary, ask.question, retrieve)
    except EndpointError as error:
        _failed(scope, ask, error, say("ask.not_embedded") if not ask.calls_model else "")
        return
    except PartMissing as error:
        if ask.calls_model:
            asking.withdraw(scope)
        info = strategies().named(ask.strategy)
        again = ask.question if ask.calls_model else ""
        part_view.offer(scope, ask.summary, info, part_view.missing(error), ask_again=again)
        _last_result(scope, index, ask, drawn)
        return
    except LeanRAGError as error:
        if not ask.calls_model:
            raise
        _failed(scope, ask, error, "")
        return
    if trace is not None:
        st.session_state[scope.key("shown")] = ask
        part_view.made_line(scope, ask.summary, ask.question)
        _result(scope, index, ask, trace, drawn)


def _last_result(scope: Scope, index: Index, ask: asking.Ask, drawn: Callable[[], None]) -> None:
    """Draw this question's previous result, shown before the strategy was changed; nothing if there is none."""
    shown: asking.Ask | None = st.session_state.get(scope.key("shown"))
    if shown is None or shown.topic[:3] != ask.topic[:3] or shown.documents != ask.documents:
        return
    trace = session.retrievals().kept(shown.topic) if shown.calls_model else _trace(shown)
    if trace is not None:
        title = words(strategies().named(shown.strategy).title)
        draw(markup.label(say("ask.still_shown", strategy=title)))
        _result(scope, index, shown, trace, drawn)


def _trace(ask: asking.Ask) -> Trace:
    return session.retrieve(ask.summary, ask.question, ask.strategy, ask.options, ask.within)


def _model_trace(scope: Scope, index: Index, ask: asking.Ask) -> Trace | None:
    """Return the trace of a strategy that calls a model: a cached or running one, or a new one if a person asks for it;
    else draw the button that does."""
    kept = session.retrievals().kept(ask.topic)
    if kept is not None:
        return kept
    if ask.topic not in session.retrievals() and not asking.is_wanted(scope, ask):
        message(say("ask.press_run"))
        buttons.secondary(say("ask.run"), "play_arrow", scope.name("run"), asking.want, scope, ask.question)
        return None
    slot = st.empty()
    with slot.container():
        head = st.empty()
        st.skeleton(220)
    call = session.begin_retrieval(ask.topic, index, ask.question, ask.strategy, ask.options)
    began, shown = time.monotonic(), (-1, 0)
    while not call.wait(_LOOK_SECONDS):
        steps = tuple(call.pieces)
        now = (int(time.monotonic() - began), len(steps))
        if now != shown:
            shown = now
            head.html(str(steps_so_far(steps, now[0])))
    slot.empty()
    return call.result()


def steps_so_far(steps: Sequence[TraceStep], seconds: int) -> Markup:
    """Return the finished steps of a strategy with several calls, and the elapsed time."""
    lines = joined(html("<div><b>{}</b> {}</div>", words(step.title), words(step.caption)) for step in steps)
    return html('<div class="lr-feed" aria-live="polite">{}</div>', lines) + markup.muted(
        say("ask.retrieving", seconds=seconds)
    )


def _failed(scope: Scope, ask: asking.Ask, error: LeanRAGError, title: str) -> None:
    answers = ask.calls_model or asking.is_wanted(scope, ask)
    asking.withdraw(scope)
    message(error, kind="error", title=title)
    retry = (asking.want, scope, ask.question) if answers else ()
    buttons.secondary(say("ask.try_again"), "replay", scope.name("retry_retrieval"), *retry)


def _result(scope: Scope, index: Index, ask: asking.Ask, trace: Trace, drawn: Callable[[], None]) -> None:
    session.keep_last_question(ask.summary.id, trace)
    pinned = changes_view.pinned_trace(scope, ask)
    before = _previous_trace(scope, ask, trace)
    left, right = retrieval_view.columns(trace)
    with left:
        slot = st.container(gap="small")
    with right:
        retrieval_view.show(scope, index, trace, before=pinned)  # before the answer, which takes longer
        time.sleep(_HEAD_START_SECONDS)
        drawn()
        if trace.nodes or trace.passages:
            with st.container(
                horizontal=True, vertical_alignment="center", gap="small", key=scope.name("play_actions")
            ):
                beside_view.with_other_settings(scope)
                changes_view.pin_button(scope, ask, trace)
                play.file_button(scope, trace)
    structure = st.container(gap="small")
    why, without = st.columns(2, gap="small")
    context_view.panel(scope, trace)
    context_view.passage_cards(scope, index, trace, asking.answer_so_far(scope, ask, trace))
    with slot:
        follow_view.thread(scope, ask.question)
        answer = asking.show(scope, index, ask, trace)
        if answer is not None:
            follow_view.form(scope)
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            copy_button.copy_link(key=scope.name("copy_link"))
            code_view.button(partial(_code, ask), key=scope.name("copy_code"))
            recorded_view.save_button(scope, trace, answer)
        changes_view.panel(scope, pinned or before, trace, pinned=pinned is not None)
        answer_view.notes_panel(trace)
    with structure:
        structure_view.show(scope, index, ask, trace, answer)
    with why:
        why_view.panel(scope, index, ask, trace)
    with without:
        without_view.panel(scope, index, ask, trace, answer)
    follow_view.remember_answer(scope, answer)
    history_view.keep(scope, ask, answer, follow_view.way(scope, ask.question))
    reference_view.place(scope, index, trace, answer)


def _code(ask: asking.Ask) -> Code:
    """Return code that repeats the question."""
    options = own_settings(strategies().named(ask.strategy), dict(ask.options))
    asked_with = Asked(ask.summary.id, ask.summary.path, ask.strategy, options, within=ask.within)
    return code_of_question(session.workbench().root, asked_with, ask.question)


@dataclass(frozen=True)
class _Retrievals:
    """The last retrieval of a question, and the one before it that differed."""

    topic: tuple[str, str]  # index, question
    now: Trace
    before: Trace | None = None


def _previous_trace(scope: Scope, ask: asking.Ask, trace: Trace) -> Trace | None:
    """Return the previous, different retrieval of this question, to show the effect of a changed setting."""
    key, topic = scope.key("traces"), (ask.summary.id, ask.question)
    last: _Retrievals | None = st.session_state.get(key)
    if last is None or last.topic != topic:
        last = _Retrievals(topic, trace)
    elif _asked_as(last.now) != _asked_as(trace):
        last = _Retrievals(topic, trace, before=last.now)
    st.session_state[key] = last
    return last.before


def _asked_as(trace: Trace) -> tuple[object, ...]:
    return trace.strategy, trace.parameters, trace.scope
