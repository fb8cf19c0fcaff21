"""Small pieces of HTML that pages share."""

from collections.abc import Iterable, Sequence
from typing import Literal

import streamlit as st
from markupsafe import Markup

from leanrag_core.figures.passages import Piece
from leanrag_core.messages.catalog import space_between
from leanrag_core.types.graph import Entity
from leanrag_core.types.index import Index
from pages.common.html import NOTHING, draw, html, joined
from pages.common.messages import say


def label(title: str, note: str = "") -> Markup:
    """Return a small heading with a muted note."""
    return html('<div class="lr-label">{}{}</div>', title, html("<span>{}</span>", note) if note else NOTHING)


def view_heading(title: str) -> Markup:
    """Return the heading of a view of an answer."""
    return html('<div class="lr-why-head" role="heading" aria-level="2">{}</div>', title)


def lead(strong: str, rest: str, look: str) -> Markup:
    """Return a line that begins in bold. look: its CSS classes."""
    return html('<div class="{}"><b>{}</b>{}{}</div>', look, strong, space_between(strong, rest), rest)


def name(text: str) -> Markup:
    """Return a name inside a sentence, isolated so that its text direction does not reorder the words around it."""
    return html("<bdi>{}</bdi>", text)


def layer_tag(number: int) -> Markup:
    """Return "L2" in the layer's colour."""
    template = (
        '<span class="lr-layer" style="background:var(--lr-l{step});color:var(--lr-l{step}k)" '
        'title="{title}">L{number}</span>'
    )
    return html(template, step=min(number, 4), number=number, title=say("markup.layer", layer=number))


def chain(index: Index, entity: Entity) -> Markup:
    """Return the ancestors of the entity, from its parent up to the root."""
    above = [
        layer_tag(layer) + name(index.layers[layer].entities["name"][row].as_py())
        for layer, row in index.ancestors(entity.layer, entity.row)
    ]
    return html('<div class="lr-side">{}</div>', joined(above, "<br>")) if above else NOTHING


def mark(name: str, colour: str) -> Markup:
    """Return a citation mark such as C1. colour: its section's, a name in the palette."""
    return html('<span class="lr-mark" style="--c:var(--lr-{})">{}</span>', colour, name)


def paint(colour: str) -> str:
    """Return the style properties that paint in a colour of the palette and in a light shade of it."""
    return f"--c:var(--lr-{colour});--f:var(--lr-{colour}fill,color-mix(in srgb,var(--lr-{colour}) 10%,var(--lr-bg)))"


def pieces(parts: Iterable[Piece]) -> Markup:
    """Return text with the names of seeds and the cited sentence marked."""
    return joined(_marked(part) for part in parts)


def _marked(part: Piece) -> Markup:
    text = html("<mark>{}</mark>" if "name" in part.marks else "{}", part.text)
    return html('<span class="cited">{}</span>', text) if "cited" in part.marks else text


def dots(count: int, n_all: int, counted: str) -> Markup:
    """Return filled dots for `count`, hollow ones up to `n_all`, and the count in words."""
    if n_all > 20:
        return html("{}", counted)
    drawn = html("<s></s>") * count + html('<s class="o"></s>') * (n_all - count)
    return html('<span class="lr-dots" role="img" aria-label="{0}">{1}</span> {0}', counted, drawn)


def facts_table(head: Sequence[str], rows: Iterable[Sequence[str]], *, caption: str = "") -> Markup:
    """Return a small table: text left, figures right."""
    named = html(' aria-label="{}"', caption) if caption else NOTHING
    header = _row("th", head) if any(head) else NOTHING
    body = joined(_row("td", row) for row in rows)
    return html('<div class="lr-scroll"><table class="lr-facts"{}>{}{}</table></div>', named, header, body)


def wide_table(kind: str, caption: str, head: Markup, lines: Iterable[Markup]) -> Markup:
    """Return a table that scrolls sideways when it is too wide. kind: its CSS classes. head: the cells of its head."""
    template = (
        '<div class="lr-scroll {0}" role="region" tabindex="0" aria-label="{1}">'
        '<table aria-label="{1}"><tr>{2}</tr>{3}</table></div>'
    )
    return html(template, kind, caption, head, joined(lines))


def _row(tag: Literal["th", "td"], cells: Iterable[str], *, own_direction: bool = False) -> Markup:
    """Return a row of a table. own_direction: each cell follows the direction of its text."""
    direction = html(' dir="auto"') if own_direction else NOTHING
    return html("<tr>{}</tr>", joined(html("<{0}{1}>{2}</{0}>", tag, direction, cell) for cell in cells))


def tagged_list(rows: Iterable[tuple[str, str, str]]) -> Markup:
    """Return lines with a tag, a name and a note."""
    lines = joined(html('<div><span class="lr-tag">{}</span> <b>{}</b> <span>{}</span></div>', *row) for row in rows)
    return html('<div class="lr-files">{}</div>', lines)


def tiles(rows: Iterable[tuple[str, str, str]]) -> Markup:
    """Return numbers in boxes, each with title, value and note."""
    tile = (
        '<div class="lr-tile"><div class="lr-label" style="margin:0">{}</div>'
        '<div class="v">{}</div><div class="lr-small lr-muted">{}</div></div>'
    )
    return html('<div class="lr-tiles">{}</div>', joined(html(tile, *row) for row in rows))


def progress_bar(name: str, share: float, look: str = "") -> Markup:
    """Return a bar that is filled to that share. name: for screen readers. look: a CSS class of style.css."""
    template = (
        '<div class="lr-prog{}" role="progressbar" aria-label="{}" aria-valuenow="{:.0f}" aria-valuemin="0" '
        'aria-valuemax="100"><u style="width:{:.1f}%"></u></div>'
    )
    return html(template, f" {look}" if look else "", name, 100 * share, 100 * share)


def muted(text: str) -> Markup:
    """Return a muted line of small text."""
    return html('<div class="lr-small lr-muted">{}</div>', text)


def hint(text: str) -> Markup:
    """Return the help below a field."""
    return html('<div class="lr-hint">{}</div>', text)


def note(text: str) -> None:
    """Draw a muted line below its subject. Streamlit's own captions have too little contrast in the light theme."""
    draw(html('<div class="lr-small lr-muted" dir="auto">{}</div>', text))


def code(text: str, *, height: int, language: str | None = None, key: str | None = None) -> None:
    """Draw text verbatim in a box that scrolls. Unlike the box of st.code this one can take the focus, so that it
    scrolls by keyboard."""
    with st.container(height=height, border=False, key=key):
        st.code(text, language=language, wrap_lines=True)


def reading_table(head: Sequence[str], rows: Iterable[Sequence[str]], *, caption: str) -> Markup:
    """Return a table whose cells can be read in full: text wraps, and long cells scroll."""
    template = '<div class="lr-reads" role="region" tabindex="0" aria-label="{}"><table>{}{}</table></div>'
    return html(template, caption, _row("th", head), joined(_row("td", row, own_direction=True) for row in rows))


def block(title: str, body: Markup, note: str = "") -> None:
    """Draw a small heading and its body together."""
    draw(label(title, note), body)
