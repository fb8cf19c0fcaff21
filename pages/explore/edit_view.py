"""Manual edits of an entity on the page that shows it: each is a job, and a line in the log of the index."""

import streamlit as st

from leanrag_core.queries import browse
from leanrag_core.storage.earlier_states import is_earlier
from leanrag_core.storage.layout import read_edits
from leanrag_core.types.graph import Entity, Place
from leanrag_core.types.index import Index
from leanrag_core.types.manifest import IMPORTED
from leanrag_core.types.updating import MAX_NAME, MAX_TEXT, Action, Edit
from pages.build import index_actions, update_view
from pages.common import buttons, forms, markup, session, state
from pages.common.frame import plain_errors
from pages.common.html import draw
from pages.common.messages import say
from pages.common.page_change import open_page

_OF_ENTITY: tuple[Action, ...] = ("rename", "retype", "merge", "split", "delete")
_OF_RELATION: tuple[Action, ...] = ("describe-relation", "delete-relation")
_UNDONE = 5  # most recent edits that can be undone here; Build lists all
_RELATIONS = 50  # strongest relations that are offered; a hub has tens of thousands


def popover(index: Index, entity: Entity) -> None:
    """Draw the possible edits of a base entity; nothing for an earlier state or an index that cannot be edited."""
    if entity.layer or index.path is None or index.manifest.kind == IMPORTED or is_earlier(index.path):
        return
    related = browse.neighbours(index, Place(0, entity.row), _RELATIONS)
    documents = _documents(index, entity)
    offered = [
        action
        for action in _OF_ENTITY + (_OF_RELATION if related else ())
        if action != "split" or len(documents) > 1  # with a single document there is nothing to split
    ]
    with st.popover(say("edit.button"), icon=":material/edit:", type="tertiary", key=f"edit_{entity.id}"):
        label, key = say("edit.what"), f"edit_action_{entity.id}"
        action = st.radio(
            label, offered, format_func=lambda name: say(f"edit.action.{name}"), key=key, label_visibility="collapsed"
        )
        edit = _form(entity, action, documents, {each.name: each.relation.description for each in related})
        st.caption(say(f"edit.hint.{action}", name=forms.plain(entity.name)))
        if buttons.primary(say("edit.apply"), "", f"primary_edit_{entity.id}"):
            with plain_errors():
                _start(index, edit)
        _undo(index, edits_of(index, entity))


def _form(entity: Entity, action: Action, documents: list[str], related: dict[str, str]) -> Edit:
    """Draw the fields of the edit and return it, without its final number. related: descriptions of the relations, by
    the name at their other end."""
    key, label = f"edit_other_{entity.id}_{action}", f"edit.field.{action}"
    if action == "delete":
        return Edit(1, action, entity.name)
    if action in _OF_RELATION:
        other = st.selectbox(say("edit.field.relation"), list(related), key=key)
        text = ""
        if action == "describe-relation":
            field = f"{key}_{list(related).index(other)}"
            text = st.text_area(say(label), related[other], max_chars=MAX_TEXT, key=field)
        return Edit(1, action, entity.name, other, text=text.strip())
    other = st.text_input(say(label), max_chars=None if action == "merge" else MAX_NAME, key=key)
    picked: list[str] = []
    if action == "split":
        picked = st.multiselect(say("edit.field.documents"), documents, key=f"{key}_documents", select_all=False)
    return Edit(1, action, entity.name, other.strip(), tuple(picked))


def edits_of(index: Index, entity: Entity) -> list[Edit]:
    """Return the manual edits that name the entity, the last one first."""
    if index.path is None or entity.layer:
        return []
    edits = read_edits(index.path).edits
    return [edit for edit in reversed(edits) if entity.name in (edit.name, edit.other)]


def _undo(index: Index, edits: list[Edit]) -> None:
    """Draw the first of the edits, each with a button that undoes it."""
    if edits:
        draw(markup.label(say("edit.log"), f"{len(edits):,}"))
    for edit in edits[:_UNDONE]:
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            st.text(update_view.sentence_of(edit))
            if buttons.tertiary(say("edit.undo"), "undo", f"undo_here_{edit.number}"):
                assert index.path is not None
                with plain_errors():
                    _shown_on_build(
                        session.workbench().updates.start_undoing_edit(index.path.name, edit.number), index.path.name
                    )


def _documents(index: Index, entity: Entity) -> list[str]:
    """Return the names of the documents that mention the entity, in index order."""
    rows = sorted({index.chunk_cells.value("document", chunk) for chunk in entity.chunks})
    return [index.document_cells.value("name", row) for row in rows]


def _start(index: Index, edit: Edit) -> None:
    """Start the job of the edit, and show it on Build."""
    assert index.path is not None
    bench = session.workbench()
    number = read_edits(index.path).next_number
    numbered = Edit(number, edit.action, edit.name, edit.other, edit.documents, edit.text)
    _shown_on_build(bench.updates.start_edit(index.path.name, numbered), index.path.name)


def _shown_on_build(job_id: str, index_id: str) -> None:
    state.remember("job", job_id)
    state.remember(index_actions.TICKED, index_id)
    open_page("build")
