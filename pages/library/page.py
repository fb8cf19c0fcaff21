"""Library: corpora as cards, their documents, new documents, and graphs of other systems."""

import streamlit as st

from leanrag_core.errors import CorpusNotFound
from pages.common import deletion, markup, session, state
from pages.common.frame import enter, heading, message
from pages.common.html import draw, html
from pages.common.messages import say
from pages.library import adding_view, cards_view, documents_view, import_view


def page() -> None:
    enter("library")
    workbench = session.workbench()
    corpora = workbench.corpora.all()
    documents = sum(corpus.documents for corpus in corpora)
    counts = [say("library.corpora_n", n=len(corpora)), say("count.documents", n=documents)]
    heading(say("page.library"), say("ask.comma").join(counts))
    adding_view.take_finished()
    own = any(not corpus.sample for corpus in corpora)
    adding_view.panel(corpora, expanded=not own and not adding_view.has_outcome())
    import_view.panel()
    adding_view.outcome()
    deletion.damaged(workbench.corpora.damaged(), say("library.delete_damaged"), workbench.corpora.delete)
    chosen = state.recall("corpus")
    if chosen and all(corpus.id != chosen for corpus in corpora):
        message(say("library.corpus_gone", corpus=chosen))
        state.remember("corpus", None)
        chosen = ""
    if not corpora:
        draw(html('<div class="lr-empty">{}</div>', say("library.no_corpus")))
        return
    chosen = chosen or corpora[0].id
    with st.container(key="library_label"):
        draw(markup.label(say("library.corpora")))
    cards_view.cards(corpora, chosen)
    st.space("xsmall")
    try:
        with st.container(key="documents"):
            documents_view.panel(next(corpus for corpus in corpora if corpus.id == chosen))
    except CorpusNotFound as error:
        message(error, kind="error")
    state.publish(documents_view.URL)


page()
