"""The graph in layers: words, hues, and all nodes of an index at once."""

import base64
from typing import Any

import numpy as np
import pyarrow as pa

from leanrag_core.figures.all_nodes import HEIGHT, WIDTH, AllNodes
from leanrag_core.figures.palette import Palette
from leanrag_core.messages.catalog import Say
from leanrag_core.types.index import Index
from leanrag_core.types.layer_scene import FARTHER

_STEP = 64  # parts of a pixel in which places are sent
_NAMED_UPPER, _NAMED_BASE = 300, 300  # nodes that are sent with their names
_LETTERS = 40
# Hues of clouds, light and dark: away from those of seeds, lambda and common ancestors.
_HUES = (
    ("#2F8796", "#6CC3CF"),
    ("#6B7FBF", "#8FA3E6"),
    ("#9A7E25", "#D6BC6A"),
    ("#8B6FB5", "#B79BE0"),
    ("#8A8F98", "#9AA0A8"),
    ("#7A6A58", "#B8A794"),
)


def hues(palette: Palette) -> list[str]:
    """Return the colours of clouds."""
    return [pair[palette.dark] for pair in _HUES]


def graph_legend(say: Say, *, whole: bool) -> list[tuple[str, str]]:
    """Return the marks and what they mean; fewer where the whole graph is drawn."""
    looks: tuple[str, ...] = ("focus", "one", "two", "far", "tree", "relation")
    looks += () if whole else ("inter", "folded", "cloud")
    return [(look, say(f"explore.graph.legend.{look}")) for look in looks]


def graph_words(say: Say) -> dict[str, Any]:
    """Return the sentences of the bar, the bubbles and the list. The script writes numbers and names in the places of
    {n} and {name}."""
    names = (
        *("detail", "around", "all", "hops", "hops1", "hops2", "clouds", "undo", "unpin", "out", "in", "fit"),
        *("closed", "folded", "row", "matches", "chosen", "focus", "open", "pin", "hide"),
    )
    texts: dict[str, Any] = {name: say(f"explore.graph.word.{name}", n="{n}", name="{name}") for name in names}
    columns = [say(f"explore.graph.column.{name}") for name in ("name", "layer", "near", "above")]
    near = [say(f"explore.graph.hops.{hops}") for hops in range(FARTHER + 1)]
    return {**texts, "columns": columns, "near": near}


def packed_nodes(drawn: AllNodes, say: Say) -> dict[str, Any]:
    """Return what layer_nodes.js unpacks: places, parents, cells and relations, and the bands of the layers."""
    cells = drawn.cells
    bands = [
        {
            "top": drawn.bands[at],
            "bottom": drawn.bands[at + 1],
            "layer": number,
            "label": say("explore.graph.layer", n=number),
            "facts": _facts(drawn, number, say),
        }
        for at, number in enumerate(range(len(drawn.totals) - 1, -1, -1))
    ]
    return {
        "places": _packed(drawn.places * _STEP),
        "parents": _packed(_or_none(drawn.parents[: len(drawn.places)])),
        "relations": _packed(drawn.relations),
        "cells": _packed(
            np.column_stack([_or_none(cells.parents), cells.sizes, cells.middles * _STEP, cells.spans * _STEP])
        ),
        "step": _STEP,
        "width": WIDTH,
        "height": HEIGHT,
        "bands": bands,
        "counts": np.bincount(drawn.layers, minlength=len(drawn.totals)).tolist(),
    }


def _or_none(positions: np.ndarray) -> np.ndarray:
    """Return positions, (n,), with 65,535 for none."""
    return np.where(positions < 0, 65_535, positions)


def _packed(values: np.ndarray) -> str:
    """Return the values, of any shape, rounded, as the base64 of 16-bit whole numbers."""
    return base64.b64encode(np.asarray(np.round(values), dtype="<u2").tobytes()).decode()


def _facts(drawn: AllNodes, number: int, say: Say) -> str:
    shown = int((drawn.layers == number).sum())
    total = drawn.totals[number]
    return say("explore.shown_of", shown=shown, total=total) if shown < total else f"{total:,}"


def named_nodes(
    index: Index, drawn: AllNodes, hops: dict[int, int], picked: int | None
) -> list[tuple[int, str, int, int]]:
    """Return position, name, layer and hops of the nodes that are sent with their names."""
    base = np.flatnonzero(drawn.layers == 0)
    base = base[np.argsort(-index.layers[0].degrees[drawn.rows[base]], kind="stable")]
    upper = np.flatnonzero(drawn.layers > 0)
    chosen = [] if picked is None else [picked]
    positions = dict.fromkeys([*hops, *chosen, *upper[:_NAMED_UPPER].tolist(), *base[:_NAMED_BASE].tolist()])
    named: list[tuple[int, str, int, int]] = []
    for number in range(len(index.layers) - 1, -1, -1):
        in_layer = [at for at in positions if drawn.layers[at] == number]
        names = index.layers[number].entities["name"].take(pa.array(drawn.rows[in_layer], pa.int64())).to_pylist()
        named += [
            (at, name[:_LETTERS], number, hops.get(at, FARTHER)) for at, name in zip(in_layer, names, strict=True)
        ]
    return named
