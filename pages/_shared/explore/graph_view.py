"""The free graph around a node: vis-network from the package pyvis, drawn on the page itself, without any request."""

from pathlib import Path

import streamlit as st

from leanrag_core.figures import numbers
from leanrag_core.figures.neighbourhood import vis_graph, vis_options
from leanrag_core.figures.neighbourhood_page import neighbourhood_page
from leanrag_core.queries.neighbourhood import neighbourhood
from leanrag_core.types.visible import visible_values
from pages._shared.common import markup
from pages._shared.common.component import component
from pages._shared.common.frame import colours
from pages._shared.explore.choices import labelled_pills
from pages._shared.explore.exploring import Exploring

SIZES = ("30", "100", "300")  # nodes at most
_SCRIPT = Path(__file__).with_name("neighbourhood.js")
_FRAME = '<div class="lr-near" role="img"></div>'
_VIS_NETWORK = "templates/lib/vis-9.1.2/vis-network.min.js"


def _library() -> Path:
    import pyvis

    return Path(pyvis.__file__).parent / _VIS_NETWORK


def show(exploring: Exploring) -> None:
    """The node with what one and two relations lead to; a click on another node chooses that one."""
    index, place, go = exploring.index, exploring.place, exploring.go
    max_nodes = int(labelled_pills("near", "Nodes at most", SIZES, SIZES[0]))
    near = neighbourhood(index, place, max_nodes=max_nodes)
    graph = vis_graph(near, colours())
    key = "neighbourhood"

    def picked_now() -> None:
        picked = st.session_state[key].get("picked")
        if picked:
            go(str(picked))

    label = f"{numbers.counted(len(near.nodes), 'node')} around the chosen one, listed beside it under Relations"
    data = {"nodes": graph.nodes, "edges": graph.edges, "options": vis_options(), "label": label}
    component(_SCRIPT, _FRAME, library=_library())(
        data=visible_values(data), key=key, height=562, on_picked_change=picked_now
    )
    left_out = f", {near.left_out:,} weaker ones left out" if near.left_out else ""
    markup.note(
        f"{numbers.counted(len(near.nodes), 'node')}{left_out}, {numbers.counted(len(near.relations), 'relation')}; "
        "wider lines are stronger. Click a node to move there; the wheel zooms."
    )
    name = near.nodes[0].name
    st.download_button(
        "Download as one HTML file",
        lambda: neighbourhood_page(graph, colours(), title=f"Around {name}"),
        file_name="neighbourhood.html",
        mime="text/html",
        type="tertiary",
        icon=":material/download:",
        key="html_neighbourhood",
        on_click="ignore",
    )
