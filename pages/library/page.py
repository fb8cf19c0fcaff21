"""Library: corpora as cards, their documents, new documents, and graphs of other systems."""

import streamlit as st

from leanrag_core.errors import CorpusNotFound
from leanrag_core.figures import numbers
from leanrag_core.figures.drawing import isolated
from leanrag_core.types.summary import CorpusSummary, IndexSummary
from pages.common import buttons, deletion, dialogs, markup, paging, reveal, session, state
from pages.common.frame import enter, heading, page_button
from pages.common.html import draw, html, joined
from pages.common.messages import language, message, say
from pages.library import adding_view, documents_view, import_view
from pages.library.adding_view import to_build

_CARDS = 24  # a page
_FOLLOWED_SECONDS = 2.0  # between two checks of a running upload
_COLUMNS = 4  # where there is room


def cards(corpora: list[CorpusSummary], chosen: str) -> None:
    """Draw the cards. chosen: id of the corpus whose documents stand below."""
    newest: dict[str, IndexSummary] = {}
    n_indexes: dict[str, int] = {}
    for index in session.index_list().indexes:
        newest.setdefault(index.corpus_id, index)
        n_indexes[index.corpus_id] = n_indexes.get(index.corpus_id, 0) + 1
    building = {job.corpus_id for job in session.running_jobs()}
    shown = paging.rows_of_page(corpora, _CARDS, key="cards_page")
    rows = "rows" if len(shown) > _COLUMNS else "row"  # the height is reserved from the beginning
    with st.container(key=f"library_{rows}"), st.grid(_COLUMNS, min_column_width=240, gap="small"):
        for corpus in shown:
            with st.container(border=True, gap="xsmall", key=f"card_{corpus.id}", height="stretch"):
                _about(corpus, n_indexes.get(corpus.id, 0), is_shown=corpus.id == chosen, built=corpus.id in building)
                _buttons(corpus, newest.get(corpus.id))


def _about(corpus: CorpusSummary, n_indexes: int, *, is_shown: bool, built: bool) -> None:
    tags = [say("library.tag.sample") if corpus.sample else say("library.tag.own")]
    tags += [say("library.tag.shown")] if is_shown else []
    tags += [say("library.tag.filling")] if corpus.arriving is not None else []
    counts = [say("count.documents", n=corpus.documents), say("library.tokens", tokens=numbers.tokens(corpus.tokens))]
    facts = [*(counts if corpus.documents or corpus.arriving is None else ()), _indexes(n_indexes, built=built)]
    draw(
        html(
            '<div class="lr-card"><div class="n" dir="auto">{}</div><div class="tags">{}</div>'
            '<div class="f">{}</div><div class="d" dir="auto">{}</div></div>',
            corpus.name,
            joined(html('<span class="lr-tag">{}</span>', tag) for tag in tags),
            say("ask.comma").join(facts),
            corpus.description or say("library.added_on", time=numbers.day(corpus.created, language())),
        )
    )


def _indexes(n: int, *, built: bool) -> str:
    """Return how many indexes a corpus has, and whether another one is being built."""
    if not built:
        return say("library.indexes", n=n)
    return say("library.indexes_and_one_built", n=n) if n else say("library.first_is_built")


def _buttons(corpus: CorpusSummary, index: IndexSummary | None) -> None:
    """Draw the next steps: with an index its questions and hierarchy, without one the build."""
    with st.container(horizontal=True, gap="small", vertical_alignment="center"):
        buttons.secondary(say("library.documents"), "", f"open_{corpus.id}", open_corpus, corpus.id)
        if index is not None:
            for page in ("ask", "explore"):
                label, key, look = say(f"page.{page}"), f"{page}_{corpus.id}", buttons.tertiary
                page_button(page, label, "", key, state.remember, "index", index.id, look=look)
        if buttons.tertiary(say("library.build"), "", f"build_{corpus.id}"):
            to_build(corpus.id)


def open_corpus(corpus_id: str) -> None:
    """Show the corpus's documents. For callbacks."""
    state.remember("corpus", corpus_id)
    state.forget("doc", "docs_page")
    reveal.ask_for("documents")  # on a phone the documents are two screens below the card


def _follow(names: dict[str, str]) -> None:
    """Draw how many documents of these corpora were read so far; redraw the page once one of them has documents. names:
    of the corpora, by id."""
    arriving = session.workbench().corpora.arriving()
    if not names.keys() <= arriving.keys():
        dialogs.refresh()
    for id_, name in names.items():
        if id_ not in arriving:
            continue
        so_far = say("library.documents_so_far", n=arriving[id_])
        message(say("library.arriving", name=isolated(name), documents=so_far))


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
        state.forget("corpus")
        chosen = ""
    if not corpora:
        draw(html('<div class="lr-empty">{}</div>', say("library.no_corpus")))
        return
    chosen = chosen or corpora[0].id
    with st.container(key="library_label"):
        draw(markup.label(say("library.corpora")))
    arriving = {corpus.id: corpus.name for corpus in corpora if corpus.arriving is not None}
    if arriving and adding_view.upload_under_way() is None:  # an upload of another session, or from before a reload
        st.fragment(_follow, run_every=_FOLLOWED_SECONDS)(arriving)
    cards(corpora, chosen)
    st.space("xsmall")
    try:
        with st.container(key="documents"):
            documents_view.panel(next(corpus for corpus in corpora if corpus.id == chosen))
    except CorpusNotFound as error:
        message(error, kind="error")
    state.publish(documents_view.URL)


page()
