"""What of a trace is drawn in the layered figure, and in which band: its layer, or one of its kind's own."""

from dataclasses import dataclass

from leanrag_core.figures.drawing import isolated
from leanrag_core.figures.palette import known_colour
from leanrag_core.messages.catalog import codes, sentence
from leanrag_core.messages.message import message
from leanrag_core.types.trace import Style, Trace, TraceItem

_NO_STYLE_SHAPE = "box"


@dataclass(frozen=True)
class DrawnNode:
    """An item as it is drawn. band: its layer; items without one have a band for each kind, passages below all layers,
    others above. name: behind the item's title, where it has one. shape, colour: of its role. about: name, reason and
    layer."""

    id: str
    name: str
    role: str
    kind: str
    band: int
    parent: str | None
    rank: int | None
    shape: str
    colour: str
    about: str


@dataclass(frozen=True)
class Drawn:
    """The nodes in the order of the trace. kinds: the kind that each band outside of the layers holds."""

    nodes: tuple[DrawnNode, ...]
    kinds: dict[int, str]


def kind_title(kind: str, language: str) -> str:
    """Return what items of that kind are called. A kind without a title, of somebody's own strategy, keeps its name."""
    code = f"kind.{kind.replace('-', '_')}"
    return sentence(message(code), language) if code in codes() else kind.replace("-", " ").capitalize()


def drawn_nodes(trace: Trace, language: str) -> Drawn:
    """Return the items of a trace that have a place in the figure: all but passages that no relation or parent
    links."""
    linked = {id_ for relation in trace.relations for id_ in (relation.source, relation.target)}
    linked |= {item.parent for item in trace.items if item.parent} | {item.id for item in trace.items if item.parent}
    items = [item for item in trace.items if item.source is None or item.id in linked]
    top = max((item.layer for item in items if item.layer is not None), default=0)
    # What comes first in a trace, such as the parts of a question, is drawn on top.
    kinds = list(dict.fromkeys(item.kind for item in items if item.layer is None and item.source is None))
    band_of = {kind: top + len(kinds) - place for place, kind in enumerate(kinds)}
    passages = dict.fromkeys(item.kind for item in items if item.layer is None and item.kind not in band_of)
    band_of |= {kind: -1 - place for place, kind in enumerate(passages)}
    styles = {style.role: style for style in trace.styles if style.on == "item"}
    bands = {item.id: band_of[item.kind] if item.layer is None else item.layer for item in items}
    nodes = tuple(_drawn(item, bands, styles.get(item.role), language) for item in items)
    return Drawn(nodes, {band: kind for kind, band in band_of.items()})


def _drawn(item: TraceItem, bands: dict[str, int], style: Style | None, language: str) -> DrawnNode:
    parent, band = item.parent, bands[item.id]
    if parent is not None and bands.get(parent, band) <= band:  # a tree is drawn upwards
        parent = None
    reason = item.reason or (style.title if style else None)
    why = sentence(reason, language) if reason else item.role
    name = item.name
    if item.title is not None:
        name = sentence(message("figure.titled", title=item.title, name=isolated(name)), language)
    about = sentence(message("text.titled", title=isolated(item.name), text=why), language)
    if item.layer is not None:
        about = sentence(message("figure.in_layer", item=about, layer=item.layer), language)
    return DrawnNode(
        id=item.id,
        name=name,
        role=item.role,
        kind=item.kind,
        band=band,
        parent=parent,
        rank=item.rank,
        shape=style.shape if style else _NO_STYLE_SHAPE,
        colour=known_colour(style.colour if style else ""),
        about=about,
    )


def ranked_name(node: DrawnNode) -> str:
    """Return the name behind its rank, where it has one."""
    return isolated(node.name) if node.rank is None else f"{node.rank} {isolated(node.name)}"


def lit_ids(trace: Trace, step: int | None) -> tuple[set[str], set[str]]:
    """Return ids of the items and of the relations that are lit up to that step; None lights all of them."""
    steps = trace.steps if step is None or step >= len(trace.steps) else trace.steps[: step + 1]
    if len(steps) == len(trace.steps):
        return {item.id for item in trace.items}, {relation.id for relation in trace.relations}
    items = {id_ for lit_step in steps for id_ in lit_step.items}
    relations = {id_ for lit_step in steps for id_ in lit_step.relations}
    return items, relations
