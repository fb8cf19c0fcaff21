"""Islands and bridges: what the aggregated relations of each layer join."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from leanrag_core.figures.islands import IslandsPicture, islands_picture
from leanrag_core.messages.catalog import Say, joined_sentences
from leanrag_core.messages.message import message
from leanrag_core.queries.islands import (
    Components,
    Surroundings,
    TauCurve,
    TauSuggestion,
    components,
    strongest_forest,
    suggest_tau,
    surroundings,
    tau_curve,
)
from leanrag_core.types.graph import Layer
from leanrag_core.types.index import Index

_MOST_REASONS = 80  # islands of a layer that say why nothing reaches them
_MOST_LABELS = 6
_FEW = 12  # nodes of a layer that are all named


@dataclass(frozen=True, eq=False)
class LayerIslands:
    """An aggregated layer. built: tau of its relations, None where the index does not say or another rule decides."""

    layer: Layer
    parts: Components
    around: Surroundings
    curve: TauCurve
    picture: IslandsPicture
    suggestion: TauSuggestion | None
    built: float | None


@dataclass(frozen=True, eq=False)
class IndexIslands:
    """The components of layer 0, and the aggregated layers of two nodes or more, the lowest first."""

    base: Components
    layers: tuple[LayerIslands, ...]


def islands_of(index: Index) -> IndexIslands:
    """Return the islands of an index."""
    by_lambda = index.manifest.config.relation_rule == "lambda"
    tau_of = {step.layer: step.tau for step in index.report.clustering if by_lambda}
    layer_islands = []
    for layer in index.layers[1:]:
        if len(layer) < 2:
            continue
        n, strength = len(layer), np.asarray(layer.relations["strength"].to_numpy())
        parts, curve = components(n, layer.ends), tau_curve(layer)
        forest = strongest_forest(n, layer.ends, strength)
        picture = islands_picture(layer.vectors, layer.ends, strength, parts.labels, forest)
        around = surroundings(index, layer.number, parts)
        layer_islands.append(
            LayerIslands(layer, parts, around, curve, picture, suggest_tau(curve), tau_of.get(layer.number))
        )
    return IndexIslands(components(len(index.layers[0]), index.layers[0].ends), tuple(layer_islands))


def finding(islands: IndexIslands, say: Say) -> tuple[str, str]:
    """Say what the aggregated relations of the lowest aggregated layer do, and a second sentence."""
    lowest = islands.layers[0]
    n, sizes = len(lowest.layer), lowest.parts.sizes
    if sizes[0] == 1:
        return say("explore.islands.found.none", n=n, layer=lowest.layer.number), say("explore.islands.through_root")
    if len(sizes) == 1:
        text = say("explore.islands.found.all", n=n)
    elif 2 * sizes[0] > n:
        text = say("explore.islands.found.most", islands=n, n=len(sizes) - 1, largest=int(sizes[0]))
    else:
        text = say("explore.islands.found.parts", islands=n, parts=len(sizes), largest=int(sizes[0]))
    return text, say("explore.islands.without_them")


def base_line(islands: IndexIslands, say: Say) -> str:
    """Say layer 0 in one line."""
    n, largest = len(islands.base.labels), int(islands.base.sizes[0])
    parts = message("explore.islands.components", n=len(islands.base))
    text = say("explore.islands.base", n=n, parts=parts, largest=largest)
    return joined_sentences([text, say("explore.islands.base_tau")]) if islands.layers else text


def picture_values(index_id: str, islands: IndexIslands, say: Say) -> dict[str, Any]:
    """Return what islands.js draws."""
    names = ("island", "connected", "summarised", "joined")
    words = {name: say(f"explore.islands.key.{name}") for name in names} | {"open": say("explore.islands.open")}
    columns = ("layer", "nodes", "relations", "without", "with", "largest")
    table = [[say(f"explore.islands.column.{name}") for name in columns]]
    table.append(_table_row(0, len(islands.base.labels), None, islands.base))
    for each in islands.layers:
        table.append(_table_row(each.layer.number, len(each.layer), each.layer.relations.num_rows, each.parts))
    return {
        "index": index_id,
        "label": joined_sentences(finding(islands, say)),
        "words": words,
        "base": base_line(islands, say),
        "table": table,
        "layers": [_layer_picture(each, say) for each in islands.layers],
    }


def _table_row(number: int, n: int, relations: int | None, parts: Components) -> list[str]:
    without = n if relations is not None else len(parts)
    shown = "–" if relations is None else f"{relations:,}"
    return [f"L{number}", f"{n:,}", shown, f"{without:,}", f"{len(parts):,}", f"{int(parts.sizes[0]):,}"]


def _layer_picture(islands: LayerIslands, say: Say) -> dict[str, Any]:
    layer, picture, parts = islands.layer, islands.picture, islands.parts
    n, rows, labels = len(layer), picture.rows, parts.labels[picture.rows]
    names = [layer.entity_cells.value("name", int(row)) for row in rows]
    ids = [layer.entity_cells.value("id", int(row)) for row in rows]
    strength = layer.relations["strength"].to_numpy()[picture.links].tolist()
    drawn = zip(picture.x, picture.y, labels, names, ids, strict=True)
    apart = [int(place) for place in np.flatnonzero(labels > 0)]
    n_parts = len(parts)
    with_text = say("explore.islands.with", n=int(parts.sizes[0])) if n_parts > 1 else say("explore.islands.with_all")
    title = say("explore.islands.layer", layer=layer.number, n=n)
    if len(rows) < n:
        title = say("explore.islands.layer_sample", title=title, drawn=len(rows))
    return {
        "number": layer.number,
        "title": title,
        "without": [f"{n:,}", say("explore.islands.without", n=n)],
        "with": [f"{n_parts:,}", with_text],
        "said": {
            "without": say("explore.islands.said_without", n=n, layer=layer.number),
            "with": say("explore.islands.said_with", parts=n_parts, n=n, layer=layer.number),
        },
        "tau": islands.built,
        "nodes": [[round(float(x), 3), round(float(y), 3), int(part), name, id_] for x, y, part, name, id_ in drawn],
        "sizes": parts.sizes[: int(labels.max()) + 1].tolist(),
        "links": [[*ends, value] for ends, value in zip(picture.ends.tolist(), strength, strict=True)],
        "labels": list(range(len(rows))) if len(rows) <= _FEW else apart[:_MOST_LABELS],
        "why": {str(place): _reason(islands, int(labels[place]), say) for place in apart[:_MOST_REASONS]},
    }


def _reason(islands: LayerIslands, part: int, say: Say) -> str:
    """Say why nothing reaches that component."""
    members, inside = int(islands.around.members[part]), int(islands.around.inside[part])
    if islands.around.dropped[part]:
        return say("explore.islands.why.dropped", n=int(islands.around.dropped[part]))
    size = int(islands.parts.sizes[part])
    head = say("explore.islands.why.several", n=size - 1) if size > 1 else ""
    below = islands.layer.number - 1
    if inside == 0:
        return joined_sentences([head, say("explore.islands.why.no_relation", n=members, layer=below)])
    return joined_sentences([head, say("explore.islands.why.all_inside", members=members, n=inside, layer=below)])


def drawn_note(islands: IndexIslands, say: Say) -> str:
    """Say how many of the relations are drawn."""
    drawn = sum(len(each.picture.links) for each in islands.layers)
    total = sum(each.layer.relations.num_rows for each in islands.layers)
    if drawn == total:
        return say("explore.islands.drawn_all", n=total)
    return say("explore.islands.drawn", drawn=drawn, n=total)
