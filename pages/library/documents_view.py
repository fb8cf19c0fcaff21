"""The documents of a corpus: a list, a preview cut into chunks, files that could not be read, deleting."""

from functools import partial

import pandas as pd
import streamlit as st

from leanrag_core.figures.drawing import isolated
from leanrag_core.types.summary import CorpusSummary, DocumentSummary
from pages.common import deletion, forms, markup, paging, reveal, session, state
from pages.common.frame import plain_errors
from pages.common.html import draw, html
from pages.common.messages import say, words
from pages.library import adding_view, chunk_preview, update_notice

URL = ("index", "corpus", "doc")
_ROWS = 200  # documents a page
_REFUSED = 100  # files that are listed


def panel(corpus: CorpusSummary) -> None:
    """The corpus below the cards."""
    reveal.show("documents")
    documents = session.workbench().corpora.documents(corpus.id)
    facts = [say("count.documents", n=len(documents)), say("count.tokens", n=corpus.tokens)]
    with st.container(horizontal=True, vertical_alignment="center"):
        with st.container(width="stretch"):
            draw(
                html(
                    '<div class="lr-head"><span class="t" style="font-size:1.15rem" role="heading" aria-level="2" '
                    'tabindex="-1">{}</span><span class="s">{}</span></div>',
                    corpus.name,
                    say("ask.comma").join(facts),
                )
            )
        if st.button(say("library.build_index"), icon=":material/construction:", key="build_open"):
            adding_view.to_build(corpus.id)
        if not corpus.sample:
            means = say("library.delete_corpus.means", n=corpus.documents)
            deletion.button(
                "delete_corpus",
                say("library.delete_corpus"),
                say("library.delete_corpus.title"),
                corpus.name,
                means,
                partial(_delete, corpus.id),
            )
    update_notice.behind(corpus)
    if not documents:
        draw(html('<div class="lr-empty">{}</div>', say("library.no_documents")))
        return
    st.fragment(_list_and_preview)(corpus, documents)


def _list_and_preview(corpus: CorpusSummary, documents: list[DocumentSummary]) -> None:
    """A click on a row draws this part alone."""
    left, right = st.columns([6, 5], gap="medium")
    with left:
        wanted = st.text_input(
            say("library.find"),
            placeholder=say("library.find_hint"),
            icon=":material/search:",
            key="find_document",
        )
        fitting = [
            document for document in documents if wanted.casefold() in f"{document.title} {document.name}".casefold()
        ]
        if not fitting:
            markup.note(say("library.none_with_that", n=len(documents)))
        _table(fitting or documents, corpus)
        _refused_files(corpus)
    chosen = next((document for document in documents if document.id == state.recall("doc")), documents[0])
    with right, st.container(border=True, key="preview", gap="xsmall"):
        if not corpus.sample:
            deletion.button(
                "remove_document",
                say("library.remove_document"),
                say("library.remove_document.title"),
                chosen.title,
                say("library.removed_from_corpus"),
                partial(_remove, corpus.id, chosen.id),
            )
        with plain_errors():
            chunk_preview.show(corpus, chosen, _facts(chosen))
    state.publish(URL)


def _facts(document: DocumentSummary) -> str:
    facts = [isolated(document.name)]
    facts += [say("library.pages", n=document.pages)] if document.pages else []
    facts.append(say("library.characters", n=document.characters))
    listed = say("ask.comma").join(facts)
    return say("text.space").join([f"{listed}{say('text.stop')}", *document.notes]) if document.notes else listed


def _refused_files(corpus: CorpusSummary) -> None:
    """Files that could not be read, in a fold; nothing when all could."""
    refused = session.workbench().corpora.refused(corpus.id)
    if not refused:
        return
    with st.expander(say("library.could_not_be_read", n=len(refused)), icon=":material/error:"):
        rows = [(say("library.state.refused"), refusal.name, words(refusal.reason)) for refusal in refused[:_REFUSED]]
        draw(markup.tagged_list(rows))
        if len(refused) > _REFUSED:
            markup.note(say("library.first_of", shown=_REFUSED, n=len(refused)))


def _table(documents: list[DocumentSummary], corpus: CorpusSummary) -> None:
    shown = paging.rows_of_page(documents, _ROWS, key="docs_page")
    title, language = say("library.column.title"), say("library.column.language")
    kind, characters, tokens = (say(f"library.column.{name}") for name in ("type", "characters", "tokens"))
    table = pd.DataFrame(
        {
            title: [document.title for document in shown],
            kind: [document.media_type for document in shown],
            characters: [document.characters for document in shown],
            tokens: [document.tokens for document in shown],
            language: ["–" if document.language == "und" else document.language for document in shown],
        }
    )
    key = f"documents_{corpus.id}"

    def picked() -> None:
        cells = st.session_state[key]["selection"]["cells"]
        if cells:
            state.remember("doc", shown[int(cells[0][0])].id)

    draw(markup.muted(say("library.click_a_row")))
    st.dataframe(
        forms.visible_cells(table),
        hide_index=True,
        key=key,
        on_select=picked,
        selection_mode="single-cell",
        height=forms.table_height(len(shown), 470),
        column_config={
            title: st.column_config.TextColumn(width=250),
            kind: st.column_config.TextColumn(width=75),
            language: st.column_config.TextColumn(width=75),
            characters: st.column_config.NumberColumn(format="localized", width=85),
            tokens: st.column_config.NumberColumn(format="localized", width=75),
        },
    )


def _delete(corpus_id: str) -> None:
    session.workbench().corpora.delete(corpus_id)
    state.remember("corpus", None)
    adding_view.forget_outcome()


def _remove(corpus_id: str, document_id: str) -> None:
    session.workbench().corpora.remove(corpus_id, document_id)
    state.remember("doc", None)
