"""The answer with its citations, what a citation stands for, what a setting changed, and what to know."""

from dataclasses import dataclass

import streamlit as st

from leanrag_core.answering.extractive import NOTHING_FITS
from leanrag_core.figures import numbers
from leanrag_core.figures.changes import changes
from leanrag_core.messages.catalog import sentence
from leanrag_core.queries import browse
from leanrag_core.types.index import Index
from leanrag_core.types.model_names import model_title
from leanrag_core.types.trace import Answer, Trace
from leanrag_core.types.visible import escape
from pages._shared.ask import citations, retrieval_view
from pages._shared.common import drawers, forms, markup, passage_view
from pages._shared.common.frame import message
from pages._shared.common.html import html
from pages._shared.common.scope import Scope

EXTRACTIVE = "Extractive answer: sentences of the context, no language model; each says which section it is from."


def show(scope: Scope, index: Index, answer: Answer) -> None:
    """The answer in sentences with chips; when the context does not answer, that and what is nearest."""
    trace = answer.trace
    took = numbers.duration(trace.timings_ms.get("total", 0.0) / 1000)
    st.html(markup.label("Answer", f"retrieval {took}, {trace.context.tokens:,} tokens of context"))
    if not answer.grounded and answer.extractive:
        no_answer(answer)
        return
    if not answer.grounded:
        st.html(f'<div class="lr-read">{escape(answer.text)}</div>')
        message("It cites nothing of the context, so nothing here can be traced to the documents.")
        st.html(f'<div class="lr-small lr-muted">{escape(written_by(answer))}</div>')
        return

    def cited(mark: str) -> None:
        open_citation(scope, answer, mark)

    open_mark = str(st.session_state.get(scope.key("cited"), ""))
    citations.show(answer, open_mark=open_mark, key=scope.name("answer"), on_cite=cited)
    label = EXTRACTIVE if answer.extractive else written_by(answer)
    st.html(f'<div class="lr-small lr-muted">{escape(label)} Click a mark to see what it refers to.</div>')


def written_by(answer: Answer) -> str:
    """Which model wrote it, and what that took."""
    usage = answer.usage
    tokens = usage.prompt_tokens + usage.completion_tokens
    cost = f", {numbers.money(usage.cost)}" if usage.cost else ""
    name = model_title(answer.model)
    return f"Written by {name} from the context alone, {numbers.tokens(tokens)} tokens{cost}."


def no_answer(answer: Answer) -> None:
    """The context does not answer: says so, with the nearest sentence."""
    nearest = answer.text.removeprefix(NOTHING_FITS).strip().removeprefix("Nearest:").strip()
    st.html('<div class="lr-read" style="font-size:1.1rem">Nothing in the documents answers this.</div>')
    if nearest:
        st.html(f'{markup.label("Nearest sentence")}<div class="lr-read lr-muted">{escape(nearest)}</div>')
    st.html('<div class="lr-small lr-muted">Raise top-C, or ask in other words.</div>')


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
        reference(scope, index, asked)


@st.dialog("What the mark stands for", width="medium", position="right", icon=":material/format_quote:")
def reference(scope: Scope, index: Index, asked: Reference) -> None:
    """An entity or relation of the context."""
    trace, ref, mark = asked.trace, asked.ref, asked.mark
    relation = next((each for each in trace.relations if each.id == ref), None)
    if relation is not None:
        name_of = {node.id: node.name for node in trace.nodes}
        what = f"{relation.role}, λ {relation.strength:.0f}, {relation.made}" if relation.layer else relation.made
        st.html(
            f'<div class="lr-name">{markup.mark(mark)} {markup.name(name_of[relation.source])} and '
            f"{markup.name(name_of[relation.target])}</div>"
            f'<div class="lr-insp-top">{markup.layer_tag(relation.layer or 0)}{escape(what)}</div>'
            f'<div class="lr-read">{escape(relation.description)}</div>'
        )
        node_id = relation.source
    else:
        place = browse.locate(index, ref)
        if place is None:
            return
        entity = index.layers[place.layer].entity(place.row)
        found = "".join(f"<li>{escape(one.summary)} {escape(one.explanation)}</li>" for one in entity.findings)
        st.html(
            f'<div class="lr-insp-top">{markup.layer_tag(place.layer)}{escape(entity.type)}</div>'
            f'<div class="lr-name">{markup.mark(mark)} {markup.name(entity.name)}</div>'
            f'<div class="lr-read">{escape(entity.description)}</div>'
            + (f'<ul class="lr-small">{found}</ul>' if found else "")
            + str(markup.chain(index, entity))
        )
        node_id = ref
    if st.button("Open in Explore", icon=":material/account_tree:", key=scope.name("reference_explore")):
        retrieval_view.open_explore(scope, node_id, relation_id=ref if relation is not None else None)


def changes_panel(scope: Scope, before: Trace | None, after: Trace) -> None:
    """What entered and what left since the settings were others."""
    if before is None:
        return
    found = changes(before, after)
    said = [f"{forms.title_of(name)}: {_said(old)} to {_said(new)}" for name, (old, new) in found.settings.items()]
    tokens = f"{numbers.signed(found.tokens)} tokens" if found.tokens else "the same number of tokens"
    with st.container(border=True, key=scope.name("changes")):
        nothing = html('<div class="lr-small">Nothing else is retrieved.</div>')
        body = markup.differences(found) if found.any else nothing
        markup.block("What changed", body, "; ".join([*said, tokens]))


def _said(value: object) -> str:
    if isinstance(value, bool):
        return "on" if value else "off"
    if value is None or value == "":
        return "none"
    return f"{value:,}" if isinstance(value, int | float) else str(value)


def notes_panel(trace: Trace) -> None:
    """What the reader should know about this retrieval."""
    if trace.notes:
        lines = "".join(f"<div>{escape(sentence(note))}</div>" for note in trace.notes)
        st.html(f'<div class="lr-notes">{lines}</div>')
