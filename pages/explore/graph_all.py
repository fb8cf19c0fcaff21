"""Thousands of nodes as the script of the graph takes them: places and relations packed, names of the largest alone."""

import base64
from typing import Any

import numpy as np
import pyarrow as pa
import streamlit as st

from leanrag_core.figures.layer_graph import HEIGHT, WIDTH, AllNodes, all_nodes
from leanrag_core.queries.layer_scene import SceneRequest, reach_of
from leanrag_core.queries.schema import Filters
from leanrag_core.types.graph import Place
from leanrag_core.types.index import Index
from leanrag_core.types.layer_scene import FARTHER
from pages.common.messages import say
from pages.explore import graph_state
from pages.explore.exploring import Exploring

_STEP = 64  # parts of a pixel in which places are sent
_NAMED_UPPER, _NAMED_BASE = 300, 300  # nodes that are sent with their names
_LETTERS = 40


def all_values(exploring: Exploring, focus: Place) -> dict[str, Any]:
    """What the script draws instead of the scene around the focus."""
    drawn = nodes_of(exploring)
    hops = _hops(exploring, drawn, focus)
    bands = [
        {
            "top": drawn.bands[at],
            "bottom": drawn.bands[at + 1],
            "layer": number,
            "label": say("explore.graph.layer", n=number),
            "facts": _facts(drawn, number),
        }
        for at, number in enumerate(range(len(drawn.totals) - 1, -1, -1))
    ]
    packed = {
        "places": _packed(drawn.places * _STEP),
        "parents": _packed(np.where(drawn.parents < 0, 65_535, drawn.parents)),
        "relations": _packed(drawn.relations),
    }
    position, picked = drawn.position(focus), drawn.position(exploring.place)
    return {
        "all": {
            **packed,
            "step": _STEP,
            "width": WIDTH,
            "height": HEIGHT,
            "bands": bands,
            "counts": np.bincount(drawn.layers, minlength=len(drawn.totals)).tolist(),
            "hops": [[at, near] for at, near in sorted(hops.items(), key=lambda pair: pair[1])],
        },
        "named": _named(exploring.index, drawn, hops, picked),
        "focus": position,
        "picked": None if picked is None else f"#{picked}",
        "focus_id": "" if position is None else f"#{position}",
        "drawn": len(drawn.rows),
        "total": sum(drawn.totals),
        "links": [],
        "layouts": [],
    }


def id_of(exploring: Exploring, text: str) -> str:
    """The id of a node that the script names by its position, as #12."""
    if not text.startswith("#"):
        return text
    drawn = nodes_of(exploring)
    if not text[1:].isdigit() or int(text[1:]) >= len(drawn.rows):
        return ""
    place = drawn.place(int(text[1:]))
    return str(exploring.index.layers[place.layer].entities["id"][place.row].as_py())


def nodes_of(exploring: Exploring) -> AllNodes:
    """The nodes of the index that the filters let through, up to some thousands."""
    return _kept(exploring.summary.id, exploring.summary.created, exploring.filters, exploring.index)


@st.cache_resource(max_entries=16, show_spinner=False)
def _kept(index_id: str, created: str, filters: Filters, _index: Index) -> AllNodes:
    numbers = range(len(_index.layers))
    if not filters.active:
        return all_nodes(_index, [None for _ in numbers], [None for _ in numbers])
    masks = [filters.allows(_index, number) for number in numbers]
    return all_nodes(_index, masks, [filters.allows_relations(_index, number) for number in numbers])


def _packed(values: np.ndarray) -> str:
    return base64.b64encode(np.asarray(np.round(values), dtype="<u2").tobytes()).decode()


def _facts(drawn: AllNodes, number: int) -> str:
    shown = int((drawn.layers == number).sum())
    total = drawn.totals[number]
    return say("explore.shown_of", shown=shown, total=total) if shown < total else f"{total:,}"


def _hops(exploring: Exploring, drawn: AllNodes, focus: Place) -> dict[int, int]:
    layer = exploring.index.layers[focus.layer]
    reach = reach_of(layer, focus.row, SceneRequest(focus, hops=graph_state.remembered().hops))
    near = {focus.row: 0, **dict.fromkeys(reach.first, 1), **dict.fromkeys(reach.second, 2)}
    places = {row: drawn.position(Place(focus.layer, row)) for row in near}
    return {at: near[row] for row, at in places.items() if at is not None}


def _named(index: Index, drawn: AllNodes, hops: dict[int, int], picked: int | None) -> list[tuple[int, str, int, int]]:
    """Position, name, layer and hops of the nodes that are sent with their names."""
    base = np.flatnonzero(drawn.layers == 0)
    upper = np.flatnonzero(drawn.layers > 0)
    chosen = [] if picked is None else [picked]
    positions = dict.fromkeys([*hops, *chosen, *upper[:_NAMED_UPPER].tolist(), *base[:_NAMED_BASE].tolist()])
    named: list[tuple[int, str, int, int]] = []
    for number in range(len(index.layers) - 1, -1, -1):
        here = [at for at in positions if drawn.layers[at] == number]
        names = index.layers[number].entities["name"].take(pa.array(drawn.rows[here], pa.int64())).to_pylist()
        named += [(at, name[:_LETTERS], number, hops.get(at, FARTHER)) for at, name in zip(here, names, strict=True)]
    return named
