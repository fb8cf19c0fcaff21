"""The answer beside a retrieval: shown at once if it costs nothing, streamed if a person asks for it, else offered.

A thread of its own writes the reply. A page reload, a moved slider or a second window does not stop it: the reply is
read to its end and kept, and not paid for twice.
"""

import time
from dataclasses import dataclass, replace

import streamlit as st
from markupsafe import Markup
from streamlit.delta_generator import DeltaGenerator

from leanrag_core.answering.languages import OTHER_LANGUAGE
from leanrag_core.errors import LeanRAGError
from leanrag_core.retrieval.base import RERANK
from leanrag_core.retrieval.marks import mark_pattern
from leanrag_core.types.config import BUILTIN, MULTILINGUAL, model_title
from leanrag_core.types.index import Index
from leanrag_core.types.scope import ALL
from leanrag_core.types.scope import Scope as Within
from leanrag_core.types.summary import IndexSummary
from leanrag_core.types.trace import Answer, Context, Trace
from pages.ask import answer_view, controls, roles
from pages.build import build_charts, embedding_view, settings_form
from pages.common import buttons, markup, session
from pages.common.frame import page_button
from pages.common.html import draw, html, joined
from pages.common.messages import message, say
from pages.common.scope import Scope

# Names in links besides those of the controls and views of a retrieval.
LINKED = ("why", "without", "at", "after", "wrote")
_REDRAW_SECONDS = 0.08  # between two drawings of a reply that is being written


@dataclass(frozen=True)
class Ask:
    """A question to an index with a strategy and its options."""

    summary: IndexSummary
    question: str
    strategy: str
    options: session.Options
    calls_model: bool  # for retrieval: then nothing is sent before a person asks
    within: Within = ALL  # the documents that are searched
    documents: str = ""  # a key that identifies those documents

    @classmethod
    def of(cls, summary: IndexSummary, question: str, chosen: controls.Chosen, within: Within = ALL) -> "Ask":
        """Return the question with the values of the controls, over the documents of that scope."""
        calls_model = chosen.calls_model and session.workbench().questions.asks_model(summary.config.model)
        calls_model = calls_model or bool(chosen.options.get(RERANK))
        options, documents = tuple(sorted(chosen.options.items())), session.documents_key(summary, within)
        return cls(summary, question, chosen.strategy, options, calls_model, within, documents)

    @property
    def topic(self) -> tuple[object, ...]:
        """Return the key by which the same request is recognised."""
        topic = self.summary.id, self.summary.created, self.question, self.strategy, self.options
        return (*topic, self.documents) if self.documents else topic


def want(scope: Scope, question: str) -> None:
    """Record that a person asks, so that the next run may call a model. For callbacks."""
    st.session_state[scope.key("wanted")] = question


def withdraw(scope: Scope) -> None:
    """Forget a person's request, because it was meant for another index or failed."""
    st.session_state.pop(scope.key("wanted"), None)


def is_wanted(scope: Scope, ask: Ask) -> bool:
    """Return whether a person asked for exactly this answer; a moved setting makes it a different one."""
    wanted = st.session_state.get(scope.key("wanted"))
    if wanted == ask.question:
        st.session_state[scope.key("wanted")] = ask.topic
        return True
    return bool(wanted == ask.topic)


def known_answer(scope: Scope, ask: Ask, trace: Trace) -> Answer | None:
    """Return the answer if no model has to be called for it, or if one has just written it."""
    written: tuple[object, Answer] | None = st.session_state.get(scope.key("written"))
    if written is not None and written[0] == (ask.topic, model_of(ask)):
        return written[1]
    return session.kept_answer(ask.summary, ask.question, ask.strategy, ask.options, trace, ask.within)


def answer_so_far(scope: Scope, ask: Ask, trace: Trace) -> Answer | None:
    """Return known_answer(), or None after an error, which the answer itself shows."""
    try:
        return known_answer(scope, ask, trace)
    except LeanRAGError:
        return None


def show(scope: Scope, index: Index, ask: Ask, trace: Trace) -> Answer | None:
    """Draw and return the answer: a skeleton, then the words as they are written; after an endpoint error, a way to try
    again."""
    slot = st.empty()
    with slot.container():
        st.skeleton(110)
    try:
        answer = known_answer(scope, ask, trace)
        if answer is None and (is_wanted(scope, ask) or session.writing(ask.topic)):
            answer = _streamed(scope, slot, index, ask, trace)
            st.session_state[scope.key("written")] = ((ask.topic, model_of(ask)), answer)
            st.rerun()  # other parts of the page show what it cites
    except LeanRAGError as error:
        withdraw(scope)
        with slot.container():
            _failed(scope, error, ask, trace.context)
        return None
    with slot.container():
        if answer is None:
            _offer(scope, ask)
        else:
            answer_view.show(scope, answer)
            _other_language(scope, ask.summary, answer)
            answer_view.expected(session.workbench().question_sets.about(ask.summary.corpus_id), ask.question)
    return answer


def _streamed(scope: Scope, slot: DeltaGenerator, index: Index, ask: Ask, trace: Trace) -> Answer:
    """Draw the reply while it is written, and return it."""
    name, call = model_of(ask), session.write_answer(ask.topic, index, trace)
    with slot.container():
        head = st.empty()
        st.skeleton(110)
    began, drawn, waited = time.monotonic(), 0, -1
    while not call.wait(_REDRAW_SECONDS):
        if len(call.pieces) > drawn:
            drawn = len(call.pieces)
            slot.html(str(_written(call.text, name, trace.context)))
        elif not drawn and int(time.monotonic() - began) > waited:
            waited = int(time.monotonic() - began)
            head.html(str(markup.label(say("ask.answer"), _waiting(name, waited))))
    st.session_state.pop(scope.key("wanted"), None)
    try:
        return call.result()
    except LeanRAGError:
        st.session_state[scope.key("partial")] = call.text  # the part of a broken-off reply
        raise


def _waiting(model: str, seconds: int) -> str:
    if seconds > 1:
        return say("ask.waiting_seconds", model=model, seconds=seconds)
    return say("ask.waiting", model=model)


def _written(text: str, model: str, context: Context) -> Markup:
    """Return the part of a reply that is written, its citation marks already drawn."""
    head = markup.label(say("ask.answer"), say("ask.model_writes", model=model))
    return html('{}<div class="lr-read lr-writing" aria-busy="true">{}</div>', head, _marked(text, context))


def _marked(text: str, context: Context) -> Markup:
    """Return the text with the context's citation marks drawn."""
    marks = roles.marks_by_name(context)
    parts = mark_pattern(context).split(text)  # text, mark, text, mark, ..., text
    return joined(
        (marks[part].drawn() if part in marks else f"[{part}]") if place % 2 else part
        for place, part in enumerate(parts)
    )


def model_of(ask: Ask) -> str:
    """Return the title of the model that answers."""
    settings = session.workbench().settings.read()
    return model_title(settings.answer_model or ask.summary.config.writer)


def _failed(scope: Scope, error: LeanRAGError, ask: Ask, context: Context) -> None:
    draw(markup.label(say("ask.answer")))
    message(error, kind="error", title=say("ask.no_answer_written"))
    partial = st.session_state.pop(scope.key("partial"), "")
    if partial.strip():
        draw(
            markup.label(say("ask.partial_answer"), say("ask.not_kept"))
            + html('<div class="lr-read lr-muted">{}</div>', _marked(partial, context))
        )
    draw(markup.muted(say("ask.retrieval_complete")))
    buttons.secondary(say("ask.try_again"), "replay", scope.name("retry_answer"), want, scope, ask.question)


def _offer(scope: Scope, ask: Ask) -> None:
    """Draw a button that asks with these settings; the call costs money, so it needs a person's click."""
    draw(
        markup.label(say("ask.answer"))
        + html('<div class="lr-small">{}</div>', say("ask.not_asked_yet", model=model_of(ask)))
    )
    buttons.secondary(say("ask.write_answer"), "edit", scope.name("write_answer"), want, scope, ask.question)


def _other_language(scope: Scope, summary: IndexSummary, answer: Answer) -> None:
    """Draw a button to Build, with the expected time, if the answer was declined for the question's language and
    another embedding supports it."""
    declined = answer.because is not None and answer.because.code == OTHER_LANGUAGE
    if not declined or summary.config.embedding != BUILTIN:
        return
    try:
        config = replace(summary.config.checked(), embedding=MULTILINGUAL)
        seconds = session.workbench().builds.forecast(summary.corpus_id, config).seconds
    except LeanRAGError:  # the corpus was deleted, or the model is not installed: Build says what to do
        offer = say("ask.every_language")
    else:
        offer = say("ask.every_language.time", time=build_charts.span(seconds))
    draw(html('<div class="lr-small">{}</div>', offer))
    key = scope.name("every_language")
    page_button("build", say("ask.build_every_language"), "translate", key, _fill_build, summary)


def _fill_build(summary: IndexSummary) -> None:
    """Fill the form of Build with the index's settings and the other embedding. For callbacks."""
    settings_form.take_settings(summary)
    embedding_view.take(MULTILINGUAL)
