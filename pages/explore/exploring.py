"""The state shared by all views of Explore: the index, the chosen entity, search, filters and the last question."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from urllib.parse import unquote

import numpy as np
import streamlit as st

from leanrag_core.comparing.as_code import ViewCode
from leanrag_core.figures.blocks import MAX_COLUMNS
from leanrag_core.messages.message import Message
from leanrag_core.queries import browse
from leanrag_core.queries.schema import CONNECTED, MADE_BY, relation_kinds, type_counts
from leanrag_core.queries.schema import Filters as Filters  # exported for the views
from leanrag_core.types.graph import Place
from leanrag_core.types.index import Index
from leanrag_core.types.summary import IndexSummary
from leanrag_core.types.trace import Trace
from leanrag_core.views import schema
from pages.common import session, state
from pages.common.messages import say


def kind_title(kind: str) -> str:
    """Return the kind in words: from the catalog for a kind that rules give, any other as the documents have it."""
    return schema.kind_title(kind, say)


FILTER_NAMES = ("types", "kinds", "layers", "strength", "made", "connected")  # in the URL
_MAX_STRENGTH = 1_000_000
_GONE = "lr_gone_entity"


@dataclass(frozen=True)
class Exploring:
    """What a view draws. place: the chosen entity. focus: the opened block. search: the text of the search field.
    trace: of the last question on this index. go: chooses the entity with that id, and opens a block that shows it if
    the open one does not. For callbacks, since the inspector has already drawn the previous choice."""

    index: Index
    summary: IndexSummary
    place: Place
    focus: Place
    filters: Filters
    search: str
    trace: Trace | None
    go: Callable[[str], None]

    def mask(self, number: int) -> np.ndarray:
        """Return (n,) bool: which entities of that layer pass the filters."""
        return _mask(self.summary, self.filters, number, "entities")

    def relation_mask(self, number: int) -> np.ndarray:
        """Return (r,) bool: which relations of that layer pass the filters."""
        return _mask(self.summary, self.filters, number, "relations")


@dataclass(frozen=True)
class View:
    """The description of a view, which its module holds as VIEW.

    name: in the URL. show: draws it. place: its position among the views, from the left. title: None for the message
    explore.view.NAME. wide: it takes the full width, without the inspector. aside: draws the view's own choice to the
    right of the list of views. url: names of its own choices in links. code: what it shows besides entities, as code.
    """

    name: str
    show: Callable[[Exploring], None]
    place: int
    title: Message | None = None
    wide: bool = False
    aside: Callable[[Exploring], None] | None = None
    url: tuple[str, ...] = ()
    code: Callable[[Exploring], ViewCode] = lambda exploring: ViewCode()


@st.cache_resource(max_entries=64, show_spinner=False, hash_funcs=session.BY_INDEX)
def _mask(summary: IndexSummary, filters: Filters, number: int, rows: str) -> np.ndarray:
    """Return which entities, (n,) bool, or which relations, (r,) bool, of the layer pass. rows: of which."""
    index = session.open_index(summary)
    return filters.allows(index, number) if rows == "entities" else filters.allows_relations(index, number)


@st.cache_resource(max_entries=16, show_spinner=False, hash_funcs=session.BY_INDEX)
def types_of(summary: IndexSummary) -> tuple[tuple[str, int], ...]:
    """Return the types of the index's base entities with their counts, the most frequent first."""
    return type_counts(session.open_index(summary))


@st.cache_resource(max_entries=16, show_spinner=False, hash_funcs=session.BY_INDEX)
def kinds_of(summary: IndexSummary) -> tuple[tuple[str, int], ...]:
    """Return the kinds of the index's base relations with their counts, the most frequent first."""
    known = relation_kinds(session.open_index(summary).layers[0])
    return tuple(zip(known.names, known.counts, strict=True))


def choose(entity_id: str) -> None:
    """Choose that entity instead of a relation or a chunk."""
    st.session_state.pop(_GONE, None)
    state.remember("node", entity_id)
    state.forget("rel", "chunk")


def exploring(index: Index, summary: IndexSummary) -> Exploring:
    """Return the remembered state of the views of this index."""
    place = _place("node", index)
    focus = _place("focus", index) if state.recall("focus") else _block_showing(index, place)

    def go(entity_id: str) -> None:
        choose(entity_id)
        chosen = browse.locate(index, entity_id)
        if chosen is not None and focus not in _shown_from(index, chosen):
            shown_in = _block_showing(index, chosen)
            state.remember("focus", name_and_id(index, shown_in)[1])

    return Exploring(
        index=index,
        summary=summary,
        place=place,
        focus=focus,
        filters=_filters(index, summary),
        search=state.recall("find").strip(),
        trace=session.last_trace_of(summary.id),
        go=go,
    )


def gone_entity() -> bool:
    """Tell whether the index lacks the entity that a link named, and none was chosen since."""
    return bool(st.session_state.get(_GONE))


def name_and_id(index: Index, place: Place) -> tuple[str, str]:
    """Return the name and the id of the entity at that place."""
    cells = index.layers[place.layer].entities.slice(place.row, 1)
    return cells["name"][0].as_py(), cells["id"][0].as_py()


def _block_showing(index: Index, place: Place) -> Place:
    """Return the highest block whose picture still includes that entity; for a base entity at least its parent."""
    return _shown_from(index, place)[-1]


def _shown_from(index: Index, place: Place) -> list[Place]:
    """Return the blocks whose picture includes that entity, the lowest first."""
    return [place, *(Place(*above) for above in index.ancestors(place.layer, place.row))][:MAX_COLUMNS]


def _place(name: str, index: Index) -> Place:
    """Return the place of the remembered entity; the root if there is none, or if the index does not have it."""
    entity_id = state.recall(name)
    place = browse.locate(index, entity_id) if entity_id else None
    if place is None:
        if entity_id:
            state.forget(name)
            if name == "node":
                st.session_state[_GONE] = True
        return Place(len(index.layers) - 1, 0)
    return place


def _filters(index: Index, summary: IndexSummary) -> Filters:
    def known(name: str, counts: Callable[[IndexSummary], tuple[tuple[str, int], ...]]) -> frozenset[str]:
        if not state.recall(name):
            return frozenset()
        names = {value for value, _ in counts(summary)}
        return frozenset(state.fitting(name, frozenset(), split, lambda chosen: set(chosen) <= names))

    return Filters(
        types=known("types", types_of),
        kinds=known("kinds", kinds_of),
        layers=frozenset(state.fitting("layers", frozenset(), layer_numbers, lambda chosen: _all_in(chosen, index))),
        least_strength=state.fitting("strength", 0, int, lambda value: 0 <= value <= _MAX_STRENGTH),
        made_by=state.fitting("made", "", str, lambda value: value in MADE_BY),
        connected=state.fitting("connected", "", str, lambda value: value in CONNECTED),
    )


def split(text: str) -> frozenset[str]:
    """Split a list in the URL into its values."""
    return frozenset(unquote(value) for value in text.split("|") if value)


def joined(values: Iterable[str]) -> str:
    """Join the values to a list in the URL; separators inside a value are escaped."""
    return "|".join(value.replace("%", "%25").replace("|", "%7C") for value in values)


def layer_numbers(text: str) -> frozenset[int]:
    """Read the layers of a list in the URL. Raises ValueError for anything but numbers."""
    return frozenset(int(part) for part in split(text))


def _all_in(layers: frozenset[int], index: Index) -> bool:
    return all(0 <= number < len(index.layers) for number in layers)
