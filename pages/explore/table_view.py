"""Entities as a table: those that a search or the filters leave."""

import pandas as pd
import streamlit as st

from leanrag_core.queries import browse, entity_search
from pages.common import choices, state
from pages.common.messages import message, say
from pages.explore.exploring import Exploring
from pages.explore.picked_rows import pick_row

_LISTED = 200


def show(exploring: Exploring) -> None:
    """The first entities, and how many there are; a click on a row chooses."""
    st.button(say("figure.as_picture"), type="tertiary", key="as_picture", on_click=state.remember, args=("table", ""))
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
    wanted = exploring.search
    if not wanted or exploring.filters.active:
        return say("explore.nothing_passes")
    near = entity_search.nearest_names(exploring.index, wanted)
    if near:
        return say("explore.no_name_but", wanted=wanted, names=say("ask.comma").join(near))
    return say("explore.no_name", wanted=wanted)


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
