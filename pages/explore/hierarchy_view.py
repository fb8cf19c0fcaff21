"""The hierarchy of an index as icicle, treemap or sunburst, or as a table."""

from collections.abc import Callable
from functools import partial

import numpy as np
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
from leanrag_core.queries.hits import hits_of
from leanrag_core.queries.schema import Filters
from leanrag_core.types.graph import Place
from leanrag_core.types.index import Index
from pages.common import choices, state
from pages.common.messages import message, say
from pages.explore import blocks, searching, table_view
from pages.explore.exploring import Exploring, choose, name_and_id

_SHAPES: dict[str, Callable[..., Picture]] = {"icicle": icicle, "treemap": treemap, "sunburst": sunburst}
_SKIP = "skip"  # children of the focus that were paged past


def shape_choice() -> None:
    """Icicle, treemap or sunburst."""
    titles = {name: say(f"explore.shape.{name}") for name in _SHAPES}
    choices.segments("shape", say("explore.shape"), titles, label_visibility="collapsed")


def show(exploring: Exploring) -> None:
    """The picture, or the table that is in its place."""
    if state.recall("table"):
        table_view.show(exploring)
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
    # The chosen entity takes part in the folding only where it would not be drawn: choosing what is drawn already
    # changes no block.
    if not is_drawn(picture, exploring.place):
        tree = shown_tree(index, below, {exploring.place, *lit}, hits)
        picture = _SHAPES[shape](tree, focus, skip=skip)
    measure = None
    if by in (SIZE, TYPE, CONNECTIVITY):
        measure = _measure(exploring.summary.id, exploring.summary.created, by, index)
    blocks.show(
        tree,
        picture,
        measure,
        blocks.Marks(exploring.search, frozenset(row.id for row in matches.rows)),
        blocks.Reports(
            picked=exploring.go,
            opened=partial(_open, exploring, picture),
            up=partial(_up, exploring, focus),
            as_table=partial(state.remember, "table", "1"),
        ),
        crumbs=_crumbs(index, focus),
        name=by,
        key="blocks",
    )


def _colour_choice(*, has_question: bool) -> str:
    names = [LAYER, SIZE, TYPE, CONNECTIVITY]
    names = [QUESTION, *names] if has_question else names
    titles = {name: say("explore.by.chosen", name=say(f"explore.by.{name}")) for name in names}
    return choices.dropdown("by", say("explore.by"), titles, label_visibility="collapsed")


def _focus(exploring: Exploring, tree: ShownTree) -> Place:
    """The opened block; the root where the filters leave nothing of that."""
    focus, top = exploring.focus, len(exploring.index.layers) - 1
    return focus if tree.below[focus.layer][focus.row] else Place(top, 0)


def _crumbs(index: Index, focus: Place) -> list[tuple[int, str, str]]:
    trail = [*(Place(*above) for above in reversed(index.ancestors(focus.layer, focus.row))), focus]
    named = [(place.layer, name_and_id(index, place)) for place in trail]
    return [(layer, id_, name) for layer, (name, id_) in named]


def _open(exploring: Exploring, picture: Picture, block_id: str) -> None:
    """Opens a block. A folded one opens its parent; where that is open already, its next children are shown."""
    parent, focus = folded_parent(block_id), picture.blocks[0].id
    if parent == focus:
        shown = sum(block.parent == focus and not block.folded for block in picture.blocks)
        n_children = sum(block.folded or 1 for block in picture.blocks if block.parent == focus)
        skipped = state.fitting(_SKIP, 0, int, lambda count: count >= 0) + max(1, shown)
        state.remember(_SKIP, skipped if skipped < n_children else None)
        return
    opened = parent or block_id
    state.remember("focus", opened)
    state.remember(_SKIP, None)
    if not parent:
        choose(opened)


def _up(exploring: Exploring, focus: Place) -> None:
    above = exploring.index.ancestors(focus.layer, focus.row)
    if above:
        id_ = name_and_id(exploring.index, Place(*above[0]))[1]
        state.remember("focus", id_)
        state.remember(_SKIP, None)
        choose(id_)


def _below(exploring: Exploring) -> tuple[np.ndarray, ...]:
    if not exploring.filters.active:
        return exploring.index.leaf_counts
    return _filtered(exploring.summary.id, exploring.summary.created, exploring.filters, exploring)


@st.cache_resource(max_entries=16, show_spinner=False)
def _filtered(index_id: str, created: str, filters: Filters, _exploring: Exploring) -> tuple[np.ndarray, ...]:
    masks = [_exploring.mask(layer.number) for layer in _exploring.index.layers]
    return shown_below(_exploring.index, masks)


@st.cache_resource(max_entries=16, show_spinner=False)
def _measure(index_id: str, created: str, name: str, _index: Index) -> Measure:
    return measure(_index, name)
