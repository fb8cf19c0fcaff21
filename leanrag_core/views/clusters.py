"""The board of a layer's clusters: a dot for each, and a table."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from leanrag_core.messages.catalog import Say, joined_sentences
from leanrag_core.queries.clusters import ClusterQuality, ClusterStability, known_number
from leanrag_core.types.build_report import LayerClusters
from leanrag_core.types.index import Index

COLUMNS = ("name", "size", "cohesion", "stability", "conductance", "oddest")
MOST_ROWS, MOST_DOTS = 150, 500


def board_values(
    index: Index, quality: ClusterQuality, rows: np.ndarray, stability: ClusterStability | None, sort: tuple[str, bool]
) -> dict[str, Any]:
    """Return the values of clusters.js: a dot for each cluster and a row of the table, as many as a page can hold.

    rows: (n,) int, the clusters that are shown.
    """
    of_dots = rows if len(rows) <= MOST_DOTS else rows[np.linspace(0, len(rows) - 1, MOST_DOTS).astype(np.int64)]
    names, ids = (index.layers[quality.layer].entity_cells[column] for column in ("name", "id"))
    dots = [
        [ids[row].as_py(), int(quality.sizes[row]), round(float(quality.cohesion[row]), 3), names[row].as_py()[:40]]
        for row in of_dots.tolist()
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
        known_number(stability.stability[row]) if stability else None,
        known_number(quality.conductance[row]),
        below["name"][odd].as_py()[:80],
        below["id"][odd].as_py(),
        round(float(quality.oddest_cosine[row]), 4),
    ]


def _first(
    index: Index, quality: ClusterQuality, rows: np.ndarray, stability: ClusterStability | None, sort: tuple[str, bool]
) -> np.ndarray:
    """Return the rows, (k,), that come first in that order."""
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


def board_words(say: Say) -> dict[str, Any]:
    """Return the sentences of the board."""
    return {
        "figure": say("explore.clusters.figure"),
        "table": say("explore.view.clusters"),
        "cohesion": say("explore.clusters.axis_cohesion"),
        "size": say("explore.clusters.axis_size"),
        "columns": {name: say(f"explore.clusters.column.{name}") for name in COLUMNS},
        "about": {name: say(f"explore.clusters.about.{name}") for name in COLUMNS},
    }


def finding(index: Index, quality: ClusterQuality, clustering: LayerClusters | None, say: Say) -> tuple[str, str]:
    """Say how many clusters of which sizes, and which one holds together least."""
    sizes, names = quality.sizes, index.layers[quality.layer].entity_cells["name"]
    n = len(sizes)
    text = say(
        "explore.clusters.found", n=n, smallest=int(sizes.min()), largest=int(sizes.max()), layer=quality.layer - 1
    )
    if clustering is None or clustering.cap is None:
        return text, ""
    wanted = index.manifest.config.cluster_size
    below, cap = int((sizes < wanted / 2).sum()), int((sizes >= clustering.cap).sum())
    more = say("explore.clusters.wanted", wanted=wanted, cap=clustering.cap, small=below, n=cap)
    if n > 1:
        worst = int(np.argmin(quality.cohesion))
        least = say(
            "explore.clusters.least",
            name=f"\u2068{names[worst].as_py()}\u2069",
            cosine=f"{quality.cohesion[worst]:.2f}",
        )
        more = joined_sentences([more, least])
    return text, more
