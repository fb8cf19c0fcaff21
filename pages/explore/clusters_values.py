"""What the board of clusters shows of a layer, as values for its script."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import streamlit as st

from leanrag_core.queries.clusters import ClusterQuality, ClusterStability, cluster_quality
from leanrag_core.types.index import Index
from pages.common.messages import say
from pages.explore.exploring import Exploring

COLUMNS = ("name", "size", "cohesion", "stability", "conductance", "oddest")
MOST_ROWS, MOST_DOTS = 150, 500
_RISING = ("name", "cohesion", "stability", "oddest")  # the weakest first


@st.cache_resource(max_entries=16, show_spinner=False)
def quality_of(index_id: str, created: str, number: int, _index: Index) -> ClusterQuality:
    """The clusters of a layer, computed once."""
    return cluster_quality(_index, number)


def shown_clusters(exploring: Exploring, number: int) -> np.ndarray:
    """Rows of the clusters that pass the filters and have what is searched in their names."""
    import pyarrow.compute as pc

    passing = exploring.mask(number)
    if exploring.search:
        names = exploring.index.layers[number].plain_names
        wanted = " ".join(exploring.search.lower().split())
        passing = passing & pc.fill_null(pc.match_substring(names, wanted), False).to_numpy(zero_copy_only=False)
    return np.flatnonzero(passing)


def sort_of(text: str) -> tuple[str, bool]:
    """The column and whether it rises, of "cohesion true"; the least coherent first for anything else."""
    column, _, rising = text.partition(" ")
    return (column, rising == "true") if column in COLUMNS else ("cohesion", True)


def board_values(
    index: Index, quality: ClusterQuality, rows: np.ndarray, stability: ClusterStability | None, sort: tuple[str, bool]
) -> dict[str, Any]:
    """The values of clusters.js: a dot for each cluster and a row of the table, as many as a page can hold."""
    of_dots = rows if len(rows) <= MOST_DOTS else rows[np.linspace(0, len(rows) - 1, MOST_DOTS).astype(np.int64)]
    names, ids = (index.layers[quality.layer].entity_cells[column] for column in ("name", "id"))
    dots = [
        [
            ids[int(row)].as_py(),
            int(quality.sizes[row]),
            round(float(quality.cohesion[row]), 3),
            names[int(row)].as_py()[:40],
        ]
        for row in of_dots
    ]
    listed = rows if len(rows) <= MOST_ROWS else _first(index, quality, rows, stability, sort)
    return {
        "dots": dots,
        "sizes": np.stack(np.unique(quality.sizes[rows], return_counts=True), axis=1).tolist(),
        "rows": [_row(index, quality, int(row), stability) for row in listed],
        "complete": len(listed) == len(rows),
        "sort": list(sort),
    }


def _row(index: Index, quality: ClusterQuality, row: int, stability: ClusterStability | None) -> list[Any]:
    above, below = index.layers[quality.layer].entity_cells, index.layers[quality.layer - 1].entity_cells
    odd = int(quality.oddest[row])
    return [
        above["id"][row].as_py(),
        above["name"][row].as_py()[:120],
        int(quality.sizes[row]),
        round(float(quality.cohesion[row]), 4),
        _number(stability.stability[row]) if stability else None,
        _number(quality.conductance[row]),
        below["name"][odd].as_py()[:80],
        below["id"][odd].as_py(),
        round(float(quality.oddest_cosine[row]), 4),
    ]


def _number(value: float) -> float | None:
    return None if math.isnan(value) else round(float(value), 4)


def _first(
    index: Index, quality: ClusterQuality, rows: np.ndarray, stability: ClusterStability | None, sort: tuple[str, bool]
) -> np.ndarray:
    """The rows that come first in that order."""
    column, rising = sort
    if column == "name":
        names: Sequence[str] = index.layers[quality.layer].entities["name"].to_pylist()
        ordered = sorted(rows.tolist(), key=lambda row: names[row].casefold(), reverse=not rising)
        return np.array(ordered[:MOST_ROWS], dtype=np.int64)
    known = np.full(len(quality), np.nan) if stability is None else stability.stability
    by_name = {"size": quality.sizes, "cohesion": quality.cohesion, "stability": known}
    by_name |= {"conductance": quality.conductance, "oddest": quality.oddest_cosine}
    values = by_name[column][rows].astype(np.float64)
    return rows[np.argsort(values if rising else -values, kind="stable")[:MOST_ROWS]]  # NaN comes last


def board_words() -> dict[str, Any]:
    """The sentences of the board."""
    return {
        "figure": say("explore.clusters.figure"),
        "table": say("explore.view.clusters"),
        "cohesion": say("explore.clusters.axis_cohesion"),
        "size": say("explore.clusters.axis_size"),
        "columns": {name: say(f"explore.clusters.column.{name}") for name in COLUMNS},
        "about": {name: say(f"explore.clusters.about.{name}") for name in COLUMNS},
    }
