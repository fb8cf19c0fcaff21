"""The graph in layers as its script takes it: nodes, links and layouts with every sentence of the figure."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from leanrag_core.figures.drawing import isolated
from leanrag_core.figures.layer_graph import LayerGraph
from leanrag_core.figures.palette import Palette
from leanrag_core.types.layer_scene import FARTHER, Scene, SceneLink, SceneNode
from pages.common.messages import say
from pages.explore.kind_words import kind_title

# Hues of clouds, light and dark: away from those of seeds, lambda and common ancestors.
_HUES = (
    ("#2F8796", "#6CC3CF"),
    ("#6B7FBF", "#8FA3E6"),
    ("#9A7E25", "#D6BC6A"),
    ("#8B6FB5", "#B79BE0"),
    ("#8A8F98", "#9AA0A8"),
    ("#7A6A58", "#B8A794"),
)
_UNTYPED = ("", "unknown", "aggregated")


def scene_values(scene: Scene, layouts: Sequence[LayerGraph]) -> dict[str, Any]:
    """nodes, links and layouts, the narrowest layout first."""
    return {
        "nodes": [_node(node) for node in scene.nodes],
        "links": [_link(scene, link) for link in scene.links],
        "layouts": [_layout(layout) for layout in layouts],
        "focus": scene.nodes.index(scene.focus),
        "top": len(scene.totals) - 1,
        "focus_id": scene.focus.id,
    }


def hues(palette: Palette) -> list[str]:
    """Colours of clouds."""
    return [pair[palette.dark] for pair in _HUES]


def near_words() -> list[str]:
    """How near a node is, by its hops."""
    return [say(f"explore.graph.hops.{hops}") for hops in range(FARTHER + 1)]


def legend(*, whole: bool) -> list[tuple[str, str]]:
    """The marks and what they mean; fewer where the whole graph is drawn."""
    looks: tuple[str, ...] = ("focus", "one", "two", "far", "tree", "relation")
    looks += () if whole else ("inter", "folded", "cloud")
    return [(look, say(f"explore.graph.legend.{look}")) for look in looks]


def words() -> dict[str, Any]:
    """Sentences of the bar, the bubbles and the list. The script writes in numbers and names, in the places of {n} and
    {name}."""
    names = (
        *("detail", "around", "all", "hops", "hops1", "hops2", "clouds", "undo", "unpin", "out", "in", "fit"),
        *("closed", "folded", "row", "matches", "chosen", "focus", "open", "pin", "hide"),
    )
    texts: dict[str, Any] = {name: say(f"explore.graph.word.{name}", n="{n}", name="{name}") for name in names}
    columns = [say(f"explore.graph.column.{name}") for name in ("name", "layer", "near", "above")]
    return {**texts, "columns": columns, "near": near_words()}


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
