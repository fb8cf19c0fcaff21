"""A line on indexes of a corpus that hold other documents than the corpus does by now."""

import streamlit as st

from leanrag_core.types.summary import CorpusSummary
from pages.build import index_actions, update_view
from pages.common import forms, session, state
from pages.common.frame import message, page_path
from pages.common.messages import say


def behind(corpus: CorpusSummary) -> None:
    """How many indexes are behind, with a way to update each; nothing where none is."""
    indexes = session.workbench().updates.behind(corpus.id)
    if not indexes:
        return
    message(say("update.indexes_behind", n=len(indexes)))
    with st.container(horizontal=True, gap="small"):
        for index in indexes:
            label = say("update.to_index", name=forms.plain(index.title))
            if st.button(label, icon=":material/sync:", key=f"update_{index.id}", type="tertiary"):
                state.remember(index_actions.TICKED, index.id)
                state.remember("job", None)
                update_view.open_fold()
                st.switch_page(page_path("build"))
