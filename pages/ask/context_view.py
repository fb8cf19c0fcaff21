"""The context of a retrieval: what is missing, its text, and its passages as cards."""

from functools import partial

import streamlit as st

from leanrag_core.answering.support import best_sentence
from leanrag_core.figures import passages
from leanrag_core.figures.play_cards import anchors as anchors_of
from leanrag_core.messages.catalog import joined_sentences
from leanrag_core.retrieval.context import losses, passage_section
from leanrag_core.types.index import Index
from leanrag_core.types.trace import Answer, Trace
from pages.ask import reference_view, roles
from pages.common import copy_button, markup, passage_view
from pages.common.html import draw
from pages.common.messages import message, say, words
from pages.common.scope import Scope

_MOST_CARDS = 100  # more of them, as a file may hold, would slow the browser down


def panel(scope: Scope, trace: Trace) -> None:
    """Draw what the context lacks, and its text; the play shows its tokens."""
    if not trace.context.sections:
        return
    lacking = losses(trace.context)
    if lacking:
        remedy = say("ask.raise_budgets")
        message(joined_sentences([*map(words, lacking), remedy]), title=say("ask.context_incomplete"))
    st.fragment(_text)(scope, trace)


def _text(scope: Scope, trace: Trace) -> None:
    """Draw the context as it was sent; the text is sent to the browser only when a person opens it."""
    fold = st.expander(say("ask.context_text"), key=scope.name("context_fold"), on_change="rerun")
    if fold.open:
        with fold:
            key, above = scope.name("code_context"), st.container()
            markup.code(trace.context.text, height=320, key=key)
            with above:  # drawn when there is something to copy
                copy_button.copy_text(say("ask.copy_context"), source_key=key, key=scope.name("copy_context"))


def _citing(answer: Answer | None, mark: str) -> list[str]:
    """Return the sentences of the answer that cite that mark."""
    return [part.text for part in answer.parts if mark in part.marks] if answer is not None and answer.grounded else []


def _cited(answer: Answer | None, mark: str) -> str:
    """Return in words whether the answer cites that mark."""
    if answer is None or not answer.grounded:
        return ""
    n = len(_citing(answer, mark))
    return say("cite.in_answer", n=n) if n else say("cite.not_cited")


def passage_cards(scope: Scope, index: Index | None, trace: Trace, answer: Answer | None) -> None:
    """Draw the passages as cards. index: None if only the trace's text is available. answer: None if there is none;
    then the cards do not say what is cited."""
    if not trace.passages:
        if trace.parameters.get("source_chunks") is False:
            draw(markup.muted(say("ask.chunks_off")))
        return
    section, marks, anchors = passage_section(trace), roles.marks_by_ref(trace.context), anchors_of(trace)
    role = anchors[0].role if anchors else ""
    n_candidates = max(len(trace.ranked_chunks), len(trace.passages))
    code = "ask.chunks_best_first"
    if anchors:
        code = roles.first_known(f"ask.chunks_by.{roles.code_part(role)}", "ask.chunks_by")
    note = say(code, shown=len(trace.passages), candidates=n_candidates)
    draw(markup.label(words(section.title) if section else say("section.chunks.title"), note))
    counting = roles.first_known(f"markup.of_items.{roles.code_part(role)}", "markup.of_items")
    names = roles.names_to_mark(trace)
    with st.grid(3, min_column_width=280, gap="small"):
        for place, passage in enumerate(trace.passages[:_MOST_CARDS]):
            mark = marks.get(passage.id)
            quotes = (best_sentence(each, passage.text) for each in _citing(answer, mark.name if mark else ""))
            quote = next(filter(None, quotes), "")
            seed_dots = None
            if anchors and passage.source:
                counted = say(counting, count=len(passage.source.items), n=len(anchors))
                seed_dots = markup.dots(len(passage.source.items), len(anchors), counted)
            passage_view.card(
                passage,
                passages.around(passage.text, quote, names) if quote else passages.excerpt(passage.text, names),
                mark=mark.drawn() if mark else None,
                seed_dots=seed_dots,
                on_open=partial(reference_view.open_place, scope, passage.id)
                if index is not None
                else reference_view.opener(scope, trace, passage, mark.name if mark else "", stored=True),
                cited=_cited(answer, mark.name if mark else ""),
                key=scope.name(f"chunk_{place}"),
            )
    if len(trace.passages) > _MOST_CARDS:
        draw(markup.muted(say("ask.more_passages", n=len(trace.passages) - _MOST_CARDS)))
