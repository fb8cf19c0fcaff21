"""The beginning of a parsed document with its chunks drawn in it; a slider in the browser chooses their size."""

from pathlib import Path
from typing import Any

import streamlit as st

from leanrag_core.indexing.chunk_preview import SHOWN, SIZES, chunk_previews
from leanrag_core.indexing.parsing.running_heads import head_key
from leanrag_core.types.config import IndexConfig
from leanrag_core.types.corpus import Document, RunningHead
from leanrag_core.types.summary import CorpusSummary, DocumentSummary
from leanrag_core.types.visible import visible
from pages.common import forms, session, state
from pages.common.component import component
from pages.common.frame import plain_errors
from pages.common.html import draw, html
from pages.common.messages import language, say
from pages.library.adding_view import to_build

_SCRIPT = Path(__file__).with_name("chunk_preview.js")
_FRAME = '<div class="lr-cuts"></div>'
_KEY, _BUILDS, _CHANGED = "chunk_preview", "lr_preview_builds", "lr_preview_changed"
_LISTED = 50  # running heads that are not in the beginning that is shown


def show(corpus: CorpusSummary, document: DocumentSummary, facts: str) -> None:
    """Title, facts and the beginning of the document, cut as the form of Build would cut it at first."""
    draw(
        html(
            '<div class="lr-name" dir="auto">{}</div><div class="lr-small lr-muted" dir="auto">{}</div>',
            document.title,
            facts,
        )
    )
    if st.session_state.pop(_BUILDS, False):
        to_build(corpus.id)
    if st.session_state.pop(_CHANGED, False):
        st.rerun()  # the list beside it has the document's new size
    size = forms.field_value(IndexConfig, "chunk_tokens", "b_chunk_tokens")
    nearest = min(range(len(SIZES)), key=lambda place: abs(SIZES[place] - size))
    drawn = _drawn(corpus.id, document.id, document.tokens, language())

    def used() -> None:
        place = st.session_state[_KEY].get("used")
        if isinstance(place, int) and 0 <= place < len(SIZES):
            state.remember("b_chunk_tokens", SIZES[place])
            state.remember("b_overlap_tokens", SIZES[place] // 8)
            st.session_state[_BUILDS] = True

    def changed() -> None:
        text = st.session_state[_KEY].get("head")
        if isinstance(text, str):
            with plain_errors():
                state.remember("doc", session.workbench().corpora.put_back(corpus.id, document.id, text))
                st.session_state[_CHANGED] = True

    component(_SCRIPT, _FRAME)(
        data={**drawn, "title": visible(document.title), "chosen": nearest, "fixed": corpus.sample},
        key=_KEY,
        on_used_change=used,
        on_head_change=changed,
    )


@st.cache_data(max_entries=32, show_spinner=False)
def _drawn(corpus_id: str, document_id: str, n_tokens: int, of_language: str) -> dict[str, Any]:
    """What the script draws. of_language: the language of its sentences, for which they are kept."""
    document = session.workbench().corpora.document(corpus_id, document_id)
    text = document.text[:SHOWN]
    places = _places(text)
    return {
        "text": visible(text),
        "more": say("library.more_characters", n=len(document.text) - SHOWN) if len(document.text) > SHOWN else "",
        "sizes": [
            {
                "spans": [[places[span.start], places[span.end]] for span in preview.spans],
                "said": say(
                    "library.chunks_of",
                    tokens=preview.max_tokens,
                    overlap=preview.overlap_tokens,
                    n=preview.whole,
                ),
            }
            for preview in chunk_previews(document, n_tokens)
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
    }


def _head(head: RunningHead, places: list[int]) -> dict[str, Any]:
    return {
        "text": visible(head.text),
        "key": head.text,
        "span": [places[head.start], places[head.end]],
    }


def _later(document: Document, n_places: int) -> list[dict[str, Any]]:
    """Running heads whose like is not in the beginning that is shown, each once."""
    known = {head_key(head.text) for head in document.running_heads if head.end < n_places}
    later = {head_key(head.text): head for head in reversed(document.running_heads)}
    listed = [head for key, head in reversed(later.items()) if key not in known][:_LISTED]
    return [{"text": visible(head.text), "key": head.text, "in_text": head.in_text} for head in listed]


def _places(text: str) -> list[int]:
    """Where each character of the text, and its end, is in what a script of the browser sees, which counts in UTF-16
    and has marks for characters that are not seen."""
    places, place = [0], 0
    if visible(text) == text:
        for character in text:
            place += 2 if character > "\uffff" else 1
            places.append(place)
        return places
    return [len(visible(text[:end]).encode("utf-16-le", "surrogatepass")) // 2 for end in range(len(text) + 1)]
