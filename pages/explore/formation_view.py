"""How the clusters form, layer by layer: entities on the map are drawn together, up to the root."""

from pathlib import Path

import numpy as np
import streamlit as st

from leanrag_core.figures.drawing import isolated
from leanrag_core.figures.embedding_map import MapPlaces
from leanrag_core.messages.catalog import joined_sentences
from leanrag_core.queries.entity_search import find_entities
from leanrag_core.queries.map_picture import FormedLayer, formation
from leanrag_core.types.summary import IndexSummary
from leanrag_core.types.visible import visible_values
from leanrag_core.views.map import short_name, units
from pages.common import drawing_view, session
from pages.common.component import component, report
from pages.common.messages import message, say
from pages.explore import map_view
from pages.explore.exploring import Exploring, View

_SCRIPT = Path(__file__).with_name("formation.js")
_FRAME = '<div class="lr-formation"></div>'
_KEY = "formation"


@st.cache_resource(max_entries=8, show_spinner=False, hash_funcs=session.BY_INDEX)
def _formed(summary: IndexSummary) -> tuple[FormedLayer, ...]:
    return formation(session.open_index(summary), map_view.places(summary, 0))


def show(exploring: Exploring) -> None:
    """Draw the animation with its controls; a sentence describes every frame."""
    index, summary = exploring.index, exploring.summary
    if len(index.layers) < 2:
        message(say("explore.formation.one_layer"))
        return
    with st.spinner(say("explore.map.placing"), show_time=False):
        shown = map_view.places(summary, 0)
        layers = _formed(summary)
    n_base = len(index.layers[0])
    sampled = "explore.formation.sample" if len(shown.rows) < n_base else "explore.map.all"
    passing = exploring.mask(0)[shown.rows] if exploring.filters.active else None
    note = map_view.passing_note(say(sampled, n=len(shown.rows), total=n_base), passing)
    frames = [{"title": say("explore.formation.entities"), "said": say("explore.formation.begin", n=n_base)}]
    frames += [{"title": say("explore.formation.layer", layer=each.layer), "said": _sentence(each)} for each in layers]
    names = ("play", "pause", "back", "next", "scrub", "steps")
    colours = [each for each in layers if each.clusters > 1] or list(layers)
    data = {
        "x": units(shown.places[:, 0]),
        "y": units(shown.places[:, 1]),
        "of": [each.cluster_of.tolist() for each in layers],
        "named": [
            [{"id": cluster.id, "name": short_name(cluster.name), "at": cluster.drawn} for cluster in each.named]
            for each in layers
        ],
        "hueOf": _hues(colours[-1]),
        "passing": None if passing is None else passing.astype(int).tolist(),
        "lit": _lit(exploring, shown),
        "hues": map_view.cluster_colours(),
        "frames": frames,
        "words": {name: say(f"explore.formation.{name}") for name in names},
        "tools": drawing_view.tools(
            say("explore.formation.title", name=summary.name), note, keys=say("explore.formation.keys")
        ),
    }

    component(_SCRIPT, _FRAME, parts=("layers", "figure_tools"))(
        data=visible_values(data), key=_KEY, on_picked_change=report(_KEY, "picked", exploring.go)
    )


def _lit(exploring: Exploring, shown: MapPlaces) -> list[int]:
    """Return 1 for each drawn entity that matches the search, else 0."""
    matches = find_entities(exploring.index, exploring.search, layer=0).rows if exploring.search else ()
    return [int(hit) for hit in np.isin(shown.rows, [match.row for match in matches])]


def _hues(layer: FormedLayer) -> list[int]:
    """Return the hue of each drawn point's cluster in that layer; -1 for clusters beyond the number of hues."""
    n_hues = len(map_view.cluster_colours())
    hue_of = np.full(int(layer.cluster_of.max(initial=0)) + 1, -1)
    for hue, cluster in enumerate(layer.named[:n_hues]):
        hue_of[cluster.drawn] = hue
    return [int(hue) for hue in hue_of[layer.cluster_of]]


def _sentence(formed: FormedLayer) -> str:
    """Return in words what happens between the layer below and this one."""
    if formed.clusters == 1:
        return say("explore.formation.root", n=formed.below, name=isolated(formed.largest_name))
    parts = [
        say(
            "explore.formation.step",
            layer=formed.layer,
            below=formed.below,
            n=formed.clusters,
            name=isolated(formed.largest_name),
            largest=formed.largest,
        )
    ]
    if formed.singletons:
        parts.append(say("explore.formation.singletons", n=formed.singletons))
    if formed.summarised or formed.joined:
        parts.append(say("explore.formation.relations", n=formed.summarised, joined=formed.joined))
    return joined_sentences(parts)


VIEW = View("formation", show, place=50)
