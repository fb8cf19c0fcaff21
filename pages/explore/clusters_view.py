"""Clusters: sizes, cohesion, stability and conductance of a layer's clusters, and another index beside this one."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import streamlit as st

from leanrag_core.clustering.options import cluster_options
from leanrag_core.figures import numbers
from leanrag_core.queries.clusters import ClusterQuality, ClusterStability, cluster_stability
from leanrag_core.types.build_report import LayerClusters
from leanrag_core.types.index import Index
from leanrag_core.types.visible import visible_values
from pages.common import choices, markup
from pages.common.component import component
from pages.common.figure_tools import tools
from pages.common.frame import message
from pages.common.html import draw, html
from pages.common.messages import say
from pages.explore import overlap_view
from pages.explore.clusters_values import board_values, board_words, quality_of, shown_clusters, sort_of
from pages.explore.exploring import Exploring, name_and_id

_HERE = Path(__file__).parent
_FRAME = '<div class="lr-board"><div class="figure"></div><div class="rows" role="region" tabindex="0"></div></div>'
_STABLE = "lr_stability"  # in the session: indexes and layers whose stability was asked for


def show(exploring: Exploring) -> None:
    """The board of one layer's clusters; a click chooses a cluster or its oddest member."""
    index, summary = exploring.index, exploring.summary
    above = index.layers[1:]
    # The root's one cluster says nothing, unless there is no other.
    layers = {str(layer.number): f"L{layer.number}" for layer in above if len(layer) > 1 or len(above) == 1}
    if not layers:
        message(say("explore.clusters.one_layer"))
        return
    with st.container(horizontal=True, gap="small", vertical_alignment="center", width="content"):
        draw(markup.muted(say("explore.clusters.that_make")))
        number = int(choices.segments("board", say("explore.clusters.that_make"), layers, label_visibility="collapsed"))
        made = next((step for step in index.report.clustering if step.layer == number), None)
        stability = _stability(exploring, number, made)
    quality = quality_of(summary.id, summary.created, number, index)
    rows = shown_clusters(exploring, number)
    draw(html('<div class="lr-isl-finding"><b>{}</b> {}</div>', *_finding(index, quality, made)))
    if len(rows):
        _board(exploring, quality, rows, stability, made)
    else:
        message(say("explore.clusters.none_left"))
    if stability is not None:
        markup.note(_stability_line(stability))
    overlap_view.show(exploring, number)


def _finding(index: Index, quality: ClusterQuality, made: LayerClusters | None) -> tuple[str, str]:
    """How many clusters of which sizes, and which one holds together least."""
    sizes, names = quality.sizes, index.layers[quality.layer].entity_cells["name"]
    n = len(sizes)
    text = say(
        "explore.clusters.found", n=n, smallest=int(sizes.min()), largest=int(sizes.max()), layer=quality.layer - 1
    )
    if made is None or made.cap is None:
        return text, ""
    wanted = index.manifest.config.cluster_size
    below, cap = int((sizes < wanted / 2).sum()), int((sizes >= made.cap).sum())
    more = say("explore.clusters.wanted", wanted=wanted, cap=made.cap, small=below, n=cap)
    if n > 1:
        worst = int(np.argmin(quality.cohesion))
        more += say("text.space") + say(
            "explore.clusters.least",
            name=f"\u2068{names[worst].as_py()}\u2069",
            cosine=f"{quality.cohesion[worst]:.2f}",
        )
    return text, more


def _board(
    exploring: Exploring,
    quality: ClusterQuality,
    rows: np.ndarray,
    stability: ClusterStability | None,
    made: LayerClusters | None,
) -> None:
    index, summary, key = exploring.index, exploring.summary, "clusters"
    sort_key = f"lr_board_sort_{summary.id}_{quality.layer}"
    values = board_values(index, quality, rows, stability, sort_of(st.session_state.get(sort_key, "")))
    total = len(index.layers[quality.layer])
    note = say("explore.clusters.drawn", drawn=len(values["dots"]), n=total)
    wanted = index.manifest.config.cluster_size if made is not None else 0
    cap = (made.cap or 0) if made is not None else 0
    words = board_words() | {
        "wanted": say("explore.clusters.mark_wanted", n=wanted),
        "cap": say("explore.clusters.mark_cap", n=cap),
        "caption": say("explore.clusters.listed", listed=len(values["rows"]), n=len(rows)),
    }
    _, picked = name_and_id(index, exploring.place)
    values |= {
        "of": f"{summary.id}{summary.created}{quality.layer}{len(rows)}{stability is not None}",
        "words": words,
        "picked": picked,
        "wanted": wanted,
        "cap": cap,
        "tools": tools(f"{say('explore.view.clusters')} {summary.title}", note, keys=say("explore.clusters.keys")),
    }

    def triggered(name: str, act: Callable[[str], None]) -> Callable[[], None]:
        def heard() -> None:
            value = st.session_state[key].get(name)
            if value:
                act(str(value))

        return heard

    component(_HERE / "clusters.js", _FRAME, draws_svg=True, parts=("figure_tools",))(
        data=visible_values(values),
        key=key,
        on_picked_change=triggered("picked", exploring.go),
        on_sorted_change=triggered("sorted", lambda value: st.session_state.__setitem__(sort_key, value)),
    )


def _stability(exploring: Exploring, number: int, made: LayerClusters | None) -> ClusterStability | None:
    """The stability of the layer's clusters once it was asked for; the button that asks for it before."""
    index, summary = exploring.index, exploring.summary
    if len(index.layers[number]) < 2:
        return None
    if made is None or made.options is None:
        markup.note(say("explore.clusters.made_elsewhere"))
        return None
    wanted: set[tuple[str, str, int]] = st.session_state.setdefault(_STABLE, set())
    this = (summary.id, summary.created, number)
    if this not in wanted:
        st.button(
            say("explore.clusters.check_stability"),
            key="check_stability",
            icon=":material/replay:",
            help=say("explore.clusters.check_help"),
            on_click=wanted.add,
            args=(this,),
        )
        return None
    with st.spinner(say("explore.clusters.checking"), show_time=True):
        return _stability_of(summary.id, summary.created, number, index)


@st.cache_resource(max_entries=16, show_spinner=False)
def _stability_of(index_id: str, created: str, number: int, _index: Index) -> ClusterStability:
    options = cluster_options(_index.manifest.config)
    return cluster_stability(_index.layers[number - 1], len(_index.layers[number]), options)


def _stability_line(stability: ClusterStability) -> str:
    """What was clustered again, and how far it agrees."""
    scores = say("ask.comma").join(numbers.score(score) for score in stability.agreement)
    text = say("explore.clusters.stability", n=len(stability.agreement), scores=scores)
    if stability.n_nodes < stability.n_total:
        sample = say("explore.clusters.sampled", n=stability.n_nodes, total=stability.n_total)
        return text + say("text.space") + sample
    return text
