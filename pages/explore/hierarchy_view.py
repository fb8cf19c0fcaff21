"""The hierarchy of an index as icicle, treemap or sunburst, or as a table."""

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np
import pandas as pd
import streamlit as st

from leanrag_core.figures.block_pictures import icicle, sunburst, treemap
from leanrag_core.figures.blocks import (
    CONNECTIVITY,
    LAYER,
    QUESTION,
    SIZE,
    TYPE,
    Measure,
    Picture,
    ShownTree,
    folded_parent,
    is_drawn,
    measure,
    shown_below,
    shown_tree,
)
from leanrag_core.queries import browse, entity_search
from leanrag_core.queries.hits import hits_of
from leanrag_core.queries.schema import Filters
from leanrag_core.types.graph import Place
from leanrag_core.types.index import Index
from leanrag_core.types.summary import IndexSummary
from pages.common import buttons, choices, forms, session, state
from pages.common.html import draw, html
from pages.common.messages import message, say
from pages.explore import blocks, searching
from pages.explore.exploring import Exploring, View, choose, name_and_id

_LISTED = 200


def show_table(exploring: Exploring) -> None:
    """Draw the first entities and their total number; a click on a row chooses the entity."""
    buttons.tertiary(say("figure.as_picture"), "", "as_picture", state.remember, "table", "")
    masks = {layer.number: exploring.mask(layer.number) for layer in exploring.index.layers}
    layer = _layer_choice(exploring)
    matches = entity_search.find_entities(
        exploring.index, exploring.search, layer=layer, limit=_LISTED, masks=masks if exploring.filters.active else None
    )
    if not matches.rows:
        message(_nothing(exploring))
        return
    shown, total = len(matches.rows), matches.total
    note = say("explore.click_a_row")
    if exploring.search:
        note = say("explore.matches", n=total)
    if total > shown:
        note = say("explore.first_matches" if exploring.search else "explore.first_rows", shown=shown, total=total)
    _table(exploring, matches.rows, note)


def _layer_choice(exploring: Exploring) -> int | None:
    titles = {"all": say("explore.all_layers")}
    titles |= {f"L{layer.number}": f"L{layer.number}" for layer in reversed(exploring.index.layers)}
    chosen = choices.pills("layer", say("explore.layer"), titles, label_visibility="collapsed")
    return None if chosen == "all" else int(chosen[1:])


def _nothing(exploring: Exploring) -> str:
    if not exploring.search or exploring.filters.active:
        return say("explore.nothing_passes")
    return searching.no_match(exploring)


def pick_row(
    table: pd.DataFrame,
    ids: Sequence[str],
    *,
    key: str,
    on_pick: Callable[[str], object],
    note: str = "",
    height: int | None = None,
) -> None:
    """Draw the table below the note. on_pick: called with the id of a clicked row. height: px, of a table of many rows;
    by default that of its rows."""
    if note:
        draw(html('<div class="lr-small lr-muted lr-listed">{}</div>', note))
    counts = table.select_dtypes("number").columns
    forms.clickable_table(
        table,
        lambda row: on_pick(ids[row]),
        key=key,
        placeholder="–",
        height=height or forms.table_height(len(ids), 400),
        column_config={name: st.column_config.NumberColumn(format="localized") for name in counts},
    )


def _table(exploring: Exploring, rows: tuple[browse.EntityRow, ...], note: str) -> None:
    table = pd.DataFrame(
        {
            say("explore.column.layer"): [f"L{row.layer}" for row in rows],
            say("explore.column.name"): [row.name for row in rows],
            say("explore.column.type"): [row.type if row.layer == 0 else say("explore.aggregated") for row in rows],
            say("explore.column.below"): pd.array([row.below if row.layer else None for row in rows], dtype="Int64"),
            say("explore.column.relations"): [row.relations for row in rows],
            say("explore.column.chunks"): [row.chunks for row in rows],
        }
    )
    pick_row(table, [row.id for row in rows], key="entities", on_pick=exploring.go, note=note, height=580)


_SHAPES: dict[str, Callable[..., Picture]] = {"icicle": icicle, "treemap": treemap, "sunburst": sunburst}
_SKIP = "skip"  # number of the focus's children on earlier pages


def shape_choice(exploring: Exploring) -> None:
    """Draw the choice of icicle, treemap or sunburst."""
    titles = {name: say(f"explore.shape.{name}") for name in _SHAPES}
    choices.segments("shape", say("explore.shape"), titles, label_visibility="collapsed")


def show(exploring: Exploring) -> None:
    """Draw the picture, or the table instead."""
    if state.recall("table"):
        show_table(exploring)
        return
    index = exploring.index
    hits = hits_of(index, exploring.trace) if exploring.trace else {}
    with st.container(key="colour_by", width=200, gap=None):
        blocks.show_picked(name_and_id(index, exploring.place)[1])
        by = _colour_choice(has_question=bool(hits))
    below = _below(exploring)
    if not below[-1].any():
        message(say("explore.nothing_passes"))
        return
    matches = searching.matches_of(exploring)
    lit = {Place(row.layer, row.row) for row in matches.rows}
    tree = shown_tree(index, below, lit, hits)
    focus = _focus(exploring, tree)
    shape = state.fitting("shape", "icicle", str, lambda name: name in _SHAPES)
    skip = state.fitting(_SKIP, 0, int, lambda count: count >= 0)
    picture = _SHAPES[shape](tree, focus, skip=skip)
    # The chosen entity affects the folding only if it would not be drawn otherwise: choosing one that is drawn already
    # changes no block.
    if not is_drawn(picture, exploring.place):
        tree = shown_tree(index, below, {exploring.place, *lit}, hits)
        picture = _SHAPES[shape](tree, focus, skip=skip)
    measure = None
    if by in (SIZE, TYPE, CONNECTIVITY):
        measure = _measure(exploring.summary, by)
    blocks.show(
        tree,
        picture,
        measure,
        blocks.Marks(exploring.search, frozenset(row.id for row in matches.rows)),
        blocks.Reports(
            picked=exploring.go,
            opened=partial(_open, picture),
            up=partial(_up, exploring, focus),
            as_table=partial(state.remember, "table", "1"),
        ),
        crumbs=_crumbs(index, focus),
        name=by,
    )


def _colour_choice(*, has_question: bool) -> str:
    names = [LAYER, SIZE, TYPE, CONNECTIVITY]
    names = [QUESTION, *names] if has_question else names
    titles = {name: say("explore.by.chosen", name=say(f"explore.by.{name}")) for name in names}
    return choices.dropdown("by", say("explore.by"), titles, label_visibility="collapsed")


def _focus(exploring: Exploring, tree: ShownTree) -> Place:
    """Return the opened block; the root if the filters leave nothing of it."""
    focus, top = exploring.focus, len(exploring.index.layers) - 1
    return focus if tree.below[focus.layer][focus.row] else Place(top, 0)


def _crumbs(index: Index, focus: Place) -> list[tuple[int, str, str]]:
    trail = [*(Place(*above) for above in reversed(index.ancestors(focus.layer, focus.row))), focus]
    named = [(place.layer, name_and_id(index, place)) for place in trail]
    return [(layer, id_, name) for layer, (name, id_) in named]


def _open(picture: Picture, block_id: str) -> None:
    """Open a block. A folded block opens its parent; if that is open already, its next children are shown."""
    parent, focus = folded_parent(block_id), picture.blocks[0].id
    if parent == focus:
        shown = sum(block.parent == focus and not block.folded for block in picture.blocks)
        n_children = sum(block.folded or 1 for block in picture.blocks if block.parent == focus)
        skipped = state.fitting(_SKIP, 0, int, lambda count: count >= 0) + max(1, shown)
        state.remember(_SKIP, skipped if skipped < n_children else None)
        return
    opened = parent or block_id
    state.remember("focus", opened)
    state.forget(_SKIP)
    if not parent:
        choose(opened)


def _up(exploring: Exploring, focus: Place) -> None:
    above = exploring.index.ancestors(focus.layer, focus.row)
    if above:
        id_ = name_and_id(exploring.index, Place(*above[0]))[1]
        state.remember("focus", id_)
        state.forget(_SKIP)
        choose(id_)


def _below(exploring: Exploring) -> tuple[np.ndarray, ...]:
    """Return for each layer, (n,) int64, how many base entities inside each node are shown, see shown_below()."""
    if not exploring.filters.active:
        return exploring.index.leaf_counts
    return _filtered(exploring.summary, exploring.filters, exploring)


@st.cache_resource(max_entries=16, show_spinner=False, hash_funcs=session.BY_INDEX)
def _filtered(summary: IndexSummary, filters: Filters, _exploring: Exploring) -> tuple[np.ndarray, ...]:
    """Return shown_below() with filters: for each layer (n,) int64."""
    masks = [_exploring.mask(layer.number) for layer in _exploring.index.layers]
    return shown_below(_exploring.index, masks)


@st.cache_resource(max_entries=16, show_spinner=False, hash_funcs=session.BY_INDEX)
def _measure(summary: IndexSummary, name: str) -> Measure:
    return measure(session.open_index(summary), name)


VIEW = View("hierarchy", show, place=10, aside=shape_choice, url=("shape", "by", "table"))
