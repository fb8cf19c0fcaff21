"""Icicle, treemap and sunburst as a component: the input of its script, and what it reports."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from leanrag_core.figures.blocks import LAYER, QUESTION, TYPE, Block, Column, Measure, Picture, ShownTree, hit_steps
from leanrag_core.types.graph import Place
from leanrag_core.types.visible import visible_values
from pages.common import drawing_view
from pages.common.component import component, report
from pages.common.messages import language, say

_HERE = Path(__file__).resolve().parent
_SCRIPT, _MARK = _HERE / "blocks.js", _HERE / "blocks_mark.js"
_FRAME = '<div class="lr-blocks"></div>'
_KEY = "blocks"
_PARTS = ("figure_tools", "block_cells", "block_shapes")


@dataclass(frozen=True)
class Marks:
    """What to highlight. find: the search text. matches: ids of matching entities."""

    find: str
    matches: frozenset[str]


@dataclass(frozen=True)
class Reports:
    """The callbacks: picked with the id of a chosen block, opened with that of an opened one, up, and as_table."""

    picked: Callable[[str], None]
    opened: Callable[[str], None]
    up: Callable[[], None]
    as_table: Callable[[], None]


def show(
    tree: ShownTree,
    picture: Picture,
    measure: Measure | None,
    marks: Marks,
    reports: Reports,
    *,
    crumbs: Sequence[tuple[int, str, str]],
    name: str,
) -> None:
    """Draw the picture. measure: colours the blocks; None for the last question's hits. crumbs: layer, id and name from
    the root to the focus. name: of the measure."""

    n_nodes = sum(column.total for column in picture.columns)
    data = {
        "nodes": n_nodes,
        "shape": picture.shape,
        "height": picture.height,
        "language": language(),
        "label": say("explore.blocks_label", shape=say(f"explore.shape.{picture.shape}"), n=len(picture.blocks)),
        "focus": picture.blocks[0].id,
        "find": marks.find,
        "columns": [
            {"layer": column.layer, "text": _head(column, picture), "total": column.total} for column in picture.columns
        ],
        "crumbs": [{"layer": layer, "id": id_, "name": title} for layer, id_, title in crumbs],
        "blocks": _blocks(tree, picture, measure, marks, name),
        "measure": {"name": name, "title": say(f"explore.by.{name}"), "steps": _steps(measure, name, picture)},
        "words": {
            "crumbs": say("explore.crumbs"),
            "hits": say("explore.legend.hits"),
            "folded": say("explore.legend.folded"),
            "found": say("explore.legend.found"),
            # The script counts the cells for which it has room.
            "drawn": say("explore.drawn", drawn="{drawn}", total=n_nodes),
            "all_drawn": say("explore.all_drawn", n=n_nodes),
            "entity": say("explore.about.entity", name="{name}", type="{type}"),
            "no_type": say("explore.no_type"),
            "more_cells": say("explore.more_cells", count="{count}", name="{name}"),
        },
        "tools": drawing_view.tools(
            say("explore.figure", what=say(f"explore.shape.{picture.shape}"), name=tree.index.manifest.name),
            _passing(tree),
            keys=say("explore.keys"),
        ),
    }
    component(_SCRIPT, _FRAME, parts=_PARTS)(
        data=visible_values(data),
        key=_KEY,
        height="content",
        on_picked_change=report(_KEY, "picked", reports.picked),
        on_opened_change=report(_KEY, "opened", reports.opened),
        on_up_change=report(_KEY, "up", lambda value: reports.up()),
        on_table_change=report(_KEY, "table", lambda value: reports.as_table()),
    )


def show_picked(entity_id: str) -> None:
    """Mark the chosen entity with a separate component, so that choosing another one leaves the blocks unchanged."""
    component(_MARK, "<span></span>")(data={"picked": entity_id}, key="blocks_mark")


def _head(column: Column, picture: Picture) -> str:
    if column.layer == picture.columns[0].layer:
        return say("explore.head.open")
    if picture.shape == "icicle" and column is picture.columns[-1]:
        return say("explore.head.strongest", total=column.total)
    if column.named == column.total:
        return f"{column.total:,}"
    return say("explore.head.named", named=column.named, total=column.total)


def _passing(tree: ShownTree) -> str:
    """Return in words how many entities pass the filters; empty if all do."""
    total, passing = len(tree.index.layers[0]), int(tree.below[0].sum())
    return say("explore.passing", n=passing, total=total) if passing < total else ""


def _blocks(
    tree: ShownTree, picture: Picture, measure: Measure | None, marks: Marks, name: str
) -> list[dict[str, Any]]:
    places = {Place(block.layer, block.row) for block in picture.blocks if not block.folded}
    places |= {Place(block.layer - 1, row) for block in picture.blocks for row in block.cells}
    texts = _texts(tree, places)
    drawn: list[dict[str, Any]] = []
    for block in picture.blocks:
        box = {"x": round(block.x, 4), "y": round(block.y, 1), "width": round(block.width, 4)}
        shape = {**box, "height": round(block.height, 1), "parent": block.parent, "layer": block.layer}
        if block.folded:
            drawn.append({"id": block.id, **_folded(block), **shape})
            continue
        place = Place(block.layer, block.row)
        values = {**_node(tree, place, texts[place], block.below, measure, marks, name), **shape, "inner": block.inner}
        values["sub"] = _second_line(block)
        if block.strip:
            values["strip"] = True
        if block.cells:
            kept = set(block.kept_cells)
            values["cells"] = [
                _cell(
                    _node(tree, inner, texts[inner], int(tree.below[inner.layer][inner.row]), measure, marks, name),
                    inner,
                    kept,
                )
                for inner in (Place(block.layer - 1, row) for row in block.cells)
            ]
        drawn.append(values)
    return drawn


def _texts(tree: ShownTree, places: set[Place]) -> dict[Place, tuple[str, str, str]]:
    """Return id, name and type of those nodes."""
    texts: dict[Place, tuple[str, str, str]] = {}
    for layer in tree.index.layers:
        rows = sorted(place.row for place in places if place.layer == layer.number)
        cells = layer.entities.select(["id", "name", "type"]).take(pa.array(rows, pa.int64())).to_pylist()
        for row, cell in zip(rows, cells, strict=True):
            texts[Place(layer.number, row)] = (cell["id"], cell["name"], cell["type"] or "")
    return texts


def _node(
    tree: ShownTree,
    place: Place,
    texts: tuple[str, str, str],
    below: int,
    measure: Measure | None,
    marks: Marks,
    name: str,
) -> dict[str, Any]:
    id_, title, kind = texts
    about = ""  # the script writes the text of a base entity
    if place.layer:
        about = say("explore.about.aggregated", name=title, layer=place.layer, n=below)
    values: dict[str, Any] = {"id": id_, "name": title}
    if id_ in marks.matches:
        values["lit"] = True
    if measure is None:
        if name == QUESTION:
            count = tree.hits[place.layer].get(place.row, 0)
            values["step"] = hit_steps(tree.hits[place.layer], place.layer, place.row)
            if count:
                values["badge"] = str(count)
                code = "explore.about.hits" if place.layer else "explore.about.rank"
                about = _about(about, title, kind, say(code, n=count))
    else:
        layer = measure.layers[place.layer]
        value = int(layer.values[place.row])
        values["step"] = int(layer.steps[place.row])
        if measure.name == TYPE:
            named = measure.types[value] if value >= 0 else say("explore.other_types")
            values["value"] = (kind or named) if not place.layer else named
        else:
            values["value"] = f"{value:,}"
        more = say(f"explore.about.{name}", value=values["value"])
        about = _about(about, title, kind, more)
    return values | ({"about": about} if about else {"type": kind})


def _about(about: str, name: str, kind: str, more: str) -> str:
    """Return a node's description and value in words."""
    about = about or say("explore.about.entity", name=name, type=kind or say("explore.no_type"))
    return say("explore.about.with", about=about, more=more)


def _cell(node: dict[str, Any], place: Place, kept: set[int]) -> dict[str, Any]:
    """Return a node as a cell without default values, since there are many cells."""
    return node | ({"inner": 1} if place.layer else {}) | ({"must": True} if place.row in kept else {})


def _second_line(block: Block) -> str:
    if block.layer > 1 and block.inner:
        entities = say("explore.block.entities", n=block.below)
        return say("explore.block.clusters", n=block.inner, entities=entities)
    return say("explore.block.entities", n=block.below) if block.layer else ""


def _folded(block: Block) -> dict[str, Any]:
    named = say("explore.more.clusters" if block.layer else "explore.more.entities", n=block.folded)
    about = say("explore.about.folded", what=named, layer=block.layer)
    shown = {"name": named, "short": f"+{block.folded:,}", "folded": block.folded, "about": about}
    return {**shown, "sub": say("explore.block.entities", n=block.below)} if block.layer else shown


def _steps(measure: Measure | None, name: str, picture: Picture) -> list[dict[str, str]]:
    """Return the legend: pairs of a style class and its meaning."""
    if name == LAYER:
        return [{"paint": f"l{min(4, column.layer)}", "text": f"L{column.layer}"} for column in picture.columns]
    if measure is None:
        texts = [say("explore.legend.none"), "1", "2", "3+"]
        return [{"paint": f"q{step}", "text": text} for step, text in enumerate(texts)]
    if measure.name == TYPE:
        kinds = [{"paint": f"t{step}", "text": kind} for step, kind in enumerate(measure.types, start=1)]
        return [*kinds, {"paint": "t0", "text": say("explore.other_types")}]
    texts = [say("explore.legend.none"), say("explore.legend.least"), "", "", say("explore.legend.most")]
    return [{"paint": f"s{step}", "text": text} for step, text in enumerate(texts)]
