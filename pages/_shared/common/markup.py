"""Small pieces of HTML. Every value from a document or a model passes through `escape` here."""

from collections.abc import Iterable, Sequence

import streamlit as st

from leanrag_core.figures import numbers
from leanrag_core.figures.changes import Changes, Difference
from leanrag_core.figures.direction import isolated
from leanrag_core.figures.palette import SECTIONS
from leanrag_core.figures.passages import Piece
from leanrag_core.types.graph import Entity
from leanrag_core.types.index import Index
from leanrag_core.types.trace import Context
from leanrag_core.types.visible import escape

LEGEND = (
    ("seed", "Seed, with rank"),
    ("path", "On the path"),
    ("lca", "LCA"),
    ("tree", "Tree link"),
    ("inter", "Inter-cluster relation"),
    ("base", "Base relation"),
    ("later", "Not yet reached"),
)
_LISTED = 4  # names of one kind in "What changed"


def label(title: str, note: str = "") -> str:
    """A small heading with a muted note."""
    return f'<div class="lr-label">{escape(title)}{f"<span>{escape(note)}</span>" if note else ""}</div>'


def name(text: str) -> str:
    """A name in a sentence: what stands around it keeps its order, whatever the direction of the name."""
    return f"<bdi>{escape(text)}</bdi>"


def layer_tag(number: int) -> str:
    """ "L2" in the layer's colour."""
    step = min(number, 4)
    return (
        f'<span class="lr-layer" style="background:var(--lr-l{step});color:var(--lr-l{step}k)" '
        f'title="Layer {number}">L{number}</span>'
    )


def chain(index: Index, entity: Entity) -> str:
    """What the entity belongs to, from its parent up to the root."""
    above = [
        f"{layer_tag(layer)}{name(index.layers[layer].entities['name'][row].as_py())}"
        for layer, row in index.ancestors(entity.layer, entity.row)
    ]
    return f'<div class="lr-side">{"<br>".join(above)}</div>' if above else ""


def mark(name: str) -> str:
    """A citation mark such as C1."""
    return f'<span class="lr-mark {escape(name[:1].lower())}">{escape(name)}</span>'


def legend() -> str:
    """What the signs of the layered graph mean, in fixed order."""
    entries = "".join(f'<span><i class="lr-mk {sign}"></i>{text}</span>' for sign, text in LEGEND)
    return f'<div class="lr-legend">{entries}</div>'


def pieces(parts: Iterable[Piece]) -> str:
    """Text with the names of seeds marked."""
    return "".join(f"<mark>{escape(one.text)}</mark>" if "name" in one.marks else escape(one.text) for one in parts)


def seed_dots(count: int, of: int) -> str:
    """Filled dots for the seeds in a chunk, hollow ones for the others, and the count in words."""
    words = f"{count} of {numbers.counted(of, 'seed')}"
    if of > 20:
        return words
    dots = "<s></s>" * count + '<s class="o"></s>' * (of - count)
    return f'<span class="lr-dots" role="img" aria-label="{words}">{dots}</span> {words}'


def token_bar(context: Context, totals: dict[str, str]) -> str:
    """The context's tokens by section. totals: section name -> "5 of 23, 18 left out"."""
    budget = sum(section.budget for section in context.sections) or 1
    bar, cells = [], []
    for name, letter, title, role in SECTIONS:
        section = context.section(name)
        if section.tokens:
            bar.append(f'<i class="{name}" style="width:{100 * section.tokens / budget:.2f}%"></i>')
        cells.append(
            f'<div><b><i class="sw" style="background:var(--lr-{role})"></i>{letter} &nbsp;{title}</b>'
            f"<span>{section.tokens:,} of {section.budget:,} tokens<br>{escape(totals[name])}</span></div>"
        )
    said = ", ".join(f"{title} {context.section(name).tokens:,}" for name, _, title, _ in SECTIONS)
    note = f"{context.tokens:,} of {budget:,} tokens"
    return (
        label("Context", note)
        + f'<div class="lr-bar" role="img" aria-label="Tokens by section: {said}">{"".join(bar)}</div>'
        + f'<div class="lr-tok">{"".join(cells)}</div>'
    )


def differences(found: Changes) -> str:
    """What entered, with a plus, and what left, struck through, with a minus."""
    lines = []
    for title, part in (
        ("Seed", found.seeds),
        ("Aggregated", found.aggregated),
        ("Relation", found.relations),
        ("Chunk", found.chunks),
    ):
        lines += _change_lines(title, part)
    if found.lca:
        lines += [
            f'<div class="{sign}"><span>LCA: {name(top)}</span></div>'
            for sign, top in (("in", found.lca[1]), ("out", found.lca[0]))
            if top
        ]
    return f'<div class="lr-diff">{"".join(lines)}</div>'


def _change_lines(title: str, part: Difference) -> list[str]:
    lines = []
    for sign, names in (("in", part.entered), ("out", part.left)):
        if names:
            shown = "; ".join(map(isolated, names[:_LISTED]))
            more = f" and {len(names) - _LISTED:,} more" if len(names) > _LISTED else ""
            plural = title if len(names) == 1 or title == "Aggregated" else f"{title}s"
            lines.append(f'<div class="{sign}"><span>{plural}: {escape(shown)}{more}</span></div>')
    return lines


def facts_table(head: Sequence[str], rows: Iterable[Sequence[str]], *, caption: str = "") -> str:
    """A small table: text left, figures right."""
    top = "".join(f"<th>{escape(cell)}</th>" for cell in head)
    body = "".join("<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in rows)
    named = f' aria-label="{escape(caption)}"' if caption else ""
    header = f"<tr>{top}</tr>" if any(head) else ""
    return f'<div class="lr-scroll"><table class="lr-facts"{named}>{header}{body}</table></div>'


def tagged_list(rows: Iterable[tuple[str, str, str]]) -> str:
    """Lines of a tag, a name and what there is to say of it."""
    lines = "".join(
        f'<div><span class="lr-tag">{escape(tag)}</span> <b>{escape(name)}</b> <span>{escape(said)}</span></div>'
        for tag, name, said in rows
    )
    return f'<div class="lr-files">{lines}</div>'


def tiles(rows: Iterable[tuple[str, str, str]]) -> str:
    """Numbers in boxes: title, value, note."""
    shown = "".join(
        f'<div class="lr-tile"><div class="lr-label" style="margin:0">{escape(title)}</div>'
        f'<div class="v">{escape(value)}</div><div class="lr-small lr-muted">{escape(note)}</div></div>'
        for title, value, note in rows
    )
    return f'<div class="lr-tiles">{shown}</div>'


def note(text: str) -> None:
    """A muted line below what it is about. Streamlit's own captions have too little contrast in the light theme."""
    st.html(f'<div class="lr-small lr-muted" dir="auto">{escape(text)}</div>')


def code(text: str, *, height: int, language: str | None = None, key: str | None = None) -> None:
    """Text as it is, in a box that scrolls. The box is not that of st.code, which has nothing in it that takes the
    focus, so that it could not be scrolled by keyboard."""
    with st.container(height=height, border=False, key=key):
        st.code(text, language=language, wrap_lines=True)


def reading_table(head: Sequence[str], rows: Iterable[Sequence[str]], *, caption: str) -> str:
    """A table whose cells can be read whole: text wraps, and what is long scrolls."""
    top = "".join(f"<th>{escape(cell)}</th>" for cell in head)
    body = "".join("<tr>" + "".join(f'<td dir="auto">{escape(cell)}</td>' for cell in row) + "</tr>" for row in rows)
    return (
        f'<div class="lr-reads" role="region" tabindex="0" aria-label="{escape(caption)}">'
        f"<table><tr>{top}</tr>{body}</table></div>"
    )


def block(title: str, body: str, note: str = "") -> None:
    """A small heading and its body, drawn together."""
    st.html(label(title, note) + body)
