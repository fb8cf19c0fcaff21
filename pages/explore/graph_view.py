"""The graph in layers as a view of Explore: tree above, entities in clouds below, relations between them."""

from pathlib import Path
from typing import Any

import streamlit as st

from leanrag_core.figures.drawing import isolated
from leanrag_core.figures.layer_graph import NARROW, WIDE, layer_graph
from leanrag_core.figures.neighbourhood import neighbourhood_page, vis_graph
from leanrag_core.queries import entity_search
from leanrag_core.queries.neighbourhood import neighbourhood
from leanrag_core.types.graph import Place
from leanrag_core.types.layer_scene import Scene
from leanrag_core.types.visible import visible_values
from pages.common import figure_tools
from pages.common.component import component
from pages.common.frame import colours
from pages.common.messages import language, message, say
from pages.explore import graph_all, graph_data, graph_state
from pages.explore.exploring import Exploring, name_and_id

_HERE = Path(__file__).resolve()
_SCRIPT = _HERE.with_name("layer_graph.js")
_PARTS = (
    "layers",
    "figure_tools",
    *(
        str(_HERE.with_name(name))
        for name in ("layer_marks", "layer_gestures", "layer_bar", "layer_chosen", "layer_canvas")
    ),
)
_FRAME = (
    '<div class="lr-lg lr-layers"><div class="lr-lg-bar"></div><div class="lr-lg-matches" hidden></div>'
    '<div class="lr-lg-chosen" role="toolbar" hidden></div>'
    '<div class="lr-lg-figure"></div><div class="lr-lg-legend"></div><div class="lr-lg-list" hidden></div></div>'
)
_MATCHES = 6
_FREE_NODES = 100  # of the graph without layers
_KEY = "layer_graph"


def show(exploring: Exploring) -> None:
    """The picture around the focus; a click chooses and opens, a double click brings into focus."""
    scene = graph_state.scene_now(exploring)
    if not any(scene.totals):
        message(say("explore.nothing_passes"))
        return
    values = _frame(exploring, scene)
    if graph_state.remembered().detail == graph_state.ALL:
        values |= graph_all.all_values(exploring, Place(scene.focus.layer, scene.focus.row))
    else:
        values |= graph_data.scene_values(scene, [layer_graph(scene, size) for size in (NARROW, WIDE)])

    def acted() -> None:
        asked = st.session_state[_KEY].get("act")
        if asked:
            id_ = graph_all.id_of(exploring, str(asked["id"]))
            graph_state.act(exploring, str(asked["kind"]), id_, focus=scene.focus.id)

    def hidden() -> None:
        ids = st.session_state[_KEY].get("hidden")
        if ids is not None:
            graph_state.hide([str(id_) for id_ in ids])

    component(_SCRIPT, _FRAME, draws_svg=True, parts=_PARTS)(
        data=visible_values(values), key=_KEY, on_act_change=acted, on_hidden_change=hidden
    )
    _free_graph(exploring, scene)


def _free_graph(exploring: Exploring, scene: Scene) -> None:
    """The neighbourhood of the focus as one file whose nodes can be dragged, without layers."""
    focus = Place(scene.focus.layer, scene.focus.row)
    title, shown_in = say("explore.graph.title", name=isolated(scene.focus.name)), language()

    def page() -> str:
        near = neighbourhood(exploring.index, focus, max_nodes=_FREE_NODES)
        return neighbourhood_page(vis_graph(near, colours()), colours(), title=title, language=shown_in)

    st.download_button(
        say("explore.graph.free"),
        page,
        file_name="neighbourhood.html",
        mime="text/html",
        type="tertiary",
        icon=":material/download:",
        key="html_neighbourhood",
        on_click="ignore",
    )


def _frame(exploring: Exploring, scene: Scene) -> dict[str, Any]:
    """What the script needs beside the scene."""
    kept = graph_state.remembered()
    _, chosen = name_and_id(exploring.index, exploring.place)
    name = isolated(scene.focus.name)
    # The script fills in what it draws, which depends on the width.
    note = say("explore.graph.note", shown="{shown}", total=sum(scene.totals), lit="{lit}")
    beyond = scene.within_reach - sum(node.hops in (1, 2) and node.layer == scene.focus.layer for node in scene.nodes)
    if beyond > 0:
        note = f"{note} {say('explore.graph.beyond', n=beyond)}"
    return {
        "picked": chosen,
        "hops": kept.hops,
        "detail": kept.detail,
        "hidden": list(kept.hidden),
        "pins": len(kept.pinned),
        "search": exploring.search.casefold(),
        "matches": _matches(exploring),
        "hues": graph_data.hues(colours()),
        "label": say("explore.graph.label", name=name, n=len(scene.nodes)),
        "words": graph_data.words(),
        "legend": graph_data.legend(whole=kept.detail == graph_state.ALL),
        "tools": figure_tools.tools(say("explore.graph.title", name=name), note, keys=say("explore.graph.keys")),
    }


def _matches(exploring: Exploring) -> list[dict[str, Any]]:
    if not exploring.search:
        return []
    matches = entity_search.find_entities(exploring.index, exploring.search, limit=_MATCHES)
    return [{"id": row.id, "name": row.name, "layer": row.layer} for row in matches.rows]
