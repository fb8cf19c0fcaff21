"""The answer with its citations, the effect of a changed setting, and notes."""

from collections.abc import Sequence

import streamlit as st
from markupsafe import Markup

from leanrag_core.answering.languages import NEAREST_ACROSS
from leanrag_core.answering.support import UNKNOWN, supports
from leanrag_core.evaluation.gold import GoldQuestion
from leanrag_core.figures import numbers
from leanrag_core.messages.catalog import joined_sentences
from leanrag_core.messages.message import Message
from leanrag_core.types.config import model_title
from leanrag_core.types.trace import Answer, Trace
from pages.ask import citations, play, reference_view
from pages.common import markup
from pages.common.html import NOTHING, draw, html, joined
from pages.common.messages import message, say, words
from pages.common.scope import Scope


def show(scope: Scope, answer: Answer, *, stored: bool = False) -> None:
    """Draw the answer in sentences with citation marks; if the context does not answer, say so and draw the nearest
    passages. stored: citations open the trace's own text instead of the document."""
    trace = answer.trace
    took = numbers.duration(trace.timings_ms.get("total", 0.0) / 1000)
    draw(markup.label(say("ask.answer"), say("ask.took", time=took, tokens=trace.context.tokens)))
    if not answer.grounded and answer.extractive:
        no_answer(answer)
        return
    if not answer.grounded:
        draw(html('<div class="lr-read">{}</div>', answer.text))
        message(say("ask.cites_nothing"))
        draw(markup.muted(written_by(answer)))
        return

    def cited(mark: str) -> None:
        if stored:
            reference_view.open_citation(scope, answer, mark, stored=True)
        else:
            reference_view.open_place(scope, reference_view.ref_of(trace, mark))

    open_mark = str(st.session_state.get(scope.key("cited"), ""))
    if not stored:
        open_mark = reference_view.open_mark(scope, trace)
    key = scope.name("answer")
    citations.show(
        answer, open_mark=open_mark, key=key, on_cite=cited, all_items=True, last_frame=play.last_frame(answer)
    )
    label = say("ask.extractive") if answer.extractive else written_by(answer)
    label = joined_sentences([label, say("ask.click_mark")])
    draw(markup.muted(label), NOTHING if answer.extractive else support_line(answer))


def expected(questions: Sequence[GoldQuestion], asked: str) -> None:
    """Draw the answer that the question set expects, if the question belongs to it."""
    gold = next((question for question in questions if question.question == asked), None)
    answer = (gold.answer or say("text.semicolon").join(gold.answers)) if gold else ""
    if answer:
        draw(markup.label(say("ask.expected")), html('<div class="lr-read lr-muted">{}</div>', answer))


def support_line(answer: Answer) -> Markup:
    """Return how many sentences lack support, and by which rule."""
    judged = supports(answer)
    n_lacking, n_unknown = sum(each.lacks for each in judged), sum(each.state == UNKNOWN for each in judged)
    sentences = []
    if n_lacking:
        sentences += [say("support.some", n=n_lacking, sentences=len(judged)), say("support.rule")]
    if n_unknown:
        sentences.append(say("support.unknown", n=n_unknown))
    return markup.muted(joined_sentences(sentences or [say("support.all")]))


def written_by(answer: Answer) -> str:
    """Return which model wrote the answer, with its tokens and cost."""
    usage = answer.usage
    tokens = usage.prompt_tokens + usage.completion_tokens
    values = {"model": model_title(answer.model), "tokens": numbers.tokens(tokens)}
    if usage.cost:
        return say("ask.written_by_for", cost=numbers.money(usage.cost), **values)
    return say("ask.written_by", **values)


def no_answer(answer: Answer, *, reason_above: Message | None = None) -> None:
    """Draw that the context does not answer, the reason if known, and the nearest passages. reason_above: the one that
    the page has drawn already."""
    if not answer.trace.context.sections:  # nothing was searched, so the documents are not to blame
        draw(html('<div class="lr-read" style="font-size:1.1rem">{}</div>', say("ask.without_context")))
        return
    if answer.because is None or answer.because.code != NEAREST_ACROSS:
        draw(html('<div class="lr-read" style="font-size:1.1rem">{}</div>', say("ask.nothing_answers")))
    if answer.because and answer.because != reason_above:
        draw(html('<div class="lr-read">{}</div>', words(answer.because)))
    near = [(part.text, " ".join(f"[{mark}]" for mark in part.marks)) for part in answer.nearest_parts]
    near = near or [(answer.nearest, "")]  # runs recorded by older versions hold one sentence
    if answer.nearest:
        draw(
            markup.label(say("ask.nearest_passages")),
            joined(html('<div class="lr-read lr-muted">{} {}</div>', text, marks) for text, marks in near),
        )
    if answer.because is None and reason_above is None:
        draw(markup.muted(say("ask.raise_numbers")))


def notes_panel(trace: Trace) -> None:
    """Draw what the reader should know about this retrieval."""
    if trace.notes:
        draw(html('<div class="lr-notes">{}</div>', joined(html("<div>{}</div>", words(note)) for note in trace.notes)))
