"""Library: corpora as cards, their documents, new documents, and graphs of other systems."""

import pandas as pd
import streamlit as st

from leanrag_core.errors import CorpusNotFound
from leanrag_core.figures import numbers
from leanrag_core.figures.direction import isolated
from leanrag_core.types.summary import CorpusSummary, DocumentSummary, UploadReport
from leanrag_core.types.visible import visible
from pages._shared.common import forms, markup, passage_view, reveal, session, state, widgets
from pages._shared.common.frame import enter, heading, message, page_path, plain_errors
from pages._shared.common.html import draw, html, joined
from pages._shared.common.messages import say, words
from pages._shared.library import import_view, update_notice

NEW = "A new corpus"


def upload_panel(corpora: list[CorpusSummary], *, expanded: bool) -> None:
    own = [corpus for corpus in corpora if not corpus.sample]
    with st.expander("Add documents", icon=":material/upload_file:", expanded=expanded, key="upload"):
        files = st.file_uploader(
            f"Drop files here: {session.workbench().formats()}",
            accept_multiple_files=True,
            key=f"files_{st.session_state.get('uploads', 0)}",
            help="The files in a ZIP archive are read each for itself.",
        )
        names = {own_corpus.id: own_corpus.name for own_corpus in own}
        left, right, button = st.columns([3, 3, 2], vertical_alignment="bottom")
        chosen = state.recall("corpus")
        options = [NEW, *names]
        target = widgets.remembered(
            "upload_into",
            chosen if chosen in names else NEW,
            lambda mount: left.selectbox(
                "Into",
                options,
                index=options.index(mount.value),
                format_func=lambda id_: names.get(id_, NEW),
                key=mount.key,
                on_change=mount.changed,
            ),
            allowed=lambda value: value in options,
            form=widgets.labels(names),
        )
        name = widgets.remembered(
            "upload_name",
            "",
            lambda mount: right.text_input(
                "Name of the new corpus",
                mount.value,
                placeholder="My documents",
                disabled=target != NEW,
                key=mount.key,
                on_change=mount.changed,
            ),
        )
        if button.button(
            f"Add {numbers.counted(len(files), 'file')}" if files else "Add files",
            type="primary",
            key="primary_add",
            disabled=not files,
            width="stretch",
        ):
            with plain_errors(), st.spinner("Reading the files"):
                report = session.workbench().add_documents(
                    (name.strip() or "My documents") if target == NEW else target,
                    [(file.name, file.getvalue()) for file in files],
                )
                st.session_state["upload_report"] = report
                st.session_state["uploads"] = st.session_state.get("uploads", 0) + 1
                state.remember("corpus", report.corpus_id)
                for name_of_upload in ("upload_into", "upload_name"):
                    state.remember(name_of_upload, None)
                state.remember("doc", report.added[0].id if len(report.added) == 1 else None)
                st.rerun()


def upload_outcome(report: UploadReport) -> None:
    total = len(report.added) + len(report.duplicates) + len(report.refusals)
    with st.container(border=True, gap="xsmall", key="upload_outcome"):
        if report.refusals:
            summary = f"{len(report.refusals):,} of {numbers.counted(total, 'file')} could not be read."
            summary += " The others are in." if report.added else ""
        elif report.added:
            summary = f"{numbers.counted(len(report.added), 'document')} added."
        else:
            summary = "Nothing new: these documents are already in the corpus."
        draw(html('<div class="lr-big"><b style="font-size:1rem">{}</b></div>', summary))
        rows = [("not read", refusal.name, words(refusal.reason)) for refusal in report.refusals]
        rows += [("duplicate", refusal.name, words(refusal.reason)) for refusal in report.duplicates]
        rows += [("note", document.name, note) for document in report.added for note in document.notes]
        if rows:
            draw(markup.tagged_list(rows))
        with st.container(horizontal=True, gap="small"):
            if report.added and st.button("Build an index", icon=":material/construction:", key="build_after_upload"):
                to_build(report.corpus_id)
            if st.button("Close", type="tertiary", key="close_outcome"):
                del st.session_state["upload_report"]
                st.rerun()


def to_build(corpus_id: str) -> None:
    state.remember("corpus", corpus_id)
    state.remember("job", None)
    st.switch_page(page_path("build"))


def cards(corpora: list[CorpusSummary], chosen: str) -> None:
    built = [index.corpus_id for index in session.index_list().indexes]
    building = {job.corpus_id for job in session.running_jobs()}
    with st.grid(4, min_column_width=240, gap="small"):
        for corpus in corpora:
            with st.container(border=True, gap="xsmall", key=f"card_{corpus.id}", height="stretch"):
                tags = ["Sample"] if corpus.sample else ["Your own"]
                tags += ["Shown below"] if corpus.id == chosen else []
                tagged = joined(html('<span class="lr-tag">{}</span>', tag) for tag in tags)
                facts = f"{numbers.counted(corpus.documents, 'document')}, {numbers.tokens(corpus.tokens)} tokens, "
                facts += indexes_of(built.count(corpus.id), building=corpus.id in building)
                about = corpus.description or f"Added {numbers.day(corpus.created)}."
                draw(
                    html(
                        '<div class="lr-card"><div class="n">{}</div><div class="tags">{}</div>'
                        '<div class="f">{}</div><div class="d">{}</div></div>',
                        corpus.name,
                        tagged,
                        facts,
                        about,
                    )
                )
                with st.container(horizontal=True, gap="small"):
                    st.button("Documents", key=f"open_{corpus.id}", on_click=open_corpus, args=(corpus.id,))
                    if st.button("Build", key=f"build_{corpus.id}", type="tertiary", icon=":material/construction:"):
                        to_build(corpus.id)


def indexes_of(n: int, *, building: bool) -> str:
    """How many indexes a corpus has, and whether one is on its way."""
    if not building:
        return numbers.counted(n, "index", "indexes")
    return f"{numbers.counted(n, 'index', 'indexes')} and another being built" if n else "its index is being built"


def open_corpus(corpus_id: str) -> None:
    state.remember("corpus", corpus_id)
    state.remember("doc", None)
    reveal.ask_for("documents")  # which stand two screens below the card on a phone


def documents_panel(corpus: CorpusSummary) -> None:
    reveal.show("documents")
    workbench = session.workbench()
    documents = workbench.documents(corpus.id)
    with st.container(horizontal=True, vertical_alignment="center"):
        with st.container(width="stretch"):
            draw(
                html(
                    '<div class="lr-head">'
                    '<span class="t" style="font-size:1.15rem" role="heading" aria-level="2" tabindex="-1">'
                    '{}</span><span class="s">{}, '
                    "{:,} tokens</span></div>",
                    corpus.name,
                    numbers.counted(len(documents), "document"),
                    corpus.tokens,
                )
            )
        if st.button("Build index", icon=":material/construction:", key="build_open"):
            to_build(corpus.id)
        if not corpus.sample and st.button("Delete corpus", type="tertiary", icon=":material/delete:"):
            confirm_delete(corpus)
    update_notice.behind(corpus)
    if not documents:
        draw(html('<div class="lr-empty">No documents yet. Drop files above, or open a sample corpus.</div>'))
        return
    left, right = st.columns([6, 5], gap="medium")
    with left:
        wanted = st.text_input("Find", placeholder="Find a document", icon=":material/search:", key="find_document")
        shown = [
            document for document in documents if wanted.casefold() in f"{document.title} {document.name}".casefold()
        ]
        if not shown:
            markup.note(f"No document has that in its title or name. All {len(documents):,} are listed.")
        document_table(shown or documents, corpus)
        refused_files(corpus)
    chosen = next((document for document in documents if document.id == state.recall("doc")), documents[0])
    with right, st.container(border=True, height=560, key="preview", gap="xsmall"):
        if not corpus.sample and st.button("Remove document", type="tertiary", icon=":material/delete:"):
            confirm_remove(corpus, chosen)
        with plain_errors():
            passage_view.preview(chosen.title, facts_of(chosen), workbench.document(corpus.id, chosen.id).text)


def refused_files(corpus: CorpusSummary) -> None:
    """Files that could not be read, in a fold; nothing when all could."""
    refused = session.workbench().refused_files(corpus.id)
    if not refused:
        return
    with st.expander(f"Could not be read: {numbers.counted(len(refused), 'file')}", icon=":material/error:"):
        draw(markup.tagged_list(("not read", refusal.name, words(refusal.reason)) for refusal in refused))


def facts_of(document: DocumentSummary) -> str:
    pages = f"{numbers.counted(document.pages, 'page')}, " if document.pages else ""
    notes = f". {' '.join(document.notes)}" if document.notes else ""
    return f"{isolated(document.name)}, {pages}{document.characters:,} characters{notes}"


def document_table(documents: list[DocumentSummary], corpus: CorpusSummary) -> None:
    table = pd.DataFrame(
        {
            "Title": [document.title for document in documents],
            "Type": [document.media_type for document in documents],
            "Characters": [document.characters for document in documents],
            "Tokens": [document.tokens for document in documents],
            "Language": ["–" if document.language == "und" else document.language for document in documents],
        }
    )
    key = f"documents_{corpus.id}"

    def picked() -> None:
        cells = st.session_state[key]["selection"]["cells"]
        if cells:
            state.remember("doc", documents[int(cells[0][0])].id)

    draw(html('<div class="lr-small lr-muted">Click a row to read what was parsed.</div>'))
    st.dataframe(
        forms.visible_cells(table),
        hide_index=True,
        key=key,
        on_select=picked,
        selection_mode="single-cell",
        height=forms.table_height(len(documents), 470),
        column_config={
            "Title": st.column_config.TextColumn(width=250),
            "Type": st.column_config.TextColumn(width=75),
            "Language": st.column_config.TextColumn(width=75),
            "Characters": st.column_config.NumberColumn(format="localized", width=85),
            "Tokens": st.column_config.NumberColumn(format="localized", width=75),
        },
    )


@st.dialog("Delete this corpus?")
def confirm_delete(corpus: CorpusSummary) -> None:
    st.text(corpus.name)
    st.write(f"{numbers.counted(corpus.documents, 'document')} will be deleted. Indexes built from them stay.")
    if st.button("Delete corpus", icon=":material/delete:", key="confirm_delete_corpus"):
        with plain_errors():
            session.workbench().delete_corpus(corpus.id)
            state.remember("corpus", None)
            st.session_state.pop("upload_report", None)
            st.rerun()


@st.dialog("Remove this document?")
def confirm_remove(corpus: CorpusSummary, document: DocumentSummary) -> None:
    st.text(visible(document.title))
    st.write(say("library.removed_from_corpus"))
    if st.button("Remove document", icon=":material/delete:", key="confirm_remove_document"):
        with plain_errors():
            session.workbench().remove_document(corpus.id, document.id)
            state.remember("doc", None)
            st.rerun()


def page() -> None:
    enter("library")
    corpora = session.workbench().corpora()
    documents = sum(corpus.documents for corpus in corpora)
    facts = f"{numbers.counted(len(corpora), 'corpus', 'corpora')}, {numbers.counted(documents, 'document')}"
    heading("Library", facts)
    own = any(not corpus.sample for corpus in corpora)
    upload_panel(corpora, expanded=not own and "upload_report" not in st.session_state)
    import_view.panel()
    if "upload_report" in st.session_state:
        upload_outcome(st.session_state["upload_report"])
    for broken in session.workbench().damaged_corpora():
        message(broken.reason, kind="error")
        if st.button("Delete it", key=f"delete_damaged_{broken.id}", icon=":material/delete:"):
            with plain_errors():
                session.workbench().delete_corpus(broken.id)
                st.rerun()  # not after an error, which would be wiped away
    chosen = state.recall("corpus")
    if chosen and all(corpus.id != chosen for corpus in corpora):
        message(f"There is no corpus {chosen} here. Choose another one below.")
        state.remember("corpus", None)
        chosen = ""
    if not corpora:
        draw(html('<div class="lr-empty">No corpus yet. Drop files above.</div>'))
        return
    chosen = chosen or corpora[0].id
    draw(markup.label("Corpora"))
    cards(corpora, chosen)
    st.space("xsmall")
    try:
        with st.container(key="documents"):
            documents_panel(next(corpus for corpus in corpora if corpus.id == chosen))
    except CorpusNotFound as error:
        message(str(error), kind="error")
    state.publish(["index", "corpus", "doc"])


page()
