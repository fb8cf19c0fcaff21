"""The retrieved subgraph in its layers: fixed positions, the same in every step; only what is lit changes.

x is a fraction of the width, y is in pixels: the browser knows the width, Python knows the rows.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from leanrag_core.types.trace import Trace, TraceNode

MOST_SEEDS = 40  # in one row; the others fold into one dot
MOST_NAMES = 15  # seed names; above it the rank alone
_WIDEST_BOX = 0.27
_PITCH, _CROWDED_PITCH = 52.0, 60.0  # px from one line of boxes to the next; narrow boxes have three lines of text
_CROWDED = 5  # boxes in a row; above it they stand in two staggered lines
_MOST_PILLS = 9


@dataclass(frozen=True)
class Dot:
    """A node as it is drawn. kind: dot, box, double (the LCA), fold. x, width: fractions of the plot's width; y: px.
    line: which of two alternating lines a seed's name stands on."""

    id: str
    name: str
    role: str
    kind: str
    layer: int
    rank: int | None
    x: float
    y: float
    width: float
    lit: bool
    named: bool
    line: int
    about: str


@dataclass(frozen=True)
class Line:
    """An edge as it is drawn. kind: tree, base, inter-cluster. rise: px that an arc rises above its ends.
    pill: whether lambda is written on it."""

    id: str
    source: str
    target: str
    kind: str
    strength: float
    lit: bool
    rise: float
    pill: bool
    about: str


@dataclass(frozen=True)
class Row:
    """A layer's band: from top to bottom px, with its label and a second line of facts."""

    layer: int
    top: float
    bottom: float
    label: str
    facts: str


@dataclass(frozen=True)
class LayeredGraph:
    """All that the drawing needs. height: px. n_seeds: seeds in the bottom row."""

    nodes: tuple[Dot, ...]
    edges: tuple[Line, ...]
    rows: tuple[Row, ...]
    height: float
    n_seeds: int
    folded: int


def layered_graph(trace: Trace, layer_sizes: Sequence[int], step: int | None = None) -> LayeredGraph:
    """The subgraph of a trace with what is lit up to that step (None: everything).

    layer_sizes: entities of each layer of the index, for "4 of 122".
    """
    nodes, folded = _kept(trace.nodes)
    if not nodes:
        return LayeredGraph((), (), (), 0.0, 0, 0)
    lit_nodes, lit_relations = _lit(trace, step)
    x_of = _columns(nodes)
    by_layer: dict[int, list[TraceNode]] = {}
    for node in sorted(nodes, key=lambda one: x_of[one.id]):
        by_layer.setdefault(node.layer, []).append(node)
    arcs = _arcs_by_layer(trace)
    rows, y_of, width_of, height = _rows(by_layer, x_of, layer_sizes, arcs, trace)

    ids = set(x_of)
    seeds_below = [node for node in nodes if node.layer == 0 and node.role == "seed"]
    line_of = {node.id: place % 2 for place, node in enumerate(by_layer.get(0, []))}
    dots = [
        Dot(
            id=node.id,
            name=node.name,
            role=node.role,
            kind=_kind(node, trace),
            layer=node.layer,
            rank=node.rank,
            x=round(x_of[node.id], 5),
            y=y_of[node.id],
            width=round(width_of[node.id], 5),
            lit=node.id in lit_nodes,
            named=len(seeds_below) <= MOST_NAMES or node.layer > 0,
            line=line_of.get(node.id, 0),
            about=_about(node, trace),
        )
        for node in nodes
    ]
    if folded:
        dots.append(_fold(folded, by_layer, rows))
    return LayeredGraph(
        nodes=tuple(dots),
        edges=tuple(_edges(trace, ids, x_of, lit_nodes, lit_relations)),
        rows=rows,
        height=height,
        n_seeds=len(seeds_below),
        folded=folded,
    )


def _kept(nodes: Sequence[TraceNode]) -> tuple[list[TraceNode], int]:
    """The nodes that are drawn: the best seeds and what lies above them; and how many seeds are not."""
    seeds = sorted((node for node in nodes if node.role == "seed"), key=lambda node: node.rank or 0)
    if len(seeds) <= MOST_SEEDS:
        return list(nodes), 0
    by_id = {node.id: node for node in nodes}
    kept: dict[str, TraceNode] = {}
    for seed in seeds[:MOST_SEEDS]:
        node: TraceNode | None = seed
        while node is not None and node.id not in kept:
            kept[node.id] = node
            node = by_id.get(node.parent_id or "")
    return list(kept.values()), len(seeds) - MOST_SEEDS


def _lit(trace: Trace, step: int | None) -> tuple[set[str], set[str]]:
    steps = trace.steps if step is None or step >= len(trace.steps) else trace.steps[: step + 1]
    if len(steps) == len(trace.steps):
        return {node.id for node in trace.nodes}, {one.id for one in trace.relations}
    nodes = {id_ for one in steps for id_ in one.node_ids}
    relations = {id_ for one in steps for id_ in one.relation_ids}
    return nodes, relations


def _columns(nodes: Sequence[TraceNode]) -> dict[str, float]:
    """x of every node: leaves side by side, seeds under their parents, each parent above the middle of its children."""
    ids = {node.id for node in nodes}
    below: dict[str, list[TraceNode]] = {node.id: [] for node in nodes}
    tops = []
    for node in nodes:
        if node.parent_id in ids:
            below[str(node.parent_id)].append(node)
        else:
            tops.append(node)
    best: dict[str, float] = {}
    for node in sorted(nodes, key=lambda one: one.layer):
        ranks = [best[child.id] for child in below[node.id]]
        best[node.id] = min([*ranks, float(node.rank or 1_000)])
    for found in below.values():
        found.sort(key=lambda child: (best[child.id], child.id))
    crowded = _crowded_layers(nodes)
    units: dict[str, float] = {}
    for node in sorted(nodes, key=lambda one: one.layer):
        own = 1.0 if node.layer == 0 or node.layer in crowded else 1.5
        units[node.id] = max(own, sum(units[child.id] for child in below[node.id]))
    x_of: dict[str, float] = {}
    total = sum(units[node.id] for node in tops)

    def place(node: TraceNode, left: float) -> None:
        children = below[node.id]
        if not children:
            x_of[node.id] = (left + units[node.id] / 2) / total
            return
        at = left + (units[node.id] - sum(units[child.id] for child in children)) / 2
        for child in children:
            place(child, at)
            at += units[child.id]
        x_of[node.id] = (x_of[children[0].id] + x_of[children[-1].id]) / 2

    left = 0.0
    for node in sorted(tops, key=lambda one: (best[one.id], one.id)):
        place(node, left)
        left += units[node.id]
    return x_of


def _crowded_layers(nodes: Sequence[TraceNode]) -> set[int]:
    counts: dict[int, int] = {}
    for node in nodes:
        counts[node.layer] = counts.get(node.layer, 0) + 1
    return {layer for layer, n in counts.items() if layer > 0 and n > _CROWDED}


def _arcs_by_layer(trace: Trace) -> dict[int, int]:
    found: dict[int, int] = {}
    for one in trace.relations:
        if one.kind == "inter-cluster":
            found[one.layer] = found.get(one.layer, 0) + 1
    return found


def _rows(
    by_layer: dict[int, list[TraceNode]],
    x_of: dict[str, float],
    layer_sizes: Sequence[int],
    arcs: dict[int, int],
    trace: Trace,
) -> tuple[tuple[Row, ...], dict[str, float], dict[str, float], float]:
    rows, y_of, width_of = [], {}, {}
    top = 0.0
    for layer in sorted(by_layer, reverse=True):
        row = by_layer[layer]
        crowded = layer > 0 and len(row) > _CROWDED
        headroom = 22 + min(26, 5 * arcs.get(layer, 0)) if arcs.get(layer) else 12
        lines, pitch = (2, _CROWDED_PITCH) if crowded else (1, _PITCH)
        named = len(row) <= MOST_NAMES
        height = (128.0 if named else 72.0) if layer == 0 else headroom + pitch * lines + 8
        for place, node in enumerate(row):
            if layer == 0:
                y_of[node.id] = top + 40.0
            else:
                y_of[node.id] = top + headroom + 25.0 + (place % lines) * pitch
        for line in range(lines):
            for id_, width in _widths([node.id for node in row[line::lines]], x_of).items():
                width_of[id_] = width
        of = f"{len(row):,} of {layer_sizes[layer]:,}" if layer < len(layer_sizes) else f"{len(row):,}"
        facts = "LCA" if trace.lca is not None and trace.lca.layer == layer and len(row) == 1 and layer > 0 else of
        rows.append(Row(layer, top, top + height, f"Layer {layer}", facts))
        top += height
    return tuple(rows), y_of, width_of, top


def _widths(ids: Sequence[str], x_of: dict[str, float]) -> dict[str, float]:
    """Box widths in one line: none overlaps its neighbour or leaves the plot."""
    found = {}
    for place, id_ in enumerate(ids):
        gaps = [2 * x_of[id_] + 0.06, 2 * (1 - x_of[id_]) + 0.06, _WIDEST_BOX]
        if place:
            gaps.append((x_of[id_] - x_of[ids[place - 1]]) * 0.95)
        if place + 1 < len(ids):
            gaps.append((x_of[ids[place + 1]] - x_of[id_]) * 0.95)
        found[id_] = max(0.02, min(gaps))
    return found


def _kind(node: TraceNode, trace: Trace) -> str:
    if node.layer == 0:
        return "dot"
    return "double" if trace.lca is not None and node.id == trace.lca.id and node.role == "lca" else "box"


def _about(node: TraceNode, trace: Trace) -> str:
    role = {"seed": f"seed, rank {node.rank}", "path": "on the path", "lca": "lowest common ancestor"}[node.role]
    score = next((f", cosine {seed.score:.2f}" for seed in trace.seeds if seed.id == node.id), "")
    return f"{node.name}: {role}{score}, layer {node.layer}"


def _fold(folded: int, by_layer: dict[int, list[TraceNode]], rows: Sequence[Row]) -> Dot:
    bottom = next(row for row in rows if row.layer == min(by_layer))
    about = f"{folded} more seeds: see the table"
    return Dot(
        "fold", f"+{folded}", "seed", "fold", bottom.layer, None, 1.0, bottom.bottom - 14, 0.03, True, False, 0, about
    )


def _edges(
    trace: Trace, ids: set[str], x_of: dict[str, float], lit_nodes: set[str], lit_relations: set[str]
) -> list[Line]:
    name_of = {node.id: node.name for node in trace.nodes}
    inter = [one for one in trace.relations if one.kind == "inter-cluster"]
    written = {one.id for one in sorted(inter, key=lambda one: (-one.strength, one.id))[:_MOST_PILLS]}
    found = []
    for one in trace.relations:
        if one.source not in ids or one.target not in ids:
            continue
        span = abs(x_of[one.source] - x_of[one.target])
        both = f"{name_of[one.source]} and {name_of[one.target]}"
        if one.kind == "tree":
            lit, rise, about = one.source in lit_nodes and one.target in lit_nodes, 0.0, one.description
        elif one.kind == "base":
            lit, rise, about = one.id in lit_relations, 10 + 16 * span, f"{both}: {one.description}"
        else:
            lit, rise = one.id in lit_relations, 16 + 34 * span
            about = f"{both}: {one.strength:.0f} relations, {one.made}. {one.description}"
        strength, pill = float(one.strength), one.id in written
        found.append(Line(one.id, one.source, one.target, one.kind, strength, lit, round(rise, 2), pill, about))
    return found
