"""A chunk as a card, and the same chunk highlighted in its document, in a drawer."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import streamlit as st

from leanrag_core.figures import numbers, passages
from leanrag_core.messages.message import message as message_of
from leanrag_core.types.index import Index
from leanrag_core.types.trace import TraceItem
from leanrag_core.types.visible import escape
from pages._shared.common import drawers, markup
from pages._shared.common.html import draw
from pages._shared.common.messages import say, words
from pages._shared.common.scope import PAGE, Scope

_HERE = Path(__file__).resolve().parent
_WHOLE = 60_000  # characters; a longer document is shown around the chunk only


def card(
    passage: TraceItem, *, mark: str, names: Sequence[str], n_seeds: int, on_open: Callable[[], None], key: str
) -> None:
    """A passage of the trace: mark, document, the stretch with most seeds, how many seeds occur in it, its place."""
    source = passage.source
    assert source is not None
    text = markup.pieces(passages.excerpt(passage.text, names))
    why = markup.seed_dots(len(source.items), n_seeds) if n_seeds else escape(_reason(passage))
    held = f"{why}<br>" if why else ""
    place = markup.name(source.document)
    if source.page or passage.row is not None:
        code = "passage.page" if source.page else "passage.chunk"
        place += f", {escape(say(code, page=source.page, n=(passage.row or 0) + 1))}"
    shown = markup.mark(mark) if mark else f'<span class="lr-tag">{escape(say("passage.left_out"))}</span>'
    with st.container(border=True, gap="xsmall"):
        st.html(
            f'<div class="lr-chunk"><div class="top">{shown}<b>{escape(passage.name)}</b></div>'
            f'<p>{text}</p><div class="f">{held}{place}</div></div>'
        )
        st.button(say("passage.open"), key=key, type="tertiary", icon=":material/article:", on_click=on_open)


def _reason(passage: TraceItem) -> str:
    return words(passage.reason) if passage.reason else ""


def short_card(index: Index, row: int, names: Sequence[str], *, on_open: Callable[[], None], key: str) -> None:
    """A chunk that an entity or relation rests on."""
    chunk = index.chunk(row)
    document = index.documents.slice(index.chunks["document"][row].as_py(), 1)
    text = markup.pieces(passages.excerpt(chunk.text, names, longest=260))
    st.html(
        f'<div class="lr-chunk"><div class="top"><b>{escape(document["title"][0].as_py())}</b>'
        f'<span class="lr-muted">{escape(say("passage.chunk", n=row + 1))}</span></div><p>{text}</p></div>'
    )
    st.button(say("passage.open"), key=key, type="tertiary", icon=":material/article:", on_click=on_open)


@dataclass(frozen=True)
class Passage:
    """A chunk that is to be shown in its document. names: to underline; cited: sentences to tint darker."""

    row: int
    names: tuple[str, ...] = ()
    cited: tuple[str, ...] = ()
    mark: str = ""


def open_passage(scope: Scope, index: Index, asked: Passage) -> None:
    """The chunk in its document: chunk tinted, names of seeds underlined, the cited sentence darker."""
    row, names, cited, mark = asked.row, asked.names, asked.cited, asked.mark
    chunk = index.chunk(row)
    document = index.document(index.chunks["document"][row].as_py())
    page = next((n for n, span in enumerate(document.pages, start=1) if span.start <= chunk.start < span.end), None)
    heading = next((each.title for each in reversed(document.headings) if each.start <= chunk.start), "")
    facts = [
        say("passage.chunk_of", n=row + 1, chunks=index.chunks.num_rows),
        words(message_of("count.tokens", n=chunk.tokens)),
        *([say("passage.page", page=page)] if page else []),
        say("passage.characters", start=chunk.start, end=chunk.end, characters=len(document.text)),
    ]
    under = f": {markup.name(heading)}" if heading else ""
    st.html(
        f'<div class="lr-name">{markup.mark(mark) + " " if mark else ""}{markup.name(document.title)}</div>'
        f'<div class="lr-small lr-muted">{markup.name(document.name)}{under}<br>'
        f"{escape(', '.join(facts))}</div>"
    )
    whole = False
    if len(document.text) <= _WHOLE and (chunk.start > 500 or chunk.end + 1200 < len(document.text)):
        whole = st.toggle(say("passage.whole_document"), key=scope.name(f"whole_{chunk.id}"))
    around = {"before": len(document.text), "after": len(document.text)} if whole else {}
    found = passages.passage(document.text, chunk.start, chunk.end, names=names, cited=cited, **around)
    marks = {mark for piece in found.pieces for mark in piece.marks}
    legend = [say("passage.tinted")]
    legend += [say(f"passage.{kind}") for kind, sign in (("darker", "cited"), ("underlined", "name")) if sign in marks]
    draw(markup.muted(" ".join(legend)))
    pieces = [{"text": piece.text, "marks": sorted(piece.marks)} for piece in found.pieces]
    data = {"pieces": pieces, "cut_before": found.cut_before, "cut_after": found.cut_after}
    _passage_component()(data=data, key=scope.name(f"passage_{chunk.id}_{whole}"))


@st.cache_resource(show_spinner=False)
def _passage_component() -> Callable[..., Any]:
    return st.components.v2.component(
        "lr_passage",
        html='<div class="lr-text"></div>',
        js=(_HERE / "passage.js").read_text(encoding="utf-8"),
        isolate_styles=False,
    )


def drawer(index: Index, *, scope: Scope = PAGE) -> None:
    """Opens the passage that was asked for in this scope; the last call of a page that shows chunks."""
    asked = drawers.take(scope, Passage)
    if asked is not None and 0 <= asked.row < index.chunks.num_rows:
        dialog = st.dialog(say("passage.title"), width="medium", position="right", icon=":material/article:")
        dialog(open_passage)(scope, index, asked)


def ask_for(
    row: int, *, names: Sequence[str] = (), cited: Sequence[str] = (), mark: str = "", scope: Scope = PAGE
) -> None:
    """The passage opens at the end of the next run. For callbacks."""
    drawers.ask_for(scope, Passage(row, tuple(names), tuple(cited), mark))


def preview(title: str, facts: str, text: str) -> None:
    """The beginning of a parsed document."""
    shown = text[:6000]
    more = f"\n\n… {numbers.counted(len(text) - len(shown), 'more character')}" if len(text) > len(shown) else ""
    st.html(
        f'<div class="lr-name">{escape(title)}</div><div class="lr-small lr-muted">{escape(facts)}</div>'
        f'<div class="lr-text" dir="auto" tabindex="0" role="region" aria-label="{escape(title)}" '
        f'style="margin-top:.6rem">{escape(shown)}<span class="lr-edge">{escape(more)}</span></div>'
    )
