"""The documents of a corpus: a list, a preview cut into chunks, unreadable files, and deletion."""

import hashlib
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd
import streamlit as st

from leanrag_core.figures.drawing import isolated
from leanrag_core.indexing.chunking import SHOWN, SIZES, chunk_previews
from leanrag_core.indexing.parsing.asides import Aside, key_of
from leanrag_core.indexing.parsing.notes import note_in
from leanrag_core.indexing.parsing.running_heads import head_key
from leanrag_core.messages.catalog import joined_sentences
from leanrag_core.types.config import IndexConfig
from leanrag_core.types.corpus import Document, RunningHead
from leanrag_core.types.summary import CorpusSummary, DocumentSummary
from leanrag_core.types.visible import visible
from pages.build import index_actions, update_view
from pages.common import buttons, deletion, dialogs, forms, markup, paging, reveal, session, state
from pages.common.component import component
from pages.common.frame import page_path, plain_errors
from pages.common.html import draw, html
from pages.common.messages import language, message, say, say_or, words
from pages.library import adding_view, describing_view
from pages.library.adding_view import to_build


def behind(corpus: CorpusSummary) -> None:
    """Draw how many indexes are out of date, with a button that updates each; nothing if none is."""
    indexes = session.workbench().updates.behind(corpus.id)
    if not indexes:
        return
    message(say("update.indexes_behind", n=len(indexes)))
    with st.container(horizontal=True, gap="small"):
        for index in indexes:
            label = say("update.to_index", name=forms.plain(index.title))
            if buttons.tertiary(label, "sync", f"update_{index.id}"):
                state.remember(index_actions.TICKED, index.id)
                state.forget("job")
                update_view.open_fold()
                st.switch_page(page_path("build"))


_SCRIPT = Path(__file__).with_name("chunk_preview.js")
_FRAME = '<div class="lr-cuts"></div>'
_KEY, _BUILDS, _CHANGED = "chunk_preview", "lr_preview_builds", "lr_preview_changed"
_LISTED = 50  # most running heads listed that do not occur in the shown beginning


def show_chunks(corpus: CorpusSummary, document: DocumentSummary, facts: str) -> None:
    """Draw title, facts and the beginning of the document, cut as the form of Build proposes."""
    template = '<div class="lr-name" dir="auto">{}</div><div class="lr-small lr-muted" dir="auto">{}</div>'
    draw(html(template, document.title, facts))
    if st.session_state.pop(_BUILDS, False):
        to_build(corpus.id)
    if st.session_state.pop(_CHANGED, False):
        st.rerun()  # the list beside it shows the document's new size
    form = forms.chunking()
    nearest = min(range(len(SIZES)), key=lambda place: abs(SIZES[place] - form.chunk_tokens))
    drawn = _drawn(corpus.id, document.id, document.tokens, form, f"{corpus.documents}/{corpus.tokens}", language())

    def used() -> None:
        place = st.session_state[_KEY].get("used")
        if isinstance(place, int) and 0 <= place < len(SIZES):
            if SIZES[place] != form.chunk_tokens:
                state.remember("b_chunk_tokens", SIZES[place])
                state.remember("b_overlap_tokens", SIZES[place] // 8)
            st.session_state[_BUILDS] = True

    def changed() -> None:
        text = st.session_state[_KEY].get("head")
        if isinstance(text, str):
            with plain_errors():
                state.remember("doc", session.workbench().corpora.put_back(corpus.id, document.id, text))
                st.session_state[_CHANGED] = True

    def read_anyway() -> None:
        keys = st.session_state[_KEY].get("aside")
        if isinstance(keys, str):
            with plain_errors():
                state.remember("doc", session.workbench().corpora.read_anyway(corpus.id, document.id, keys.split()))
                st.session_state[_CHANGED] = True

    component(_SCRIPT, _FRAME)(
        data={**drawn, "title": visible(document.title), "chosen": nearest, "fixed": corpus.sample},
        key=_KEY,
        on_used_change=used,
        on_head_change=changed,
        on_aside_change=read_anyway,
    )


@st.cache_data(max_entries=32, show_spinner=False)
def _drawn(
    corpus_id: str, document_id: str, n_tokens: int, form: IndexConfig, of_corpus: str, of_language: str
) -> dict[str, Any]:
    """Return what the script draws. form: what Build's form says of chunks. of_corpus: changes with the corpus, since
    its documents decide what counts as repeated; of_language: the language of the sentences, a part of the cache
    key."""
    document = session.workbench().corpora.document(corpus_id, document_id)
    asides = session.workbench().corpora.asides(corpus_id, document_id)
    text = document.text[:SHOWN]
    places = _places(text)
    return {
        "text": visible(text),
        "more": say("library.more_characters", n=len(document.text) - SHOWN) if len(document.text) > SHOWN else "",
        "sizes": [
            {
                "spans": [[places[span.start], places[span.end]] for span in preview.spans],
                "said": say(
                    "library.chunks_of", tokens=preview.max_tokens, overlap=preview.overlap_tokens, n=preview.whole
                ),
            }
            for preview in chunk_previews(document, n_tokens, form)
        ],
        "slider": say("library.chunk_size"),
        "legend": say("library.chunk_legend"),
        "use": say("library.use_size"),
        "heads": [_head(head, places) for head in document.running_heads if head.end < len(places)],
        "later": _later(document, len(places)),
        "put_back": say("library.put_back"),
        "leave_out": say("library.leave_out"),
        "heads_legend": say("library.running_heads_legend"),
        "elsewhere": say("library.running_heads_elsewhere"),
        "asides": [_aside(aside, document, places) for aside in asides if aside.start < len(text)],
        "asides_legend": _asides_legend(asides, document) if asides else "",
    }


def _aside(aside: Aside, document: Document, places: list[int]) -> dict[str, Any]:
    key = key_of(document.text[aside.start : aside.end])
    return {
        "span": [places[aside.start], places[min(aside.end, len(places) - 1)]],
        "key": key,
        "reason": say(f"library.aside.{aside.reason}"),
        "read": key in document.read_anyway,
    }


def _asides_legend(asides: Sequence[Aside], document: Document) -> str:
    share = sum(aside.end - aside.start for aside in asides) / max(1, len(document.text))
    return say("library.asides_legend", share=share)


def _head(head: RunningHead, places: list[int]) -> dict[str, Any]:
    return {"text": visible(head.text), "key": head.text, "span": [places[head.start], places[head.end]]}


def _later(document: Document, n_places: int) -> list[dict[str, Any]]:
    """Return the running heads that have no similar one in the shown beginning, each once."""
    known = {head_key(head.text) for head in document.running_heads if head.end < n_places}
    later = {head_key(head.text): head for head in reversed(document.running_heads)}
    listed = [head for key, head in reversed(later.items()) if key not in known][:_LISTED]
    return [{"text": visible(head.text), "key": head.text, "in_text": head.in_text} for head in listed]


def _places(text: str) -> list[int]:
    """Return the offset of each character, and of the end, in the text that the browser's script sees, which counts in
    UTF-16 and has signs for invisible characters."""
    places, place = [0], 0
    if visible(text) == text:
        for character in text:
            place += 2 if character > "\uffff" else 1
            places.append(place)
        return places
    return [len(visible(text[:end]).encode("utf-16-le", "surrogatepass")) // 2 for end in range(len(text) + 1)]


URL = ("index", "corpus", "doc")
_ROWS = 200  # documents per page
_REFUSED = 100  # most files that are listed


def panel(corpus: CorpusSummary) -> None:
    """Draw the corpus below the cards."""
    reveal.show("documents")
    facts = [say("count.documents", n=corpus.documents), say("count.tokens", n=corpus.tokens)]
    if corpus.arriving is not None:
        facts = [*(facts if corpus.documents else ()), say("library.tag.filling")]
    with st.container(horizontal=True, vertical_alignment="center", key="documents_head"):
        with st.container(width="stretch", key="documents_title"):
            template = (
                '<div class="lr-head"><span class="t" style="font-size:1.15rem" role="heading" aria-level="2" '
                'tabindex="-1">{}</span><span class="s">{}</span></div>'
            )
            draw(html(template, corpus.name, say("ask.comma").join(facts)))
        if buttons.secondary(say("library.build_index"), "construction", "build_open"):
            adding_view.to_build(corpus.id)
        if not corpus.sample:
            texts = say("library.rename_corpus.title"), say("library.corpus_name")
            dialogs.rename("corpus", corpus.id, corpus.name, texts, session.workbench().rename_corpus)
            means = say("library.delete_corpus.means", n=corpus.documents)
            key, delete = "delete_corpus", partial(_delete, corpus.id)
            deletion.button(
                key, say("library.delete_corpus"), say("library.delete_corpus.title"), corpus.name, means, delete
            )
    behind(corpus)
    if not corpus.documents:
        nothing = say("library.no_documents" if corpus.arriving is None else "library.filling_note")
        draw(html('<div class="lr-empty">{}</div>', nothing))
        return
    st.fragment(_list_and_preview)(corpus)


def _list_and_preview(corpus: CorpusSummary) -> None:
    """Draw the list and the preview; a click on a row redraws only this part."""
    corpora = session.workbench().corpora
    documents = corpora.documents(corpus.id)
    if not documents:  # the documents were removed meanwhile
        return
    left, right = st.columns([6, 5], gap="medium")
    with left:
        label, placeholder = say("library.find"), say("library.find_hint")
        wanted = st.text_input(label, placeholder=placeholder, icon=":material/search:", key="find_document")
        fitting = corpora.documents(corpus.id, wanted) if wanted else documents
        if not fitting:
            markup.note(say("library.none_with_that", n=len(documents)))
        chosen = corpora.row(corpus.id, state.recall("doc")) or documents[0]
        described = corpora.described(corpus.id)
        _table(fitting or documents, corpus, described)
        describing_view.button(corpus, chosen, fitting or documents, described)
        _refused_files(corpus)
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
            show_chunks(corpus, chosen, _facts(chosen))
    state.publish(URL)


def _facts(document: DocumentSummary) -> str:
    facts = [isolated(document.name)]
    facts += [say("library.pages", n=document.pages)] if document.pages else []
    facts.append(say("library.characters", n=document.characters))
    facts += [say("library.dated", date=document.date)] if document.date else []
    facts += [say("library.tagged", tags=say("ask.comma").join(map(isolated, document.tags)))] if document.tags else []
    listed, notes = say("ask.comma").join(facts), [note_in(language(), each) for each in document.notes]
    return joined_sentences([f"{listed}{say('text.stop')}", *notes]) if notes else listed


def _refused_files(corpus: CorpusSummary) -> None:
    """Draw the unreadable files in a fold; nothing if there are none."""
    refused = session.workbench().corpora.refused(corpus.id)
    if not refused:
        return
    with st.expander(say("library.could_not_be_read", n=len(refused)), icon=":material/error:"):
        rows = [(say("library.state.refused"), refusal.name, words(refusal.reason)) for refusal in refused[:_REFUSED]]
        draw(markup.tagged_list(rows))
        if len(refused) > _REFUSED:
            markup.note(say("library.first_of", shown=_REFUSED, n=len(refused)))


def _language(document: DocumentSummary) -> str:
    return "–" if document.language == "und" else say_or(document.language, f"language.{document.language}")


def _table(documents: Sequence[DocumentSummary], corpus: CorpusSummary, described: Sequence[DocumentSummary]) -> None:
    """Draw the documents. described: those of the corpus that have tags or a date."""
    shown = paging.rows_of_page(documents, _ROWS, key="docs_page")
    title, language = say("library.column.title"), say("library.column.language")
    kind, characters, tokens = (say(f"library.column.{name}") for name in ("type", "characters", "tokens"))
    table = pd.DataFrame(
        {
            title: [document.title for document in shown],
            kind: [say_or(document.media_type, f"library.type.{document.media_type}") for document in shown],
            characters: [document.characters for document in shown],
            tokens: [document.tokens for document in shown],
            language: [_language(document) for document in shown],
        }
    )
    tags, date = say("library.column.tags"), say("library.column.date")
    if any(document.date for document in described):
        table.insert(1, date, [document.date for document in shown])
    if any(document.tags for document in described):
        table.insert(1, tags, [say("text.list").join(document.tags) for document in shown])
    # Another list needs another table, or the old selection would mark a different document in the same row.
    listed = hashlib.sha256(" ".join(document.id for document in shown).encode()).hexdigest()[:12]
    key = f"documents_{corpus.id}_{listed}"

    draw(markup.muted(say("library.click_a_row")))
    forms.clickable_table(
        table,
        lambda row: state.remember("doc", shown[row].id),
        key=key,
        height=forms.table_height(len(shown), 470),
        column_config={
            title: st.column_config.TextColumn(width=250),
            tags: st.column_config.TextColumn(width=90),
            date: st.column_config.TextColumn(width=85),
            kind: st.column_config.TextColumn(width=75),
            language: st.column_config.TextColumn(width=75),
            characters: st.column_config.NumberColumn(format="localized", width=85),
            tokens: st.column_config.NumberColumn(format="localized", width=75),
        },
    )


def _delete(corpus_id: str) -> None:
    session.workbench().corpora.delete(corpus_id)
    state.forget("corpus")
    adding_view.forget_outcome()


def _remove(corpus_id: str, document_id: str) -> None:
    session.workbench().corpora.remove(corpus_id, document_id)
    state.forget("doc")
