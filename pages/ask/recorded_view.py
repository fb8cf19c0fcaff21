"""Recorded runs: save the run on the page as a file, and show a file without its index and without a model."""

import streamlit as st

from leanrag_core.storage.history import MAX_BYTES, content_of, run_of
from leanrag_core.types.trace import Answer, RecordedRun, Trace
from pages.ask import answer_view, context_view, reference_view, retrieval_view
from pages.common import buttons, downloads, forms, markup, saved_files
from pages.common.frame import heading
from pages.common.html import draw, html
from pages.common.messages import message, say, words
from pages.common.scope import Scope


def save_button(scope: Scope, trace: Trace, answer: Answer | None) -> None:
    """Draw the button that saves the retrieval and its answer as one file."""
    downloads.button(
        say("ask.save_run"),
        lambda: content_of(RecordedRun(trace, answer)),
        f"{say('download.run')} {downloads.name_from(trace.question, 40, 'question')}.json",
        "application/json",
        key=scope.name("save_run"),
    )


def open_button(scope: Scope) -> None:
    """Draw the button that opens a saved run."""

    def read(content: bytes, name: str) -> None:
        st.session_state[scope.key("run")] = run_of(content, name=name)

    codes, file_key = (
        ("ask.open_run", "ask.open_run_hint", "ask.run_file", "ask.run_not_opened"),
        scope.name("run_file"),
    )
    saved_files.open_button(codes, MAX_BYTES, read, key=scope.name("open_run"), file_key=file_key)


def opened(scope: Scope) -> RecordedRun | None:
    """Return the opened run until it is closed."""
    run: RecordedRun | None = st.session_state.get(scope.key("run"))
    return run


def _close(scope: Scope) -> None:
    st.session_state[scope.key("run")] = None


def show(scope: Scope, run: RecordedRun) -> None:
    """Draw the run with its steps, picture, context, passages and answer, without asking an index or a model."""
    trace, views = run.trace, Scope(scope.name("run"))
    heading(say("page.ask"), say("ask.recorded"))
    message(say("ask.recorded_banner"), title=say("ask.recorded_of", index=trace.index.name))
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        buttons.secondary(say("ask.close_run"), "close", scope.name("close_run"), _close, scope)
    draw(html('<div class="lr-read" style="font-size:1.2rem" dir="auto">{}</div>', trace.question))
    title = say("ask.recorded_settings", strategy=words(trace.title))
    with st.expander(forms.plain(title), key=scope.name("run_settings")):
        rows = [(forms.title_of(name), forms.shown(name, value)) for name, value in trace.parameters.items()]
        draw(markup.facts_table(("", ""), rows))
    left, right = retrieval_view.columns(trace)
    with left:
        if run.answer is None:
            draw(markup.label(say("ask.answer")), markup.muted(say("ask.recorded_without_answer")))
        else:
            answer_view.show(views, run.answer, stored=True)
        answer_view.notes_panel(trace)
    with right:
        retrieval_view.show(views, None, trace)
    context_view.panel(views, trace)
    context_view.passage_cards(views, None, trace, run.answer)
    reference_view.drawer(views, None)
