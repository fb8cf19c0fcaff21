"""The inspector: what an entity, a relation or a chunk is, its evidence and its origin, with links to all of them."""

import json
from pathlib import Path
from typing import Any

import streamlit as st

from leanrag_core.queries.entity_search import chunk_of, relation_of
from leanrag_core.types.graph import Entity, Relation
from leanrag_core.types.index import Index
from leanrag_core.types.visible import visible_values
from pages.ask import asking
from pages.common import markup, passage_view, reveal, state
from pages.common.component import component
from pages.common.frame import page_path
from pages.common.html import NOTHING, draw, html
from pages.common.messages import message, say
from pages.common.scope import PAGE
from pages.explore import edit_view, inspected, inspector_values
from pages.explore.exploring import Exploring, gone_entity
from pages.explore.inspected import CHUNKS, RELATIONS, names_to_mark

_SCRIPT = Path(__file__).with_name("inspector.js")
_FRAME = '<div class="lr-inspected"></div>'
_KEY = "inspected"
_MORE = "lr_inspected_more"
_ASK = "lr_inspected_ask"
_STEP = {"chunks": CHUNKS, "relations": RELATIONS, "members": RELATIONS, "children": 100}


def show(exploring: Exploring) -> None:
    """Draw what the link names: a relation, a chunk or the chosen entity."""
    index = exploring.index
    name = st.session_state.pop(_ASK, None)
    if name is not None:
        question = say("explore.inspect.question", name=name)
        state.remember("q", question)
        asking.want(PAGE, question)
        st.switch_page(page_path("ask"))
    relation = relation_of(index, state.recall("rel")) if state.recall("rel") else None
    chunk = chunk_of(index, state.recall("chunk")) if state.recall("chunk") else None
    _say_what_is_gone(relation is None and bool(state.recall("rel")), chunk is None and bool(state.recall("chunk")))
    if relation is not None:
        _head(exploring, relation)
        values = inspector_values.relation_values(exploring, relation, _more(relation.id))
    elif chunk is not None:
        _head(exploring, None)
        values = inspector_values.chunk_values(exploring, chunk)
    else:
        entity = index.layers[exploring.place.layer].entity(exploring.place.row)
        _head(exploring, entity)
        values = inspector_values.entity_values(exploring, _more(entity.id))
    words = {"document": say("passage.open"), "tabs": say("explore.inspect.tabs"), "open": say("explore.inspect.open")}
    component(_SCRIPT, _FRAME)(
        data=visible_values({**values, "words": words}),
        key=_KEY,
        on_acted_change=lambda: _act(exploring, json.loads(st.session_state[_KEY].get("acted") or "{}")),
    )
    inspected.drawer(index)


def _say_what_is_gone(relation: bool, chunk: bool) -> None:
    if relation or chunk:
        message(say("explore.inspect.gone_relation" if relation else "explore.inspect.gone_chunk"))
    elif gone_entity():
        message(say("explore.inspect.gone_entity"))


def _head(exploring: Exploring, item: Entity | Relation | None) -> None:
    """Draw the layer's tag, the kind of the item, and for a base entity the edit button."""
    with st.container(horizontal=True, gap="small", vertical_alignment="center", key="inspector_head"):
        if isinstance(item, Entity):
            kind = item.type if item.layer == 0 and item.type not in ("", "unknown") else ""
            kind_name = say("explore.inspect.aggregated_entity" if item.layer else "explore.inspect.entity")
            promoted = html(" {}", say("explore.inspect.promoted")) if item.promoted else NOTHING
            typed = html("{}{}", say("ask.comma"), markup.name(kind)) if kind else NOTHING
            body = markup.layer_tag(item.layer) + html("{}{}{}", kind_name, typed, promoted)
        elif isinstance(item, Relation):
            kind_name = say("explore.inspect.aggregated_relation" if item.layer else "explore.inspect.base_relation")
            body = markup.layer_tag(item.layer) + html("{}", kind_name)
        else:
            body = html('<span class="lr-tag">C</span> {}', say("explore.inspect.chunk"))
        draw(html('<div class="lr-insp-top">{}</div>', body))
        if isinstance(item, Entity):
            edit_view.popover(exploring.index, item)


def _more(id_: str) -> dict[str, int]:
    """Return how many rows beyond the first ones were requested for the item with that id."""
    owner, more = st.session_state.get(_MORE, ("", {}))
    return dict(more) if owner == id_ else {}


def _act(exploring: Exploring, action: dict[str, Any]) -> None:
    """Carry out the action of a click in the component."""
    do, id_ = str(action.get("do", "")), str(action.get("id", ""))
    if do == "go":
        exploring.go(id_)
    elif do == "relation":
        state.forget("chunk")
        state.remember("rel", id_)
    elif do == "chunk":
        state.forget("rel")
        state.remember("chunk", id_)
    elif do == "back":
        state.forget("rel", "chunk")
    elif do == "graph":
        state.remember("view", "graph")
    elif do == "ask":
        layer = exploring.index.layers[exploring.place.layer]
        st.session_state[_ASK] = layer.entity_cells.value("name", exploring.place.row)
    elif do == "document" and id_.isdecimal():
        passage_view.ask_for(int(id_), names=_names(exploring, exploring.index))
    elif do == "prompts":
        reveal.ask_for_drawer(PAGE, inspected.Asked(id_))
    elif do == "more" and id_ in _STEP:
        owner = str(action.get("owner", ""))
        now = _more(owner)
        st.session_state[_MORE] = (owner, {**now, id_: now.get(id_, 0) + _STEP[id_]})


def _names(exploring: Exploring, index: Index) -> list[str]:
    """Return the names to mark in a document, if the inspected item is in layer 0."""
    relation = relation_of(index, state.recall("rel")) if state.recall("rel") else None
    if relation is not None:
        names = [name for name, _ in inspector_values.ends_of(index, relation)] if relation.layer == 0 else []
    else:
        entity = index.layers[exploring.place.layer].entity(exploring.place.row)
        names = [entity.name] if entity.layer == 0 else []
    return names_to_mark(exploring.summary, names)
