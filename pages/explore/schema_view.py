"""The schema as a view of Explore: types and the relations between them; choosing one filters all views."""

from pathlib import Path

import streamlit as st

from leanrag_core.comparing.as_code import ViewCode
from leanrag_core.figures import numbers
from leanrag_core.messages.catalog import joined_sentences
from leanrag_core.queries.schema import Filters, Schema, schema_of
from leanrag_core.types.summary import IndexSummary
from leanrag_core.types.visible import visible_values
from leanrag_core.views.schema import schema_values
from pages.common import drawing_view, session, state
from pages.common.component import component
from pages.common.messages import message, say
from pages.explore.exploring import Exploring, View, joined, kinds_of

_SCRIPT = Path(__file__).resolve().with_name("schema_graph.js")
_FRAME = (
    '<div class="lr-schema lr-layers"><div class="lr-schema-left"><div class="lr-schema-figure"></div>'
    '<div class="lr-schema-legend"></div></div><div class="lr-schema-table"></div></div>'
)
_KEY = "schema_graph"
_SIDE_BY_SIDE = "co-occurrence"


def show(exploring: Exploring) -> None:
    """Draw the types and the kinds of their relations; a click on either filters by it, a second click removes the
    filter."""
    schema = _schema(exploring)
    if not schema.types:
        message(say("explore.schema.empty"))
        return
    title = say("explore.figure", what=say("explore.view.schema"), name=exploring.summary.name)
    values = schema_values(schema, say) | {
        "chosen": sorted(exploring.filters.types),
        "chosen_kinds": sorted(exploring.filters.kinds),
        "tools": drawing_view.tools(title, _note(exploring, schema), keys=say("explore.schema.keys")),
    }

    def picked() -> None:
        names = st.session_state[_KEY].get("picked")
        if names is not None:
            _choose(
                "types", {str(name) for name in names} & {each.name for each in schema.types}, exploring.filters.types
            )

    def picked_kind() -> None:
        name = st.session_state[_KEY].get("kind")
        if name is not None:
            _choose("kinds", {str(name)}, exploring.filters.kinds)

    component(_SCRIPT, _FRAME, parts=("layers", "figure_tools", "schema_lines"))(
        data=visible_values(values), key=_KEY, on_picked_change=picked, on_kind_change=picked_kind
    )


def _choose(name: str, values: set[str], before: frozenset[str]) -> None:
    """Filter by exactly these types or kinds; remove the filter if they were chosen already."""
    state.remember(name, None if values == before else joined(sorted(values)))


def _note(exploring: Exploring, schema: Schema) -> str:
    has_kinds = any(pair.n_kinds for pair in schema.pairs)
    notes = [say("explore.schema.note") if has_kinds else say("explore.schema.note_without_kinds")]
    side_by_side = dict(kinds_of(exploring.summary)).get(_SIDE_BY_SIDE, 0)
    if side_by_side:
        share = numbers.share(side_by_side / exploring.index.layers[0].relations.num_rows)
        notes.append(say("explore.schema.side_by_side", share=share))
    if len(schema.types) == 1:
        notes.append(say("explore.schema.one_type"))
    return joined_sentences(notes)


def _schema(exploring: Exploring) -> Schema:
    filters = Filters(least_strength=exploring.filters.least_strength, made_by=exploring.filters.made_by)
    return _kept(exploring.summary, filters)


@st.cache_resource(max_entries=16, show_spinner=False, hash_funcs=session.BY_INDEX)
def _kept(summary: IndexSummary, filters: Filters) -> Schema:
    index = session.open_index(summary)
    return schema_of(index, filters.allows_relations(index, 0) if filters.active else None)


def _code(exploring: Exploring) -> ViewCode:
    """Return code for the types and the relations between them."""
    lines = (
        "schema = schema_of(index)",
        "for pair in schema.pairs[:10]:",
        "    print(pair.first, pair.second, pair.count, pair.kinds)",
    )
    return ViewCode(("from leanrag_core.queries.schema import schema_of",), lines)


VIEW = View("schema", show, place=30, wide=True, code=_code)
