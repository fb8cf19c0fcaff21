"""A chunk as a card, and the chunk highlighted in its document, in a drawer."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import streamlit as st
from markupsafe import Markup

from leanrag_core.figures import passages
from leanrag_core.messages.catalog import joined_sentences
from leanrag_core.messages.message import message as message_of
from leanrag_core.types.index import Index
from leanrag_core.types.trace import TraceItem
from pages.common import buttons, markup, reveal
from pages.common.component import component
from pages.common.html import NOTHING, draw, html
from pages.common.messages import say, words
from pages.common.scope import PAGE, Scope

_SCRIPT = Path(__file__).with_name("passage.js")
_FRAME = '<div class="lr-text"></div>'
_WHOLE = 60_000  # characters; of a longer document only the surroundings of the chunk are shown


def card(
    passage: TraceItem,
    text: Sequence[passages.Piece],
    *,
    mark: Markup | None,
    seed_dots: Markup | None,
    on_open: Callable[[], None],
    key: str,
    cited: str = "",
) -> None:
    """Draw a passage of a trace: mark, document, part of its text, the reason why it is here, its place.

    seed_dots: shows how many items occur in it; without it the trace's reason is shown. cited: says in words whether an
    answer cites it.
    """
    source = passage.source
    assert source is not None
    why = seed_dots or (html("{}", words(passage.reason)) if passage.reason else NOTHING)
    place = markup.name(source.document)
    if source.page:
        place += html("{}{}", say("ask.comma"), say("passage.page", page=source.page))
    elif passage.row is not None:
        place += html("{}{}", say("ask.comma"), say("passage.chunk", n=passage.row + 1))
    with st.container(border=True, gap="xsmall"):
        draw(
            html(
                '<div class="lr-chunk"><div class="top">{}<b>{}</b></div><p>{}</p><div class="f">{}{}{}</div></div>',
                mark or html('<span class="lr-tag">{}</span>', say("passage.left_out")),
                passage.name,
                markup.pieces(text),
                why + html("<br>") if why else NOTHING,
                place,
                html('<br><span class="lr-cited">{}</span>', cited) if cited else NOTHING,
            )
        )
        buttons.tertiary(say("passage.open"), "article", key, on_open)


@dataclass(frozen=True)
class Passage:
    """A chunk to show in its document. names: to underline; cited: sentences with a darker tint."""

    row: int
    names: tuple[str, ...] = ()
    cited: tuple[str, ...] = ()
    mark: Markup | None = None


def open_passage(scope: Scope, index: Index, requested: Passage) -> None:
    """Draw the chunk in its document: the chunk tinted, names of seeds underlined, cited sentences darker."""
    row, names, cited, mark = requested.row, requested.names, requested.cited, requested.mark
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
    under = html(": {}", markup.name(heading)) if heading else NOTHING
    template = '<div class="lr-small lr-muted">{}{}<br>{}</div>'
    draw(
        html('<div class="lr-name">{}{}</div>', mark + " " if mark else NOTHING, markup.name(document.title)),
        html(template, markup.name(document.name), under, say("ask.comma").join(facts)),
    )
    whole = False
    if len(document.text) <= _WHOLE and (chunk.start > 500 or chunk.end + 1200 < len(document.text)):
        whole = st.toggle(say("passage.whole_document"), key=scope.name(f"whole_{chunk.id}"))
    around = {"before": len(document.text), "after": len(document.text)} if whole else {}
    passage = passages.passage(document.text, chunk.start, chunk.end, names=names, cited=cited, **around)
    signs = {sign for piece in passage.pieces for sign in piece.marks}
    legend = [say("passage.tinted")]
    legend += [say(f"passage.{kind}") for kind, sign in (("darker", "cited"), ("underlined", "name")) if sign in signs]
    draw(markup.muted(joined_sentences(legend)))
    pieces = [{"text": piece.text, "marks": sorted(piece.marks)} for piece in passage.pieces]
    shown = {"pieces": pieces, "cut_before": passage.cut_before, "cut_after": passage.cut_after}
    component(_SCRIPT, _FRAME)(data=shown, key=scope.name(f"passage_{chunk.id}_{whole}"))
    reveal.take_focus(scope)


def drawer(index: Index, *, scope: Scope = PAGE) -> None:
    """Open the passage that was requested in this scope; the last call of a page that shows chunks."""
    requested = reveal.take_drawer(scope, Passage)
    if requested is not None and 0 <= requested.row < index.chunks.num_rows:
        dialog()(scope, index, requested)


def dialog(on_dismiss: Callable[[], None] | None = None) -> Callable[[Scope, Index, Passage], None]:
    """Return open_passage() in a drawer. on_dismiss: called when a person closes it."""
    open_dialog: Callable[[Scope, Index, Passage], None] = st.dialog(
        say("passage.title"),
        width="medium",
        position="right",
        icon=":material/article:",
        on_dismiss=on_dismiss or "ignore",
    )(open_passage)
    return open_dialog


def ask_for(
    row: int, *, names: Sequence[str] = (), cited: Sequence[str] = (), mark: Markup | None = None, scope: Scope = PAGE
) -> None:
    """Request that the passage is opened at the end of the next run. For callbacks."""
    reveal.ask_for_drawer(scope, Passage(row, tuple(names), tuple(cited), mark))
