"""A drawer with the source of a citation mark: a passage in its document, or an item or relation of the trace."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import streamlit as st
from markupsafe import Markup

from leanrag_core.answering.support import best_sentence
from leanrag_core.messages.message import message as message_of
from leanrag_core.queries import browse
from leanrag_core.queries.entity_search import chunk_of
from leanrag_core.types.index import Index
from leanrag_core.types.trace import Answer, Trace, TraceItem, TraceRelation
from pages.ask import roles
from pages.common import buttons, markup, passage_view, reveal, state
from pages.common.frame import page_path
from pages.common.html import NOTHING, draw, html, joined
from pages.common.messages import say, words
from pages.common.scope import Scope

PLACE = "at"  # in links: the id of the open chunk, item or relation


@dataclass(frozen=True)
class Reference:
    """An item or a relation of a trace to show. ref: its id. mark: its citation mark, or ""."""

    trace: Trace
    ref: str
    mark: str


def ref_of(trace: Trace, mark: str) -> str:
    """Return the id of the item or relation that a citation mark refers to."""
    return next((item.ref for part in trace.context.sections for item in part.items if item.mark == mark), "")


def open_place(scope: Scope, ref: str) -> None:
    """Open the item, relation or chunk with that id, and put it into links. For callbacks."""
    state.remember(PLACE, f"{scope.prefix}!{ref}" if scope.prefix else ref)


def _open_ref(scope: Scope) -> str:
    """Return the id that is open in that scope; only one scope has an open drawer at a time."""
    prefix, _, ref = state.recall(PLACE).rpartition("!")
    return ref if prefix == scope.prefix else ""


def open_mark(scope: Scope, trace: Trace) -> str:
    """Return the citation mark of the open item."""
    known = roles.marks_by_ref(trace.context).get(_open_ref(scope))
    return known.name if known else ""


def place(scope: Scope, index: Index, trace: Trace, answer: Answer | None) -> None:
    """Draw the open drawer: a chunk in its document, or what the retrieval says of an item. It stays open, and in
    links, until a person closes it; an unknown id is forgotten."""
    requested = reveal.take_drawer(scope, passage_view.Passage)  # requested by a picture that other pages have too
    if requested is not None:
        open_place(scope, index.chunk_cells.value("id", requested.row))
    ref = _open_ref(scope)
    if not ref:
        return
    known = roles.marks_by_ref(trace.context).get(ref)
    mark = known.name if known else ""
    close = partial(state.remember, PLACE, None)
    row = next((each.row for each in trace.passages if each.id == ref), chunk_of(index, ref))
    if row is not None:
        sentences = [part.text for part in answer.parts if mark in part.marks] if answer and mark else []
        text = index.chunk(row).text
        cited = tuple(best_sentence(sentence, text) for sentence in sentences)
        opened = passage_view.Passage(row, tuple(roles.names_to_mark(trace)), cited, known.drawn() if known else None)
        passage_view.dialog(close)(scope, index, opened)
    elif known or any(ref in (each.id for each in group) for group in (trace.items, trace.relations)):
        title = say("ask.mark_title")
        dialog = st.dialog(title, width="medium", position="right", icon=":material/format_quote:", on_dismiss=close)
        dialog(_reference)(scope, index, Reference(trace, ref, mark))
    else:
        close()


def open_citation(scope: Scope, answer: Answer, mark: str, *, stored: bool = False) -> None:
    """Open the drawer of that mark. stored: show the trace's own text, without the index. For callbacks."""
    st.session_state[scope.key("cited")] = mark
    trace = answer.trace
    ref = ref_of(trace, mark)
    passage = next((each for each in trace.passages if each.id == ref), None)
    if passage is not None:
        cited = [part.text for part in answer.parts if mark in part.marks] if answer.extractive else []
        opener(scope, trace, passage, mark, cited, stored=stored)()
    elif ref:
        reveal.ask_for_drawer(scope, Reference(trace, ref, mark))


def opener(
    scope: Scope, trace: Trace, passage: TraceItem, mark: str, cited: list[str] | None = None, *, stored: bool
) -> Callable[[], None]:
    """Return a callback that opens a passage in its document, or its text if there is no document. cited: its sentences
    to highlight."""
    if stored or passage.row is None:
        return partial(reveal.ask_for_drawer, scope, Reference(trace, passage.id, mark))
    names = roles.names_to_mark(trace)
    known = roles.marks_by_name(trace.context).get(mark)
    sign = known.drawn() if known else None
    return partial(passage_view.ask_for, passage.row, names=names, cited=cited or [], mark=sign, scope=scope)


def drawer(scope: Scope, index: Index | None) -> None:
    """Open the item or relation that was requested in this scope, if any."""
    requested = reveal.take_drawer(scope, Reference)
    if requested is not None:
        show = st.dialog(say("ask.mark_title"), width="medium", position="right", icon=":material/format_quote:")
        show(_reference)(scope, index, requested)


def _reference(scope: Scope, index: Index | None, requested: Reference) -> None:
    reveal.take_focus(scope)
    trace = requested.trace
    mark = roles.marks_by_name(trace.context).get(requested.mark)
    sign = mark.drawn() + " " if mark else NOTHING
    relation = next((each for each in trace.relations if each.id == requested.ref), None)
    item = next((each for each in trace.items if each.id == requested.ref), None)
    node_id = relation.source if relation else requested.ref
    if relation is not None:
        draw(_relation(trace, relation, sign))
    elif index is not None and browse.locate(index, requested.ref):
        draw(_entity(index, requested.ref, sign))
    elif item is not None:
        draw(_item(trace, item, sign))
    else:
        text = next(
            (each.text for part in trace.context.sections for each in part.items if each.ref == requested.ref), ""
        )
        draw(html('<div class="lr-name">{}</div><div class="lr-read">{}</div>', sign, text))
    if index is None or browse.locate(index, node_id) is None:
        return
    if buttons.secondary(say("ask.open_in_explore"), "account_tree", scope.name("reference_explore")):
        open_explore(scope, node_id, relation_id=relation.id if relation else None)


def _relation(trace: Trace, relation: TraceRelation, sign: Markup) -> Markup:
    facts = roles.made_title(relation.made)
    if relation.layer != 0:
        title = roles.role_title(trace, relation.role)
        facts = say("ask.comma").join(
            part for part in (title, f"λ {relation.strength:.0f}" if relation.layer else "", facts) if part
        )
    source, target = roles.ends(trace, relation)
    return html(
        '<div class="lr-name">{}{} {} {}</div><div class="lr-insp-top">{}{}</div><div class="lr-read">{}</div>',
        sign,
        markup.name(source),
        say("markup.and"),
        markup.name(target),
        roles.tag(relation),
        facts,
        relation.description,
    )


def _entity(index: Index, id_: str, sign: Markup) -> Markup:
    place = browse.locate(index, id_)
    assert place is not None
    entity = index.layers[place.layer].entity(place.row)
    findings = joined(html("<li>{} {}</li>", finding.summary, finding.explanation) for finding in entity.findings)
    return html(
        '<div class="lr-insp-top">{}{}</div><div class="lr-name">{}{}</div><div class="lr-read">{}</div>{}{}',
        markup.layer_tag(place.layer),
        entity.type,
        sign,
        markup.name(entity.name),
        entity.description,
        html('<ul class="lr-small">{}</ul>', findings) if entity.findings else NOTHING,
        markup.chain(index, entity),
    )


def _item(trace: Trace, item: TraceItem, sign: Markup) -> Markup:
    """Return an item of the trace; for a passage also its source."""
    facts = item.type or roles.reason(trace, item)
    if item.source is not None:
        facts = say("ask.comma").join(
            [
                item.source.document,
                *([say("passage.page", page=item.source.page)] if item.source.page else []),
                say("passage.characters_from", start=item.source.start, end=item.source.end),
                words(message_of("count.tokens", n=item.source.tokens)),
            ]
        )
    return html(
        '<div class="lr-insp-top">{}{}</div><div class="lr-name">{}{}</div>'
        '<div class="lr-text" dir="auto" tabindex="0" role="region" aria-label="{}">{}</div>',
        NOTHING if item.source is not None else roles.tag(item),
        facts,
        sign,
        markup.name(item.name),
        item.name,
        item.text,
    )


def open_explore(scope: Scope, node_id: str, *, relation_id: str | None = None) -> None:
    """Open Explore with this node of the scope's index chosen, and one of its relations if given."""
    state.forget(PLACE)
    state.remember("index", state.recall(scope.name("index")) or state.recall("index"))
    state.remember("node", node_id)
    state.remember("rel", relation_id)
    if relation_id is not None:
        st.session_state["lr_rel_of"] = node_id
    st.switch_page(page_path("explore"))
