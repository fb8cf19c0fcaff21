"""The map of a layer's embeddings, coloured by the clusters of a layer above, with the last question and its seeds."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import streamlit as st

from leanrag_core.comparing.as_code import ViewCode
from leanrag_core.figures.embedding_map import MapPlaces, places_of
from leanrag_core.messages.catalog import joined_sentences, sentence
from leanrag_core.queries.entity_search import find_entities
from leanrag_core.queries.map_picture import LayerClusters, MapQuestion, layer_clusters, map_question
from leanrag_core.retrieval.base import score_title
from leanrag_core.types.index import Index
from leanrag_core.types.summary import IndexSummary
from leanrag_core.types.trace import Trace
from leanrag_core.types.visible import visible_values
from leanrag_core.views.map import default_colour, layer_values, map_words, point_values, short_name, units
from pages.ask import asking
from pages.common import buttons, choices, drawing_view, session, state
from pages.common.component import component
from pages.common.frame import colours, page_path
from pages.common.html import draw, html
from pages.common.messages import message, say
from pages.common.scope import PAGE
from pages.explore import inspector
from pages.explore.exploring import Exploring, View

_HERE = Path(__file__).parent
_FRAME = '<div class="lr-map"></div>'
_KEY = "map"
_MATCHES = 20
_ASK = "lr_map_ask"


def show(exploring: Exploring) -> None:
    """Draw the map, and beside it seeds and clusters, or the inspector if an entity is chosen."""
    index = exploring.index
    if st.session_state.pop(_ASK, False) and exploring.trace is not None:
        state.remember("q", exploring.trace.question)
        asking.want(PAGE, exploring.trace.question)
        st.switch_page(page_path("ask"))
    if len(index.layers) < 2:
        message(say("explore.map.one_layer"))
        return
    layers = _layers(index)
    number = int(state.fitting("points", "L0", str, lambda value: value in layers)[1:])
    if not state.recall("node"):
        _map(exploring, number, panel=True)
        return
    left, right = st.columns([69, 31], gap="medium")
    with left:
        _map(exploring, number, panel=False)
    with right:
        label = say("explore.map.back")
        buttons.tertiary(label, "arrow_back", "map_back", state.forget, "node", "rel", "chunk")
        with st.container(border=True, gap="xsmall", key="inspector"):
            inspector.show(exploring)


def _layers(index: Index) -> list[str]:
    """Return the layers that can be mapped, all except the root, whose single point is no map."""
    return [f"L{number}" for number in range(len(index.layers) - 1)]


def points_choice(exploring: Exploring) -> None:
    """Draw the choice of the layer whose entities are mapped."""
    layers = _layers(exploring.index)
    if len(layers) > 1:
        with st.container(horizontal=True, gap="small", vertical_alignment="center", width="content"):
            draw(html('<span class="lr-small lr-muted">{}</span>', say("explore.map.points")))
            titles = {layer: layer for layer in layers}
            choices.pills("points", say("explore.map.points"), titles, default="L0", label_visibility="collapsed")


@st.cache_resource(max_entries=8, show_spinner=False, hash_funcs=session.BY_INDEX)
def places(summary: IndexSummary, number: int) -> MapPlaces:
    """Return a sample of a layer's entities with their positions in the plane."""
    return session.workbench().indexes.map_places(session.open_index(summary), number)


@st.cache_resource(max_entries=32, show_spinner=False, hash_funcs=session.BY_INDEX)
def _clusters(summary: IndexSummary, number: int, above: int, most: int) -> LayerClusters:
    return layer_clusters(session.open_index(summary), number, above, places(summary, number), most)


def cluster_colours() -> list[str]:
    """Return the hues of clusters: the palette's, without the one that is too similar to the seeds' hue."""
    every = colours().clusters
    return [every[0], *every[2:]]


def clusters_above(exploring: Exploring, number: int) -> list[LayerClusters]:
    """Return the clusters of each layer above."""
    most, above = len(cluster_colours()), range(number + 1, len(exploring.index.layers))
    return [_clusters(exploring.summary, number, each, most) for each in above]


def _map(exploring: Exploring, number: int, *, panel: bool) -> None:
    index, layer = exploring.index, exploring.index.layers[number]
    with st.spinner(say("explore.map.placing"), show_time=False):
        shown = places(exploring.summary, number)
    above = clusters_above(exploring, number)
    default = default_colour(above)
    wanted = state.fitting("colour", f"L{default}", str, lambda value: value in {f"L{each.layer}" for each in above})
    question = map_question(index, number, shown, exploring.trace) if exploring.trace is not None else None
    passing = exploring.mask(number)[shown.rows] if exploring.filters.active else None
    note = say(
        "explore.map.sample" if len(shown.rows) < len(layer) else "explore.map.all", n=len(shown.rows), total=len(layer)
    )
    note = passing_note(note, passing)
    data = {
        **point_values(layer, shown),
        "passing": None if passing is None else [int(each) for each in passing],
        "layers": [layer_values(each, say) for each in above],
        "colour": int(wanted[1:]),
        "hues": cluster_colours(),
        "matches": _matches(exploring, number, shown),
        "chosen": _chosen(exploring, number, shown),
        "question": _question_values(question),
        "panel": panel,
        "asked": exploring.trace is not None,
        "words": _words(number, exploring.trace),
        "tools": drawing_view.tools(
            say("explore.map.title", name=exploring.summary.name), note, keys=say("explore.map.keys")
        ),
    }
    component(_HERE / "map.js", _FRAME, parts=("layers", "figure_tools", "map_panel", "map_names"))(
        data=visible_values(data),
        key=f"{_KEY}_{panel}",
        on_acted_change=lambda: _act(
            exploring, number, shown, json.loads(st.session_state[f"{_KEY}_{panel}"].get("acted") or "{}")
        ),
    )


def passing_note(note: str, passing: np.ndarray | None) -> str:
    """Return the note on a picture's points, with how many pass the filters. passing: (n,) bool, None without a
    filter."""
    if passing is None:
        return note
    return joined_sentences([note, say("explore.filter.passing", n=int(passing.sum()), of=len(passing))])


def _matches(exploring: Exploring, number: int, shown: MapPlaces) -> list[dict[str, Any]]:
    """Return the positions of the entities that match the search, also of those outside the sample."""
    if not exploring.search:
        return []
    rows = find_entities(exploring.index, exploring.search, layer=number, limit=_MATCHES).rows
    at = places_of(exploring.index.layers[number].vectors, [row.row for row in rows], shown)
    return [
        {"id": row.id, "name": short_name(row.name), "at": units(place)} for row, place in zip(rows, at, strict=True)
    ]


def _chosen(exploring: Exploring, number: int, shown: MapPlaces) -> dict[str, Any] | None:
    place = exploring.place
    if place.layer != number or not state.recall("node"):
        return None
    layer = exploring.index.layers[number]
    [at] = places_of(layer.vectors, [place.row], shown)
    return {"name": short_name(layer.entity_cells.value("name", place.row)), "at": units(at)}


def _question_values(question: MapQuestion | None) -> dict[str, Any] | None:
    if question is None:
        return None
    seeds = [
        {
            "id": seed.id,
            "name": short_name(seed.name),
            "rank": seed.rank,
            "score": None if seed.score is None else f"{seed.score:.2f}",
            "share": max(0.0, min(1.0, seed.score or 0.0)),
            "at": units(np.array(seed.place)),
            "cut": not seed.in_context,
        }
        for seed in question.seeds
    ]
    n_cut = sum(not seed.in_context for seed in question.seeds)
    counts = say("explore.map.seed_counts", n=len(seeds), inside=len(seeds) - n_cut, cut=n_cut)
    return {"text": question.text, "at": units(np.array(question.place)), "seeds": seeds, "counts": counts}


def _words(number: int, trace: Trace | None) -> dict[str, str]:
    return map_words(say) | {"layer": f"L{number}", "score": sentence(score_title(trace.strategy if trace else ""))}


def _act(exploring: Exploring, number: int, shown: MapPlaces, action: dict[str, Any]) -> None:
    """Carry out the action of a click on the map."""
    do, value = str(action.get("do", "")), str(action.get("value", ""))
    if do == "point" and value.isdecimal() and int(value) < len(shown.rows):
        row = int(shown.rows[int(value)])
        exploring.go(exploring.index.layers[number].entity_cells.value("id", row))
    elif do == "go":
        exploring.go(value)
    elif do == "colour":
        state.remember("colour", f"L{value}")
    elif do == "ask":
        st.session_state[_ASK] = True


def _code(exploring: Exploring) -> ViewCode:
    """Return code for the positions of the points."""
    number = state.fitting("points", "L0", str, lambda value: value in _layers(exploring.index))[1:]
    lines = (f"shown = bench.indexes.map_places(index, {number})", "print(len(shown.rows), shown.places[:5])")
    return ViewCode(lines=lines)


VIEW = View("map", show, place=40, wide=True, aside=points_choice, code=_code, url=("layer", "points", "colour"))
