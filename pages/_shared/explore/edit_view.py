"""Edits by hand of an entity, from where it is looked at: each is a job, and a line in the log of the index."""

import streamlit as st

from leanrag_core.types.editing import Action, Edit
from leanrag_core.types.graph import Entity
from leanrag_core.types.index import Index
from leanrag_core.types.manifest import IMPORTED
from pages._shared.common import forms, session, state
from pages._shared.common.frame import page_path, plain_errors
from pages._shared.common.messages import say

_ACTIONS: tuple[Action, ...] = ("rename", "retype", "merge", "delete")


def popover(index: Index, entity: Entity) -> None:
    """What can be changed of a base entity; nothing for an index that cannot be edited."""
    if entity.layer or index.path is None or index.manifest.kind == IMPORTED:
        return
    with st.popover(say("edit.button"), icon=":material/edit:", type="tertiary", key=f"edit_{entity.id}"):
        action = st.radio(
            say("edit.what"),
            _ACTIONS,
            format_func=lambda name: say(f"edit.action.{name}"),
            key=f"edit_action_{entity.id}",
            label_visibility="collapsed",
        )
        other = ""
        if action != "delete":
            other = st.text_input(say(f"edit.field.{action}"), key=f"edit_other_{entity.id}_{action}")
        st.caption(say(f"edit.hint.{action}", name=forms.plain(entity.name)))
        if st.button(say("edit.apply"), type="primary", key=f"primary_edit_{entity.id}"):
            with plain_errors():
                bench = session.workbench()
                number = bench.edits(index.path).next_number
                job = bench.start_edit(index.path.name, Edit(number, action, entity.name, other.strip()))
                state.remember("job", job)
                state.remember("row", index.path.name)
                st.switch_page(page_path("build"))
