"""The map of a layer's embeddings: a click on a point opens the entity in the inspector."""

from collections.abc import Callable

import numpy as np
import pyarrow as pa
import streamlit as st

from leanrag_core.figures import numbers
from leanrag_core.figures.chart import CONFIG, as_csv
from leanrag_core.figures.embedding_map import EmbeddingMap, map_chart
from leanrag_core.types.graph import Place
from leanrag_core.types.index import Index
from leanrag_core.types.summary import IndexSummary
from pages._shared.common import markup
from pages._shared.common.frame import colours, message
from pages._shared.explore.choices import labelled_pills
from pages._shared.explore.exploring import Exploring


def show(exploring: Exploring) -> None:
    """The entities of a layer in the plane, coloured by their clusters of a layer above it."""
    index = exploring.index
    if len(index.layers) < 2:
        message("This index has one layer, so there are no clusters to draw on a map.")
        return
    with st.container(horizontal=True, gap="medium", vertical_alignment="center"):
        layer = _layer_choice("points", "Points of", range(len(index.layers) - 1), 0)
        several = [above for above in range(layer + 1, len(index.layers)) if len(index.layers[above]) > 1]
        several = several or [layer + 1]
        colour = _layer_choice("colour", "Coloured by clusters of", several, several[-1])
    _chart(index, exploring.summary, exploring.place, layer, colour, go=exploring.go)


def _layer_choice(name: str, title: str, layers: range | list[int], default: int) -> int:
    return int(labelled_pills(name, title, [f"L{layer}" for layer in layers], f"L{default}")[1:])


def _chart(
    index: Index, summary: IndexSummary, place: Place, layer: int, colour: int, *, go: Callable[[str], None]
) -> None:
    points = _points(summary.id, summary.created, layer, index)
    drawn, above = index.layers[layer], index.layers[colour]
    cluster_of = points.rows
    for below in index.layers[layer:colour]:
        cluster_of = below.parent[cluster_of]
    texts = drawn.entities.select(["id", "name"]).take(pa.array(points.rows))
    ids = texts["id"].to_pylist()
    at = np.flatnonzero(points.rows == (place.row if place.layer == layer else -1))
    chart = map_chart(
        points,
        texts["name"].to_pylist(),
        cluster_of,
        above.entities["name"].to_pylist(),
        colours(),
        chosen=int(at[0]) if len(at) else None,
    )
    key = f"map_{summary.id}_{layer}"

    def clicked() -> None:
        selected = st.session_state[key]["selection"]["points"]
        if selected and "customdata" in selected[0]:
            picked = selected[0]["customdata"]
            go(ids[int(picked[0] if isinstance(picked, list) else picked)])

    st.plotly_chart(
        chart.figure,
        theme=None,  # Streamlit's own theme would replace the colours of the palette
        config={**CONFIG, "scrollZoom": True},
        key=key,
        on_select=clicked,
        selection_mode="points",
        alt=chart.label,
    )
    total = numbers.of_unit(len(drawn), "entities")
    shown = f"{total}. " if len(ids) == len(drawn) else f"{len(ids):,} of {total}, evenly chosen. "
    markup.note(f"{shown}Click a point to open it; the wheel zooms, dragging moves the map.")
    st.download_button(
        "Download CSV",
        lambda: as_csv(chart.head, chart.rows),
        file_name="map.csv",
        mime="text/csv",
        type="tertiary",
        icon=":material/download:",
        key="csv_map",
        on_click="ignore",
    )


@st.cache_resource(max_entries=4, show_spinner=False)
def _points(index_id: str, created: str, layer: int, _index: Index) -> EmbeddingMap:
    return EmbeddingMap(_index.layers[layer].vectors)
