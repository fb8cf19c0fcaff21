"""The layered graph as a view of Explore: the tree above, entities in clouds below, relations between them."""

from pathlib import Path
from typing import Any

import streamlit as st

from leanrag_core.figures.all_nodes import AllNodes, all_nodes
from leanrag_core.figures.drawing import isolated
from leanrag_core.figures.layer_graph import NARROW, WIDE, layer_graph
from leanrag_core.figures.neighbourhood import vis_graph, vis_page
from leanrag_core.messages.catalog import joined_sentences
from leanrag_core.queries import entity_search
from leanrag_core.queries.browse import neighbourhood
from leanrag_core.queries.layer_scene import SceneRequest, reach_of
from leanrag_core.queries.schema import Filters
from leanrag_core.types.graph import Place
from leanrag_core.types.layer_scene import Scene
from leanrag_core.types.summary import IndexSummary
from leanrag_core.types.visible import visible_values
from leanrag_core.views.graph import graph_legend, graph_words, hues, named_nodes, packed_nodes
from pages.common import downloads, drawing_view, session
from pages.common.component import component
from pages.common.frame import colours
from pages.common.messages import language, message, say
from pages.explore import graph_state
from pages.explore.exploring import Exploring, View, name_and_id


def all_values(exploring: Exploring, focus: Place) -> dict[str, Any]:
    """Return the values with which the script draws all nodes instead of the scene around the focus."""
    drawn = nodes_of(exploring.summary, exploring.filters)
    hops = _hops(exploring, drawn, focus)
    position, picked = drawn.position(focus), drawn.position(exploring.place)
    return {
        "all": {
            **packed_nodes(drawn, say),
            "hops": [[at, near] for at, near in sorted(hops.items(), key=lambda pair: pair[1])],
        },
        "named": named_nodes(exploring.index, drawn, hops, picked),
        "focus": position,
        "picked": None if picked is None else f"#{picked}",
        "focus_id": "" if position is None else f"#{position}",
        "drawn": len(drawn.rows),
        "total": sum(drawn.totals),
        "label": say("explore.graph.label_all", n=len(drawn.rows), total=sum(drawn.totals)),
        "links": [],
        "layouts": [],
    }


def id_of(exploring: Exploring, text: str) -> str:
    """Return the id of a node that the script names by position, such as #12; empty if it draws none there."""
    if not text.startswith("#"):
        return text
    drawn = nodes_of(exploring.summary, exploring.filters)
    if not text[1:].isdigit() or int(text[1:]) >= len(drawn.rows):
        return ""
    place = drawn.place(int(text[1:]))
    return str(exploring.index.layers[place.layer].entities["id"][place.row].as_py())


@st.cache_resource(max_entries=16, show_spinner=False, hash_funcs=session.BY_INDEX)
def nodes_of(summary: IndexSummary, filters: Filters) -> AllNodes:
    """Return the nodes that pass the filters, at most tens of thousands."""
    index = session.open_index(summary)
    numbers = range(len(index.layers))
    if not filters.active:
        return all_nodes(index, [None for _ in numbers], [None for _ in numbers])
    masks = [filters.allows(index, number) for number in numbers]
    return all_nodes(index, masks, [filters.allows_relations(index, number) for number in numbers])


def _hops(exploring: Exploring, drawn: AllNodes, focus: Place) -> dict[int, int]:
    layer = exploring.index.layers[focus.layer]
    reach = reach_of(layer, focus.row, SceneRequest(focus, hops=graph_state.remembered().hops))
    near = {focus.row: 0, **dict.fromkeys(reach.first, 1), **dict.fromkeys(reach.second, 2)}
    places = {row: drawn.position(Place(focus.layer, row)) for row in near}
    return {at: near[row] for row, at in places.items() if at is not None}


_SCRIPT = Path(__file__).resolve().with_name("layer_graph.js")
_PARTS = (
    "layers",
    "figure_tools",
    *("layer_marks", "layer_gestures", "layer_bar", "layer_chosen", "layer_nodes", "layer_canvas"),
)
_FRAME = (
    '<div class="lr-lg lr-layers"><div class="lr-lg-bar"></div><div class="lr-lg-matches" hidden></div>'
    '<div class="lr-lg-figure"></div><div class="lr-lg-chosen" role="toolbar" hidden></div>'
    '<div class="lr-lg-legend"></div><div class="lr-lg-list" hidden></div></div>'
)
_MATCHES = 6
_FREE_NODES = 100  # most nodes of the graph without layers
_KEY = "layer_graph"


def show(exploring: Exploring) -> None:
    """Draw the picture around the focus; a click chooses and opens a node, a double click focuses it."""
    scene = graph_state.scene_now(exploring)
    if not any(scene.totals):
        message(say("explore.nothing_passes"))
        return
    values = _frame(exploring, scene)
    if graph_state.remembered().detail == graph_state.ALL:
        values |= all_values(exploring, Place(scene.focus.layer, scene.focus.row))
    else:
        values |= graph_state.scene_values(scene, [layer_graph(scene, size) for size in (NARROW, WIDE)])

    def acted() -> None:
        action = st.session_state[_KEY].get("act")
        if action:
            id_ = id_of(exploring, str(action["id"]))
            graph_state.act(exploring, str(action["kind"]), id_, focus=scene.focus.id)

    def hidden() -> None:
        ids = st.session_state[_KEY].get("hidden")
        if ids is not None:
            graph_state.hide([str(id_) for id_ in ids])

    component(_SCRIPT, _FRAME, parts=_PARTS)(
        data=visible_values(values), key=_KEY, on_act_change=acted, on_hidden_change=hidden
    )
    _free_graph(exploring, scene)


def _free_graph(exploring: Exploring, scene: Scene) -> None:
    """Draw the download of the focus's neighbourhood as a file with draggable nodes, without layers."""
    focus = Place(scene.focus.layer, scene.focus.row)
    title, shown_in = say("explore.graph.title", name=isolated(scene.focus.name)), language()

    def page() -> str:
        near = neighbourhood(exploring.index, focus, max_nodes=_FREE_NODES)
        return vis_page(vis_graph(near, colours()), colours(), title=title, language=shown_in)

    downloads.button(say("explore.graph.free"), page, "neighbourhood.html", "text/html", key="html_neighbourhood")


def _frame(exploring: Exploring, scene: Scene) -> dict[str, Any]:
    """Return what the script needs besides the scene."""
    kept = graph_state.remembered()
    _, chosen = name_and_id(exploring.index, exploring.place)
    name = isolated(scene.focus.name)
    # The script fills in the numbers that it draws, which depend on the width.
    note = say("explore.graph.note", shown="{shown}", total=sum(scene.totals), lit="{lit}")
    beyond = scene.within_reach - sum(node.hops in (1, 2) and node.layer == scene.focus.layer for node in scene.nodes)
    if beyond > 0:
        note = joined_sentences([note, say("explore.graph.beyond", n=beyond)])
    return {
        "picked": chosen,
        "hops": kept.hops,
        "detail": kept.detail,
        "hidden": list(kept.hidden),
        "pins": len(kept.pinned),
        "search": exploring.search.casefold(),
        "matches": _matches(exploring),
        "hues": hues(colours()),
        "label": say("explore.graph.label", name=name, n=len(scene.nodes)),
        "words": graph_words(say),
        "legend": graph_legend(say, whole=kept.detail == graph_state.ALL),
        "tools": drawing_view.tools(say("explore.graph.title", name=name), note, keys=say("explore.graph.keys")),
    }


def _matches(exploring: Exploring) -> list[dict[str, Any]]:
    if not exploring.search:
        return []
    matches = entity_search.find_entities(exploring.index, exploring.search, limit=_MATCHES)
    return [{"id": row.id, "name": row.name, "layer": row.layer} for row in matches.rows]


VIEW = View("graph", show, place=20, url=graph_state.URL)
