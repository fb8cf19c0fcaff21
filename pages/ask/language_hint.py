"""A question in another language than the documents: the way to an index that finds them all the same."""

from dataclasses import replace

import streamlit as st

from leanrag_core.answering.languages import OTHER_LANGUAGE
from leanrag_core.errors import LeanRAGError
from leanrag_core.types.config import BUILTIN, MULTILINGUAL
from leanrag_core.types.summary import IndexSummary
from leanrag_core.types.trace import Answer
from pages.build import build_charts, embedding_view, settings_form
from pages.common import session, state
from pages.common.frame import page_path
from pages.common.html import draw, html
from pages.common.messages import say
from pages.common.scope import Scope


def show(scope: Scope, summary: IndexSummary, answer: Answer) -> None:
    """Where the answer was declined for the question's language and another embedding knows it: a button to Build,
    with the time that it takes."""
    declined = answer.because is not None and answer.because.code == OTHER_LANGUAGE
    if not declined or summary.config.embedding != BUILTIN:
        return
    try:
        config = replace(summary.config.checked(), embedding=MULTILINGUAL)
        seconds = session.workbench().builds.forecast(summary.corpus_id, config).seconds
    except LeanRAGError:  # its corpus is gone, or the model is not installed: Build says what to do
        offer = say("ask.every_language")
    else:
        offer = say("ask.every_language.time", time=build_charts.span(seconds))
    draw(html('<div class="lr-small">{}</div>', offer))
    if st.button(
        say("ask.build_every_language"),
        icon=":material/translate:",
        key=scope.name("every_language"),
        on_click=_fill,
        args=(summary,),
    ):
        st.switch_page(page_path("build"))


def _fill(summary: IndexSummary) -> None:
    """Build holds the index's settings with the other embedding. For callbacks."""
    settings_form.take_settings(summary)
    state.remember(embedding_view.NAME, MULTILINGUAL)
