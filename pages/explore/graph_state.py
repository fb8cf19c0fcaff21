"""The remembered state of the layered graph: focus, opened and pinned nodes, hops. The link holds all of it."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from leanrag_core.figures.drawing import isolated
from leanrag_core.figures.layer_graph import LayerGraph
from leanrag_core.queries import browse
from leanrag_core.queries.layer_scene import SceneRequest, layer_scene
from leanrag_core.types.graph import Place
from leanrag_core.types.index import Index
from leanrag_core.types.layer_scene import Scene, SceneLink, SceneNode
from pages.common import state
from pages.common.messages import say
from pages.explore.exploring import Exploring, kind_title, name_and_id

URL = ("centre", "hops", "open", "grown", "pins", "hidden", "detail")
AROUND, ALL = "around", "all"
_MOST_OPEN, _MOST_PINNED, _MOST_HIDDEN = 8, 8, 200
_HOPS = ("1", "2")


@dataclass(frozen=True)
class GraphState:
    """The settings of the picture. pinned, hidden: ids. detail: AROUND or ALL."""

    hops: int
    pinned: tuple[str, ...]
    hidden: tuple[str, ...]
    detail: str


def remembered() -> GraphState:
    """Return the remembered settings of the graph."""
    return GraphState(
        hops=int(state.fitting("hops", _HOPS[-1], str, lambda value: value in _HOPS)),
        pinned=_ids("pins")[:_MOST_PINNED],
        hidden=_ids("hidden")[:_MOST_HIDDEN],
        detail=state.fitting("detail", AROUND, str, lambda value: value in (AROUND, ALL)),
    )


def scene_now(exploring: Exploring) -> Scene:
    """Return the scene around the focus; around the chosen entity if there is no focus or its scene lacks that
    entity."""
    centre = browse.locate(exploring.index, state.recall("centre")) if state.recall("centre") else None
    if centre is None:
        return layer_scene(exploring.index, _request(exploring, exploring.place))
    scene = layer_scene(exploring.index, _request(exploring, centre))
    _, chosen = name_and_id(exploring.index, exploring.place)
    if any(node.id == chosen for node in scene.nodes):
        return scene
    state.remember("centre", chosen)
    return layer_scene(exploring.index, _request(exploring, exploring.place))


def act(exploring: Exploring, kind: str, id_: str, *, focus: str) -> None:
    """Carry out an action in the picture. kind: pick, open, grow, centre, pin, unpin, hops or detail. focus: id of the
    focus, which stays when another node is chosen."""
    state.remember("centre", focus)
    if kind in ("hops", "detail"):
        state.remember(kind, id_)
        return
    if kind == "unpin":
        state.forget("pins")
        return
    place = browse.locate(exploring.index, id_)
    if place is None:  # the index was rebuilt meanwhile
        return
    if kind == "pin":
        others = [pin for pin in _ids("pins") if pin != id_]
        _remember_ids("pins", others if id_ in _ids("pins") else [*others, id_][-_MOST_PINNED:])
        return
    if kind in ("pick", "centre"):
        exploring.go(id_)
    if kind == "centre":
        state.remember("centre", id_)
    if kind == "grow":
        state.remember("grown", id_)
    if place.layer and kind != "centre":
        used = [opened for opened in _ids("open") if opened != id_]
        _remember_ids("open", [*used, id_][-_MOST_OPEN:])


def hide(ids: Sequence[str]) -> None:
    """Hide exactly these nodes."""
    _remember_ids("hidden", list(ids)[:_MOST_HIDDEN])


def _request(exploring: Exploring, focus: Place) -> SceneRequest:
    index, filters = exploring.index, exploring.filters
    numbers = range(len(index.layers))
    grown = _places(index, _ids("grown"))
    return SceneRequest(
        focus,
        hops=remembered().hops,
        opened=_places(index, _ids("open")),
        grown=grown[0] if grown else None,
        pinned=_places(index, remembered().pinned),
        allowed=tuple(exploring.mask(number) for number in numbers) if filters.active else (),
        allowed_relations=tuple(exploring.relation_mask(number) for number in numbers) if filters.active else (),
    )


def _places(index: Index, ids: Sequence[str]) -> tuple[Place, ...]:
    places = (browse.locate(index, id_) for id_ in ids)
    return tuple(place for place in places if place is not None)


def _ids(name: str) -> tuple[str, ...]:
    return tuple(filter(None, state.recall(name).split("|")))


def _remember_ids(name: str, ids: Sequence[str]) -> None:
    state.remember(name, "|".join(ids))


_UNTYPED = ("", "unknown", "aggregated")


def scene_values(scene: Scene, layouts: Sequence[LayerGraph]) -> dict[str, Any]:
    """Return the scene for the script: nodes, links and layouts, the narrowest layout first."""
    return {
        "nodes": [_node(node) for node in scene.nodes],
        "links": [_link(scene, link) for link in scene.links],
        "layouts": [_layout(layout) for layout in layouts],
        "focus": scene.nodes.index(scene.focus),
        "top": len(scene.totals) - 1,
        "focus_id": scene.focus.id,
    }


def _node(node: SceneNode) -> dict[str, Any]:
    return {
        "id": node.id,
        "name": node.name,
        "layer": node.layer,
        "hops": node.hops,
        "parent": node.parent,
        "line": node.above_focus,
        "open": node.is_open,
        "pinned": node.pinned,
        "rank": node.rank,
        "about": _about(node),
    }


def _about(node: SceneNode) -> str:
    kind = say("explore.graph.children", n=node.children) if node.layer else node.type
    kind = "" if kind in _UNTYPED else kind
    near = say(f"explore.graph.hops.{node.hops}")
    parts = [isolated(node.name), f"L{node.layer}", kind, near]
    parts += [say("explore.graph.pinned")] if node.pinned else []
    return say("explore.graph.comma").join(part for part in parts if part)


def _link(scene: Scene, link: SceneLink) -> dict[str, Any]:
    names = [isolated(scene.nodes[end].name) for end in (link.source, link.target)]
    code = "explore.graph.arc" if link.layer else "explore.graph.relation"
    about = say(code, source=names[0], target=names[1], kind=kind_title(link.kind), strength=f"{link.strength:g}")
    values: dict[str, Any] = {"a": link.source, "b": link.target, "layer": link.layer, "s": round(link.strength, 2)}
    return {**values, "hops": link.hops, "about": about if link.hops <= 2 or link.layer else ""}


def _layout(layout: LayerGraph) -> dict[str, Any]:
    bands = [
        {
            "layer": band.layer,
            "top": band.top,
            "bottom": band.bottom,
            "label": say("explore.graph.layer", n=band.layer),
            "facts": say("explore.shown_of", shown=band.shown, total=band.total)
            if band.shown < band.total
            else f"{band.total:,}",
        }
        for band in layout.bands
    ]
    clouds = [
        {
            "node": cloud.node,
            "x": round(cloud.x, 1),
            "y": round(cloud.y, 1),
            "radius_x": round(cloud.radius_x, 1),
            "radius_y": round(cloud.radius_y, 1),
            "dots": [node for node, _, _ in cloud.dots],
            "hue": cloud.hue,
        }
        for cloud in layout.clouds
    ]
    places = [
        [place.node, round(place.x, 1), round(place.y, 1), round(place.width, 1), place.height]
        for place in layout.places
    ]
    bubbles = [asdict(bubble) for bubble in layout.bubbles]
    return {
        "width": layout.width,
        "height": layout.height,
        "bands": bands,
        "places": places,
        "clouds": clouds,
        "bubbles": bubbles,
    }
