"""Where the nodes of a layered subgraph are: slots side by side, so that no box can meet another.

Every leaf of the drawn tree has a slot of its own and every other node the slots of what lies below it, so boxes of a
row cannot overlap. Boxes of a row have one height, so links between two rows stay in the strip between them.
x is a fraction of the plot's width; slots are wide enough at `plot_px` and at every greater width.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

from leanrag_core.figures.drawn_nodes import DrawnNode

MOST_SEEDS = 15  # each with its name; above it they are in trays below their parents
LEAST_BOX, LEAST_SEED = 60.0, 31.0  # px
FOLD = "fold"  # id of the column of what is folded
_GAP = 6.0  # px between two boxes
_WIDEST_BOX, _WIDEST_TRAY = 178.0, 150.0  # px
_HEAVIEST = 16  # seeds; what is left of the width goes to the trays by their seeds, up to so many


@dataclass(frozen=True)
class Slot:
    """The room of a node: from left to right, its middle at x; width: of its box. Fractions of the plot's width."""

    left: float
    right: float
    x: float
    width: float


@dataclass(frozen=True)
class Tree:
    """Nodes as a tree; each list in the order of the best seed below. best: that seed's rank for each node."""

    nodes: tuple[DrawnNode, ...]
    best: dict[str, float]

    @cached_property
    def below(self) -> dict[str, tuple[DrawnNode, ...]]:
        """Children of each node; those of "" have no parent here."""
        ids = {node.id for node in self.nodes}
        lists: dict[str, list[DrawnNode]] = {"": [], **{id_: [] for id_ in ids}}
        for node in self.nodes:
            lists[node.parent if node.parent in ids else ""].append(node)
        return {id_: tuple(sorted(children, key=self.order)) for id_, children in lists.items()}

    @cached_property
    def leaves(self) -> tuple[DrawnNode, ...]:
        """Nodes without children, the best first."""
        return tuple(sorted((node for node in self.nodes if not self.below[node.id]), key=self.order))

    def order(self, node: DrawnNode) -> tuple[float, str]:
        """Sorts by the best rank."""
        return self.best[node.id], node.id


@dataclass(frozen=True)
class Plan:
    """What is drawn of a subgraph. trays: seeds of layer 0 below each node ("" without one, FOLD for the folded);
    empty where each seed has a place of its own. folded: nodes outside of layer 0 that only a count stands for.
    apart: nodes of bands that no tree link reaches; their rows are divided without regard to the tree."""

    tree: Tree
    trays: dict[str, tuple[DrawnNode, ...]]
    folded: tuple[DrawnNode, ...]
    apart: tuple[DrawnNode, ...] = ()

    def row(self, band: int) -> tuple[DrawnNode, ...]:
        """Return the nodes of a band that have a place of their own."""
        return tuple(node for node in (*self.tree.nodes, *self.apart) if node.band == band)


def plan(nodes: Sequence[DrawnNode], *, plot_px: float) -> Plan:
    """Return which nodes have a place of their own in a plot of that width."""
    apart = _bands_apart(nodes)
    most = max(2, int(plot_px // LEAST_BOX))
    kept: list[DrawnNode] = []
    folded: list[DrawnNode] = []
    for band in apart:
        row = sorted((node for node in nodes if node.band == band), key=lambda node: (node.rank or 1_000_000, node.id))
        places = len(row) if len(row) <= most else most - 1
        kept += row[:places]
        folded += row[places:]
    tree = _plan_tree([node for node in nodes if node.band not in apart], plot_px=plot_px)
    return Plan(tree.tree, tree.trays, (*tree.folded, *folded), tuple(kept))


def _bands_apart(nodes: Sequence[DrawnNode]) -> list[int]:
    """Return the bands beside layer 0 in which no node is a parent or a child, such as passages and communities."""
    ids = {node.id for node in nodes}
    parents = {node.parent for node in nodes}
    linked = {node.band for node in nodes if node.parent in ids or node.id in parents}
    return sorted({node.band for node in nodes} - linked - {0})


def _plan_tree(nodes: Sequence[DrawnNode], *, plot_px: float) -> Plan:
    """Return the plan of the nodes that share the columns of the tree."""
    whole = Tree(tuple(nodes), _best_ranks(nodes))
    seeds = [node for node in nodes if node.band == 0]
    if len(seeds) <= MOST_SEEDS and _need(whole) <= plot_px:
        return Plan(whole, {}, ())
    upper = Tree(tuple(node for node in nodes if node.band != 0), whole.best)
    ids = {node.id for node in upper.nodes}
    without_parent = [node for node in seeds if node.parent not in ids]
    ordered = upper.leaves
    columns = max(2, int(plot_px // LEAST_BOX)) - bool(without_parent)
    kept = _with_ancestors(upper, ordered if len(ordered) <= columns else ordered[: columns - 1])
    folded = tuple(node for node in sorted(upper.nodes, key=upper.order) if node.id not in kept)
    trays: dict[str, list[DrawnNode]] = {}
    for seed in sorted(seeds, key=whole.order):
        held_by = "" if seed in without_parent else seed.parent if seed.parent in kept else FOLD
        trays.setdefault(str(held_by), []).append(seed)
    drawn = Tree(tuple(node for node in upper.nodes if node.id in kept), whole.best)
    return Plan(drawn, {id_: tuple(discs) for id_, discs in trays.items()}, folded)


def slots(drawn: Plan, *, plot_px: float) -> dict[str, Slot]:
    """Return the slot of every drawn node, of FOLD where something of the tree is folded, of fold_apart(band) where
    something of a row apart is, and of "" for a tray without a parent."""
    tree = drawn.tree
    widths = _leaf_widths(drawn, plot_px)
    for node in sorted(tree.nodes, key=lambda node: node.band):
        if node.id not in widths:
            widths[node.id] = max(LEAST_BOX, sum(widths[child.id] for child in tree.below[node.id]))
    columns = [*(node.id for node in tree.below[""]), *(id_ for id_ in ("", FOLD) if id_ in widths)]
    total = sum(widths[id_] for id_ in columns)
    placed: dict[str, Slot] = {}

    def place(id_: str, left: float) -> None:
        right = left + widths[id_] / total
        children = tree.below[id_] if id_ not in ("", FOLD) else ()
        at = (left + right - sum(widths[child.id] for child in children) / total) / 2
        for child in children:
            place(child.id, at)
            at += widths[child.id] / total
        x = (placed[children[0].id].x + placed[children[-1].id].x) / 2 if children else (left + right) / 2
        room = 2 * min(x - left, right - x) - _GAP / plot_px
        placed[id_] = Slot(left, right, x, min(room, _WIDEST_BOX / plot_px))

    left = 0.0
    for id_ in columns:
        place(id_, left)
        left += widths[id_] / total
    return placed | _slots_apart(drawn, plot_px)


def fold_apart(band: int) -> str:
    """Return the id of the place of what is folded in a row apart from the tree."""
    return f"{FOLD}{band}"


def _slots_apart(drawn: Plan, plot_px: float) -> dict[str, Slot]:
    """Return equal slots over the whole width for each row apart from the tree."""
    placed: dict[str, Slot] = {}
    for band in {node.band for node in drawn.apart}:
        ids = [node.id for node in drawn.apart if node.band == band]
        ids += [fold_apart(band)] if any(node.band == band for node in drawn.folded) else []
        share = 1 / len(ids)
        width = min(share - _GAP / plot_px, _WIDEST_BOX / plot_px)
        for place, id_ in enumerate(ids):
            placed[id_] = Slot(place * share, (place + 1) * share, (place + 0.5) * share, width)
    return placed


def tray_width(slot: Slot, *, plot_px: float, parent: str) -> float:
    """Return the width of the tray in a slot, a fraction. One without a parent may fill its slot."""
    widest = _WIDEST_TRAY / plot_px if parent else 1.0
    return min(slot.right - slot.left - _GAP / plot_px, widest)


def _leaf_widths(drawn: Plan, plot_px: float) -> dict[str, float]:
    """px of each leaf. With trays what is left over goes to the leaves by their seeds."""
    rows_apart = {node.band for node in drawn.apart}
    folded = any(node.band not in rows_apart for node in drawn.folded)
    if not (drawn.trays or folded):
        return {node.id: LEAST_BOX if node.band else LEAST_SEED for node in drawn.tree.leaves}
    ids = [node.id for node in drawn.tree.leaves]
    ids += [""] if "" in drawn.trays else []
    ids += [FOLD] if folded else []
    discs_of = {id_: min(_HEAVIEST, len(drawn.trays.get(id_, ()))) for id_ in ids}
    spare, total = max(0.0, plot_px - LEAST_BOX * len(ids)), sum(discs_of.values()) or 1
    return {id_: LEAST_BOX + spare * discs_of[id_] / total for id_ in ids}


def _best_ranks(nodes: Sequence[DrawnNode]) -> dict[str, float]:
    """Return the best rank of a seed at or below each node."""
    best = {node.id: float(node.rank or 1_000_000) for node in nodes}
    for node in sorted(nodes, key=lambda node: node.band):
        if node.parent in best:
            best[node.parent] = min(best[node.parent], best[node.id])
    return best


def _need(tree: Tree) -> float:
    """px that the tree needs where each seed has a place of its own."""
    needs: dict[str, float] = {}
    for node in sorted(tree.nodes, key=lambda node: node.band):
        least = LEAST_BOX if node.band else LEAST_SEED
        needs[node.id] = max(least, sum(needs[child.id] for child in tree.below[node.id]))
    return sum(needs[node.id] for node in tree.below[""])


def _with_ancestors(tree: Tree, nodes: Iterable[DrawnNode]) -> set[str]:
    parent_of = {node.id: node.parent for node in tree.nodes}
    kept: set[str] = set()
    for node in nodes:
        id_: str | None = node.id
        while id_ in parent_of and id_ not in kept:
            kept.add(id_)
            id_ = parent_of[id_]
    return kept
