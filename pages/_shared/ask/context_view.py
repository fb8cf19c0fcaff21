"""The context of a retrieval: its tokens by section, its text, and the passages in it as cards."""

from functools import partial

import streamlit as st

from leanrag_core.figures.anchors import anchors as anchors_of
from leanrag_core.messages.message import Message
from leanrag_core.messages.message import message as message_of
from leanrag_core.retrieval.base import MAX_TOKENS
from leanrag_core.retrieval.captions import losses
from leanrag_core.types.index import Index
from leanrag_core.types.trace import Answer, ContextSection, Trace
from pages._shared.ask import reference_view, roles
from pages._shared.common import copy_button, markup, passage_view
from pages._shared.common.html import draw, html
from pages._shared.common.messages import message, say, words
from pages._shared.common.scope import Scope

_MOST_CARDS = 100  # more of them, such as a file may hold, would keep the browser busy


def panel(scope: Scope, trace: Trace) -> None:
    """How the context's tokens are spent, section by section."""
    if not trace.context.sections:
        return
    totals = {section.name: _total(section) for section in trace.context.sections}
    passages = roles.passage_section(trace)
    if passages is not None and trace.ranked_chunks:
        candidates = max(len(trace.ranked_chunks), len(passages.items))  # passages may be shorter than chunks
        total = message_of("ask.taken_of_candidates", n=len(passages.items), offered=candidates)
        out = message_of("ask.did_not_fit", n=passages.left_out)
        totals[passages.name] = _joined(total, out, _trimmed(passages))
    limit = trace.parameters.get(MAX_TOKENS)
    bar = markup.token_bar(trace.context, totals, max_tokens=limit if isinstance(limit, int) else None)
    draw(html('<div style="margin-top:.6rem">{}</div>', bar))
    lacking = losses(trace.context)
    if lacking:
        message(f"{' '.join(map(words, lacking))} {say('ask.raise_budgets')}", title=say("ask.context_incomplete"))
    st.fragment(_text)(scope, trace)


def _text(scope: Scope, trace: Trace) -> None:
    """The context as it was sent; its text goes to the browser when a person opens it."""
    fold = st.expander(say("ask.context_text"), key=scope.name("context_fold"), on_change="rerun")
    if fold.open:
        with fold:
            key = scope.name("code_context")
            copy_button.copy_text(say("ask.copy_context"), of=key, key=scope.name("copy_context"))
            markup.code(trace.context.text, height=320, key=key)


def _total(section: ContextSection) -> str:
    """How many items of a section are in the context, such as "5 of 23, 18 left out"."""
    n = len(section.items)
    total = message_of("ask.taken_of", n=n, offered=n + section.left_out)
    return _joined(total, message_of("ask.left_out", n=section.left_out), _trimmed(section))


def _trimmed(section: ContextSection) -> Message:
    return message_of("ask.trimmed", n=section.trimmed)


def _joined(total: Message, *more: Message) -> str:
    """The total, and what of the rest counts something."""
    return say("ask.comma").join(words(part) for part in (total, *more) if part is total or part.values["n"])


def _cited(answer: Answer | None, mark: str) -> str:
    """Whether the answer cites that mark, in words."""
    if answer is None or not answer.grounded:
        return ""
    n = sum(mark in part.marks for part in answer.parts)
    return say("cite.in_answer", n=n) if n else say("cite.not_cited")


def passage_cards(scope: Scope, index: Index | None, trace: Trace, answer: Answer | None) -> None:
    """The passages as cards. index: None where there is only what the trace holds of it. answer: None while there is
    none, which says nothing about what is cited."""
    if not trace.passages:
        if trace.parameters.get("source_chunks") is False:
            draw(markup.muted(say("ask.chunks_off")))
        return
    section, marks, anchors = roles.passage_section(trace), roles.marks_by_ref(trace.context), anchors_of(trace)
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
            seed_dots = None
            if anchors and passage.source:
                counted = say(counting, count=len(passage.source.items), n=len(anchors))
                seed_dots = markup.dots(len(passage.source.items), len(anchors), counted)
            passage_view.card(
                passage,
                mark=mark.drawn() if mark else None,
                names=names,
                seed_dots=seed_dots,
                on_open=partial(reference_view.open_place, scope, passage.id)
                if index is not None
                else reference_view.opener(scope, trace, passage, mark.name if mark else "", stored=True),
                cited=_cited(answer, mark.name if mark else ""),
                key=scope.name(f"chunk_{place}"),
            )
    if len(trace.passages) > _MOST_CARDS:
        draw(markup.muted(say("ask.more_passages", n=len(trace.passages) - _MOST_CARDS)))
