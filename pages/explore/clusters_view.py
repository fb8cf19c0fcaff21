"""Clusters: sizes, cohesion, stability and conductance of a layer's clusters, and a comparison with another index."""

from functools import partial
from pathlib import Path

import numpy as np
import streamlit as st

from leanrag_core.clustering.options import cluster_options
from leanrag_core.comparing.as_code import ViewCode
from leanrag_core.figures import numbers
from leanrag_core.messages.catalog import joined_sentences
from leanrag_core.queries.clusters import (
    ClusterOverlap,
    ClusterQuality,
    ClusterStability,
    cluster_overlap,
    cluster_quality,
    cluster_stability,
)
from leanrag_core.types.build_report import LayerClusters
from leanrag_core.types.index import Index
from leanrag_core.types.summary import IndexSummary
from leanrag_core.types.visible import visible, visible_values
from leanrag_core.views.clusters import COLUMNS, board_values, board_words, finding
from pages.common import buttons, choices, markup, session, state
from pages.common.component import component, report
from pages.common.drawing_view import tools
from pages.common.frame import plain_errors
from pages.common.html import draw, html
from pages.common.messages import message, say
from pages.explore.exploring import Exploring, View, name_and_id


@st.cache_resource(max_entries=16, show_spinner=False, hash_funcs=session.BY_INDEX)
def quality_of(summary: IndexSummary, number: int) -> ClusterQuality:
    """Return the quality of a layer's clusters, computed once."""
    return cluster_quality(session.open_index(summary), number)


def shown_clusters(exploring: Exploring, number: int) -> np.ndarray:
    """Return (n,) rows of the clusters that pass the filters and match the search by name."""
    import pyarrow.compute as pc

    passing = exploring.mask(number)
    if exploring.search:
        names = exploring.index.layers[number].plain_names
        wanted = " ".join(exploring.search.lower().split())
        passing = passing & pc.fill_null(pc.match_substring(names, wanted), False).to_numpy(zero_copy_only=False)
    return np.flatnonzero(passing)


def sort_of(text: str) -> tuple[str, bool]:
    """Read the column and the direction from a text such as "cohesion true"; by default the least coherent come
    first."""
    column, _, rising = text.partition(" ")
    return (column, rising == "true") if column in COLUMNS else ("cohesion", True)


_NOBODY = ""  # no index is chosen


def show_overlap(exploring: Exploring, number: int) -> None:
    """Draw the choice of another index, and what its clusters share with these."""
    summary = exploring.summary
    others = {other.id: other for other in session.index_list().indexes if _comparable(summary, other)}
    draw(html('<div class="lr-section" role="heading" aria-level="2">{}</div>', say("explore.overlap.title")))
    if not others:
        markup.note(say("explore.overlap.no_other"))
        return
    titles = {_NOBODY: say("explore.overlap.choose")} | {id_: visible(other.title) for id_, other in others.items()}
    chosen = choices.dropdown("versus", say("explore.overlap.with"), titles)
    if chosen:
        with plain_errors(), session.reading(others[chosen]) as other:
            _compared(exploring, number, other, others[chosen])


def _comparable(summary: IndexSummary, other: IndexSummary) -> bool:
    """Tell whether the other index has the same corpus, and clusters."""
    return other.id != summary.id and other.corpus_id == summary.corpus_id != "" and len(other.layers) > 1


def _compared(exploring: Exploring, number: int, other: Index, other_summary: IndexSummary) -> None:
    index = exploring.index
    other_number = min(number, len(other.layers) - 1)
    overlap = _overlap(exploring.summary, number, other_summary, other_number)
    if overlap is None:
        markup.note(say("explore.overlap.nothing"))
        return
    shared = say("explore.overlap.common_note", here=overlap.only_here, there=overlap.only_there)
    draw(
        markup.tiles(
            [
                (say("explore.overlap.ari"), numbers.score(overlap.adjusted_rand), say("explore.overlap.ari_note")),
                (
                    say("explore.overlap.nmi"),
                    numbers.score(overlap.mutual_information),
                    say("explore.overlap.nmi_note"),
                ),
                (say("explore.overlap.common"), f"{overlap.common:,}", shared),
            ]
        )
    )
    names_here, names_there = index.layers[number].entity_cells["name"], other.layers[other_number].entity_cells["name"]
    head = tuple(say(f"explore.overlap.column.{name}") for name in ("here", "there", "shared", "of_here", "of_there"))
    rows = [
        (
            names_here[row.here].as_py(),
            names_there[row.there].as_py(),
            f"{row.shared:,}",
            f"{numbers.share(row.shared / row.n_here)} / {row.n_here:,}",
            f"{numbers.share(row.shared / row.n_there)} / {row.n_there:,}",
        )
        for row in overlap.rows
    ]
    caption = say("explore.overlap.rows", shown=len(rows), n=overlap.n_pairs)
    draw(markup.label(caption), markup.reading_table(head, rows, caption=caption))
    if other_number != number:
        markup.note(say("explore.overlap.other_layer", layer=other_number))
    if overlap.by_name:
        markup.note(say("explore.overlap.by_name"))


@st.cache_resource(max_entries=16, show_spinner=False, hash_funcs=session.BY_INDEX)
def _overlap(summary: IndexSummary, number: int, other: IndexSummary, other_number: int) -> ClusterOverlap | None:
    return cluster_overlap(session.open_index(summary), number, session.open_index(other), other_number)


_HERE = Path(__file__).parent
_FRAME = '<div class="lr-board"><div class="figure"></div><div class="rows" role="region" tabindex="0"></div></div>'
_STABLE = "lr_stability"  # in the session: indexes and layers whose stability was requested


def show(exploring: Exploring) -> None:
    """Draw the board of one layer's clusters; a click chooses a cluster or its oddest member."""
    index = exploring.index
    above = index.layers[1:]
    # The root's single cluster is not informative, unless there is no other.
    layers = {str(layer.number): f"L{layer.number}" for layer in above if len(layer) > 1 or len(above) == 1}
    if not layers:
        message(say("explore.clusters.one_layer"))
        return
    with st.container(horizontal=True, gap="small", vertical_alignment="center", width="content"):
        draw(markup.muted(say("explore.clusters.that_make")))
        number = int(choices.segments("board", say("explore.clusters.that_make"), layers, label_visibility="collapsed"))
        clusters = next((step for step in index.report.clustering if step.layer == number), None)
        stability = _stability(exploring, number, clusters)
    quality = quality_of(exploring.summary, number)
    rows = shown_clusters(exploring, number)
    draw(markup.lead(*finding(index, quality, clusters, say), "lr-isl-finding"))
    if len(rows):
        _board(exploring, quality, rows, stability, clusters)
    else:
        message(say("explore.clusters.none_left"))
    if stability is not None:
        markup.note(_stability_line(stability))
    show_overlap(exploring, number)


def _board(
    exploring: Exploring,
    quality: ClusterQuality,
    rows: np.ndarray,
    stability: ClusterStability | None,
    clusters: LayerClusters | None,
) -> None:
    """Draw the board of a layer's clusters. rows: (k,) int, see shown_clusters()."""
    index, summary, key = exploring.index, exploring.summary, "clusters"
    sort_key = f"lr_board_sort_{summary.id}_{quality.layer}"
    values = board_values(index, quality, rows, stability, sort_of(st.session_state.get(sort_key, "")))
    total = len(index.layers[quality.layer])
    note = say("explore.clusters.drawn", drawn=len(values["dots"]), n=total)
    wanted = index.manifest.config.cluster_size if clusters is not None else 0
    cap = (clusters.cap or 0) if clusters is not None else 0
    words = board_words(say) | {
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
        "tools": tools(
            say("explore.figure", what=say("explore.view.clusters"), name=summary.name),
            note,
            keys=say("explore.clusters.keys"),
        ),
    }

    component(_HERE / "clusters.js", _FRAME, parts=("figure_tools",))(
        data=visible_values(values),
        key=key,
        on_picked_change=report(key, "picked", exploring.go),
        on_sorted_change=report(key, "sorted", partial(st.session_state.__setitem__, sort_key)),
    )


def _stability(exploring: Exploring, number: int, clusters: LayerClusters | None) -> ClusterStability | None:
    """Return the stability of the layer's clusters if it was requested; else draw the button that requests it."""
    index, summary = exploring.index, exploring.summary
    if len(index.layers[number]) < 2:
        return None
    if clusters is None or clusters.options is None:
        markup.note(say("explore.clusters.made_elsewhere"))
        return None
    wanted: set[tuple[str, str, int]] = st.session_state.setdefault(_STABLE, set())
    this = (summary.id, summary.created, number)
    if this not in wanted:
        label = say("explore.clusters.check_stability")
        buttons.secondary(label, "replay", "check_stability", wanted.add, this, help=say("explore.clusters.check_help"))
        return None
    with st.spinner(say("explore.clusters.checking"), show_time=True):
        return _stability_of(summary, number)


@st.cache_resource(max_entries=16, show_spinner=False, hash_funcs=session.BY_INDEX)
def _stability_of(summary: IndexSummary, number: int) -> ClusterStability:
    index = session.open_index(summary)
    options = cluster_options(index.manifest.config)
    return cluster_stability(index.layers[number - 1], len(index.layers[number]), options)


def _stability_line(stability: ClusterStability) -> str:
    """Return in words what was clustered again, and how far the results agree."""
    scores = say("ask.comma").join(numbers.score(score) for score in stability.agreement)
    text = say("explore.clusters.stability", n=len(stability.agreement), scores=scores)
    if stability.n_nodes < stability.n_total:
        sample = say("explore.clusters.sampled", n=stability.n_nodes, total=stability.n_total)
        return joined_sentences([text, sample])
    return text


def _code(exploring: Exploring) -> ViewCode:
    """Return code for the clusters' figures."""
    if len(exploring.index.layers) < 2:
        return ViewCode()
    number = state.fitting("board", 1, int, lambda value: 1 <= value < len(exploring.index.layers))
    lines = (f"quality = cluster_quality(index, {number})", "print(quality.sizes, quality.cohesion)")
    imports = ("from leanrag_core.queries.clusters import cluster_quality",)
    return ViewCode(imports, lines, ("--clusters", str(number)))


VIEW = View("clusters", show, place=70, code=_code, url=("board", "versus"))
