"""The controls above every view of Explore: the choice of the view, search, and filters."""

from collections.abc import Iterable, Sequence
from functools import partial
from typing import Any

import streamlit as st

from leanrag_core.comparing.as_code import Code, Explored, code_of_exploring
from leanrag_core.queries.schema import CONNECTED, MADE_BY
from leanrag_core.types.index import Index
from leanrag_core.types.summary import IndexSummary
from pages.common import buttons, choices, code_view, forms, session, state, widgets
from pages.common.messages import say, words
from pages.explore import searching
from pages.explore.exploring import (
    FILTER_NAMES,
    Exploring,
    View,
    joined,
    kind_title,
    kinds_of,
    layer_numbers,
    split,
    types_of,
)
from pages.explore.views import views

_STRENGTHS = (2, 3, 5, 10, 20)
_OFFERED = 40  # most types and kinds offered; all others are rare


def view_choice(exploring: Exploring) -> View:
    """Draw the choice of the view, and to its right the view's own choice, if any; return the view."""
    by_name = {view.name: view for view in views()}
    titles = {name: words(view.title) if view.title else say(f"explore.view.{name}") for name, view in by_name.items()}
    with st.container(horizontal=True, horizontal_alignment="distribute", gap="small", key="explore_views"):
        view = by_name[choices.segments("view", say("explore.view"), titles, label_visibility="collapsed")]
        if view.aside is not None:
            view.aside(exploring)
    return view


def code_button(view: View, exploring: Exploring) -> None:
    """Draw the button that shows code for the view."""
    code_view.button(partial(_code, view, exploring), key="explore_code")


def _code(view: View, exploring: Exploring) -> Code:
    """Return code for the chosen item, the filters and the view."""
    bench = session.workbench()
    chosen_id = state.recall("rel") or state.recall("chunk") or state.recall("node")
    summary = exploring.summary
    explored = Explored(summary.id, summary.path, chosen_id, exploring.filters, view.code(exploring))
    return code_of_exploring(bench.root, explored)


def search_and_filters(exploring: Exploring) -> None:
    """Draw the search field and the filters, in one row if there is room."""
    with st.container(horizontal=True, gap="small", vertical_alignment="center", key="explore_tools"):
        searching.field(exploring)
        filters(exploring.index, exploring.summary)


def filters(index: Index, summary: IndexSummary) -> None:
    """Draw one pill for each filter; a set filter shows it in its pill."""
    types = _offered("types", types_of(summary))
    kinds = _offered("kinds", kinds_of(summary))
    layers = {str(layer.number): f"L{layer.number}" for layer in index.layers}
    with st.container(horizontal=True, gap="xsmall", vertical_alignment="center", key="filters"):
        with _pill("types", _several("explore.filter.types", split(state.recall("types")))):
            _several_choices("types", {name: f"{forms.plain(name)} {n:,}" for name, n in types.items()})
        if kinds:
            with _pill("kinds", _several("explore.filter.kinds", map(kind_title, split(state.recall("kinds"))))):
                _several_choices("kinds", {name: f"{forms.plain(kind_title(name))} {n:,}" for name, n in kinds.items()})
        chosen = state.fitting("layers", frozenset(), layer_numbers, lambda numbers: True)
        with _pill("layers", _several("explore.filter.layers", [f"L{number}" for number in sorted(chosen)])):
            _several_choices("layers", layers)
        strengths = {str(least): f"≥ {least}" for least in _STRENGTHS}
        with _pill("strength", _single("explore.filter.strength", strengths.get(state.recall("strength"), ""))):
            _single_choice("strength", strengths)
        for name, options in (("made", MADE_BY), ("connected", CONNECTED)):
            titles = {option: say(f"explore.filter.{name}.{option}") for option in options}
            with _pill(name, _single(f"explore.filter.{name}", titles.get(state.recall(name), ""))):
                _single_choice(name, titles)
        if any(state.recall(name) for name in FILTER_NAMES):
            buttons.tertiary(say("explore.clear_filters"), "", "clear_filters", clear_filters)


def clear_filters() -> None:
    """Clear all filters."""
    state.forget(*FILTER_NAMES)


def _offered(name: str, counts: Sequence[tuple[str, int]]) -> dict[str, int]:
    """Return the most frequent values with their counts, and the chosen ones."""
    chosen = split(state.recall(name))
    return {value: n for place, (value, n) in enumerate(counts) if place < _OFFERED or value in chosen}


def _several(code: str, values: Iterable[str]) -> str:
    title, chosen = say(code), list(values)
    if not chosen:
        return title
    shown = forms.plain(sorted(chosen)[0]) if len(chosen) == 1 else f"{len(chosen):,}"
    return say("explore.filter.set", title=title, value=shown)


def _single(code: str, value: str) -> str:
    return say("explore.filter.set", title=say(code), value=value) if value else say(code)


def _pill(name: str, label: str) -> Any:
    is_set = "set" if state.recall(name) else "free"
    return st.popover(label, key=f"filter_{is_set}_{name}")


def _several_choices(name: str, titles: dict[str, str]) -> None:
    """Draw a choice of several values; with none chosen all pass."""
    st.caption(say(f"explore.filter.{name}.hint"))
    widgets.remembered(
        name,
        [],
        lambda mount: choices.several_pills(
            say(f"explore.filter.{name}"), titles, mount.value, **mount.wired, label_visibility="collapsed"
        ),
        widgets.Values(
            parse=lambda text: [value for value in titles if value in split(text)],
            allowed=bool,
            write=joined,
            read=lambda chosen: [value for value in titles if value in (chosen or [])],
            form=widgets.labels(titles),
        ),
    )


def _single_choice(name: str, titles: dict[str, str]) -> None:
    """Draw a choice of at most one value; with none chosen all pass."""
    st.caption(say(f"explore.filter.{name}.hint"))
    widgets.remembered(
        name,
        None,
        lambda mount: st.pills(
            say(f"explore.filter.{name}"),
            list(titles),
            default=mount.value,
            format_func=titles.__getitem__,
            **mount.wired,
            label_visibility="collapsed",
        ),
        widgets.Values(allowed=lambda value: value in titles, form=widgets.labels(titles)),
    )
