"""Manual tags and dates: of the document beside the list, or of all listed documents."""

from collections.abc import Sequence

import streamlit as st

from leanrag_core.errors import LeanRAGError
from leanrag_core.types.summary import CorpusSummary, DocumentSummary
from leanrag_core.types.visible import visible
from pages.common import forms, markup, session
from pages.common.html import draw
from pages.common.messages import message, say

_ONE, _LISTED = "one", "listed"
_SAVED = "lr_described"


def button(
    corpus: CorpusSummary,
    chosen: DocumentSummary,
    listed: Sequence[DocumentSummary],
    described: Sequence[DocumentSummary],
) -> None:
    """Draw a button that opens both fields. listed: the documents in the list; described: those of the corpus with
    tags, which are offered."""
    with st.popover(say("library.describe"), icon=":material/sell:", type="tertiary", key="describe"):
        draw(markup.muted(say("library.describe.hint")))
        titles = {_ONE: forms.plain(chosen.title), _LISTED: say("library.describe.listed", n=len(listed))}
        target = st.radio(
            say("library.describe.of"), [_ONE, _LISTED], format_func=titles.__getitem__, key="describe_of"
        )
        documents = [chosen] if target == _ONE else listed
        single = chosen if target == _ONE else None
        _form(corpus, documents, single, sorted({tag for document in described for tag in document.tags}))
    saved = st.session_state.pop(_SAVED, 0)
    if saved:
        message(say("library.described", n=saved), kind="good")


def _form(
    corpus: CorpusSummary, documents: Sequence[DocumentSummary], single: DocumentSummary | None, tags: Sequence[str]
) -> None:
    """Draw the fields. single: the document whose tags and date they show; None for several, whose fields are empty."""
    key = f"describe_{single.id}" if single is not None else "describe_listed"
    old_tags = list(single.tags) if single is not None else []
    with st.form(f"{key}_form", border=False):
        chosen = st.multiselect(
            say("within.tags"),
            sorted({*tags, *old_tags}),
            default=old_tags,
            format_func=visible,
            accept_new_options=True,
            key=f"{key}_tags",
            placeholder=say("library.describe.tags_hint"),
            select_all=False,
        )
        label, value = say("library.column.date"), (single.date if single is not None else "")
        date = st.text_input(label, value=value, key=f"{key}_date", placeholder="2024-05-31", max_chars=10)
        if single is None:
            draw(markup.muted(say("library.describe.left_empty")))
        if st.form_submit_button(say("library.describe.save"), icon=":material/save:", key=f"{key}_save"):
            _save(corpus, documents, chosen, date.strip(), several=single is None)


def _save(
    corpus: CorpusSummary, documents: Sequence[DocumentSummary], tags: Sequence[str], date: str, *, several: bool
) -> None:
    """Save the fields. For several documents an empty field changes nothing, and tags are added to existing ones."""
    ids = [document.id for document in documents]
    corpora = session.workbench().corpora
    try:
        if several:
            corpora.describe(corpus.id, ids, more_tags=tags, date=date or None)
        else:
            corpora.describe(corpus.id, ids, tags=tags, date=date)
    except LeanRAGError as error:
        message(error, kind="error")
        return
    st.session_state[_SAVED] = len(ids)
    st.rerun()
