"""The search field of Explore: matches are highlighted in the view and listed below the field."""

from pathlib import Path

import streamlit as st

from leanrag_core.queries.browse import EntityRow
from leanrag_core.queries.entity_search import EntityMatches, best_matches, nearest_names
from leanrag_core.queries.schema import Filters
from leanrag_core.types.summary import IndexSummary
from leanrag_core.types.visible import visible_values
from pages.common import session, state
from pages.common.component import component, report
from pages.common.messages import language, say
from pages.explore.exploring import Exploring

_SCRIPT = Path(__file__).with_name("search.js")
_FRAME = '<div class="lr-search"></div>'
_LIT = 24  # most matches that views highlight; more could not all be drawn
_LISTED = 8


def matches_of(exploring: Exploring) -> EntityMatches:
    """Return the first matches of the search that pass the filters, and their number."""
    if not exploring.search:
        return EntityMatches((), 0)
    return _matches(exploring.summary, exploring.search, exploring.filters, exploring)


@st.cache_resource(max_entries=64, show_spinner=False, hash_funcs=session.BY_INDEX)
def _matches(summary: IndexSummary, search: str, filters: Filters, _exploring: Exploring) -> EntityMatches:
    layers = _exploring.index.layers
    masks = {layer.number: _exploring.mask(layer.number) for layer in layers} if filters.active else None
    return best_matches(_exploring.index, search, limit=_LIT, masks=masks)


def field(exploring: Exploring) -> None:
    """Draw the search field; its text is remembered as `find`, and opening a listed match chooses it."""
    key, matches = "search", matches_of(exploring)

    def typed() -> None:
        written = st.session_state[key].get("typed")
        if written is not None:
            state.remember("find", str(written).removeprefix("="))

    data = {
        "find": exploring.search,
        "matches": [_listed(row) for row in matches.rows[:_LISTED]],
        "total": f"{matches.total:,}" if exploring.search else "",
        "foot": _foot(exploring, matches),
        "language": language(),
        "words": {
            "label": say("explore.find"),
            "placeholder": say("explore.find_entity"),
            "clear": say("explore.search.clear"),
            "keys": say("explore.search.keys"),
        },
    }
    component(_SCRIPT, _FRAME)(
        data=visible_values(data),
        key=key,
        width=212,
        height="content",
        on_typed_change=typed,
        on_picked_change=report(key, "picked", exploring.go),
    )


def _listed(row: EntityRow) -> dict[str, object]:
    side = say("explore.block.entities", n=row.below) if row.layer else row.type
    return {"id": row.id, "layer": row.layer, "name": row.name, "side": side}


def no_match(exploring: Exploring) -> str:
    """Return in words that no name matches the search, and which names are near it if nothing is filtered."""
    near = [] if exploring.filters.active else nearest_names(exploring.index, exploring.search)
    if near:
        return say("explore.no_name_but", wanted=exploring.search, names=say("ask.comma").join(near))
    return say("explore.no_name", wanted=exploring.search)


def _foot(exploring: Exploring, matches: EntityMatches) -> str:
    if not exploring.search:
        return ""
    if not matches.total:
        return no_match(exploring)
    shown = len(matches.rows)
    if shown < matches.total:
        return say("explore.search.first_lit", shown=shown, total=matches.total)
    total = sum(len(layer) for layer in exploring.index.layers)
    return say("explore.search.lit", n=shown, total=total)
