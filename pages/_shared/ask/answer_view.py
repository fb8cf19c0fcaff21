"""The answer with its citations, what a citation stands for, what a setting changed, and what to know."""

from dataclasses import dataclass

import streamlit as st

from leanrag_core.figures import numbers
from leanrag_core.figures.changes import changes
from leanrag_core.queries import browse
from leanrag_core.types.index import Index
from leanrag_core.types.model_names import model_title
from leanrag_core.types.trace import Answer, Trace
from leanrag_core.types.visible import escape
from pages._shared.ask import citations, retrieval_view
from pages._shared.common import drawers, forms, markup, passage_view
from pages._shared.common.html import draw, html
from pages._shared.common.messages import message, say, words
from pages._shared.common.scope import Scope


def show(scope: Scope, index: Index, answer: Answer) -> None:
    """The answer in sentences with chips; when the context does not answer, that and what is nearest."""
    trace = answer.trace
    took = numbers.duration(trace.timings_ms.get("total", 0.0) / 1000)
    st.html(markup.label(say("ask.answer"), say("ask.took", time=took, tokens=trace.context.tokens)))
    if not answer.grounded and answer.extractive:
        no_answer(answer)
        return
    if not answer.grounded:
        st.html(f'<div class="lr-read">{escape(answer.text)}</div>')
        message(say("ask.cites_nothing"))
        st.html(f'<div class="lr-small lr-muted">{escape(written_by(answer))}</div>')
        return

    def cited(mark: str) -> None:
        open_citation(scope, answer, mark)

    open_mark = str(st.session_state.get(scope.key("cited"), ""))
    citations.show(answer, open_mark=open_mark, key=scope.name("answer"), on_cite=cited)
    label = say("ask.extractive") if answer.extractive else written_by(answer)
    st.html(f'<div class="lr-small lr-muted">{escape(label)} {escape(say("ask.click_mark"))}</div>')


def written_by(answer: Answer) -> str:
    """Which model wrote it, and what that took."""
    usage = answer.usage
    tokens = usage.prompt_tokens + usage.completion_tokens
    values = {"model": model_title(answer.model), "tokens": numbers.tokens(tokens)}
    if usage.cost:
        return say("ask.written_by_for", cost=numbers.money(usage.cost), **values)
    return say("ask.written_by", **values)


def no_answer(answer: Answer) -> None:
    """The context does not answer: says so, with the nearest sentence."""
    draw(html('<div class="lr-read" style="font-size:1.1rem">{}</div>', say("ask.nothing_answers")))
    if answer.nearest:
        draw(
            markup.label(say("ask.nearest_sentence")),
            html('<div class="lr-read lr-muted">{}</div>', answer.nearest),
        )
    draw(markup.muted(say("ask.raise_top_c")))


def open_citation(scope: Scope, answer: Answer, mark: str) -> None:
    """A chunk opens in its document; an entity or relation opens in a drawer of its own."""
    st.session_state[scope.key("cited")] = mark
    trace = answer.trace
    ref = next((item.ref for part in trace.context.sections for item in part.items if item.mark == mark), "")
    passage = next((each for each in trace.passages if each.id == ref), None)
    if passage is not None and passage.row is not None:
        cited = retrieval_view.cited_sentences(answer, mark)
        names = retrieval_view.seed_names(trace)
        passage_view.ask_for(passage.row, names=names, cited=cited, mark=mark, scope=scope)
    elif ref:
        drawers.ask_for(scope, Reference(trace, ref, mark))


@dataclass(frozen=True)
class Reference:
    """An entity or relation of a context that is to be shown. ref: its id."""

    trace: Trace
    ref: str
    mark: str


def dialogs(scope: Scope, index: Index) -> None:
    """Opens the entity or relation that was cited, if one was."""
    asked = drawers.take(scope, Reference)
    if asked is not None:
        drawer = st.dialog(say("ask.mark_title"), width="medium", position="right", icon=":material/format_quote:")
        drawer(reference)(scope, index, asked)


def reference(scope: Scope, index: Index, asked: Reference) -> None:
    """An entity or relation of the context."""
    trace, ref, mark = asked.trace, asked.ref, asked.mark
    relation = next((each for each in trace.relations if each.id == ref), None)
    if relation is not None:
        name_of = {node.id: node.name for node in trace.nodes}
        what = retrieval_view.made_title(relation.made)
        if relation.layer:
            what = f"{retrieval_view.role_title(trace, relation.role)}, λ {relation.strength:.0f}, {what}"
        st.html(
            f'<div class="lr-name">{markup.mark(mark)} {markup.name(name_of[relation.source])} '
            f"{escape(say('markup.and'))} {markup.name(name_of[relation.target])}</div>"
            f'<div class="lr-insp-top">{markup.layer_tag(relation.layer or 0)}{escape(what)}</div>'
            f'<div class="lr-read">{escape(relation.description)}</div>'
        )
        node_id = relation.source
    else:
        place = browse.locate(index, ref)
        if place is None:
            return
        entity = index.layers[place.layer].entity(place.row)
        found = "".join(
            f"<li>{escape(finding.summary)} {escape(finding.explanation)}</li>" for finding in entity.findings
        )
        st.html(
            f'<div class="lr-insp-top">{markup.layer_tag(place.layer)}{escape(entity.type)}</div>'
            f'<div class="lr-name">{markup.mark(mark)} {markup.name(entity.name)}</div>'
            f'<div class="lr-read">{escape(entity.description)}</div>'
            + (f'<ul class="lr-small">{found}</ul>' if found else "")
            + str(markup.chain(index, entity))
        )
        node_id = ref
    if st.button(say("ask.open_in_explore"), icon=":material/account_tree:", key=scope.name("reference_explore")):
        retrieval_view.open_explore(scope, node_id, relation_id=ref if relation is not None else None)


def changes_panel(scope: Scope, before: Trace | None, after: Trace) -> None:
    """What entered and what left since the settings were others."""
    if before is None:
        return
    found = changes(before, after)
    said = [
        say("ask.setting_changed", setting=forms.title_of(name), before=_value(old), after=_value(new))
        for name, (old, new) in found.settings.items()
    ]
    tokens = say("ask.tokens_changed", tokens=numbers.signed(found.tokens)) if found.tokens else say("ask.same_tokens")
    with st.container(border=True, key=scope.name("changes")):
        nothing = html('<div class="lr-small">{}</div>', say("ask.same_retrieved"))
        body = markup.differences(found) if found.any else nothing
        markup.block(say("ask.what_changed"), body, "; ".join([*said, tokens]))


def _value(value: object) -> str:
    if isinstance(value, bool):
        return say("ask.on") if value else say("ask.off")
    if value is None or value == "":
        return say("ask.none")
    return f"{value:,}" if isinstance(value, int | float) else str(value)


def notes_panel(trace: Trace) -> None:
    """What the reader should know about this retrieval."""
    if trace.notes:
        lines = "".join(f"<div>{escape(words(note))}</div>" for note in trace.notes)
        st.html(f'<div class="lr-notes">{lines}</div>')
