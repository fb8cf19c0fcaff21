"""What pictures of the graph show around a node, before anything has a place."""

from dataclasses import dataclass

FARTHER = 3  # hops of a node that neither one nor two relations join with the focus


@dataclass(frozen=True)
class SceneNode:
    """A drawn node. hops: 0 for the focus, 1, 2 or FARTHER. parent: position of its parent among the scene's nodes,
    None where that is not drawn. children: nodes below it that the filters let through. above_focus: it is the focus
    or one of its ancestors. is_open: some of its children are drawn. rank: smaller ones are drawn first
    where there is little room."""

    layer: int
    row: int
    id: str
    name: str
    type: str
    hops: int
    parent: int | None
    children: int
    above_focus: bool = False
    is_open: bool = False
    pinned: bool = False
    rank: int = 0


@dataclass(frozen=True)
class SceneLink:
    """A relation between two drawn nodes, which are positions in the scene's nodes. strength: lambda, or the weight in
    layer 0. hops: 1 at the focus, 2 between its first and second neighbours, FARTHER elsewhere."""

    source: int
    target: int
    layer: int
    strength: float
    kind: str
    hops: int


@dataclass(frozen=True)
class Scene:
    """nodes: the upper layers first. totals: for each layer, from 0, the nodes that the filters let through.
    open_ids: opened nodes, that used longest ago first. within_reach: nodes one or two relations away, drawn or not."""

    nodes: tuple[SceneNode, ...]
    links: tuple[SceneLink, ...]
    totals: tuple[int, ...]
    open_ids: tuple[str, ...]
    within_reach: int

    @property
    def focus(self) -> SceneNode:
        """The node in focus."""
        return next(node for node in self.nodes if node.hops == 0)

    def drawn(self, layer: int) -> int:
        """Return how many nodes of a layer are drawn."""
        return sum(node.layer == layer for node in self.nodes)


@dataclass(frozen=True)
class SceneLimits:
    """boxes: of each aggregated layer. clouds: clusters of layer 1 whose entities are drawn. dots: entities in all."""

    boxes: int
    clouds: int
    dots: int


@dataclass(frozen=True)
class NearNode:
    """A node of the neighbourhood. hops: relations between it and the centre, 0 for the centre itself."""

    id: str
    name: str
    type: str
    hops: int


@dataclass(frozen=True)
class NearRelation:
    """A relation between two of the nodes. source, target: positions in the nodes. strength: lambda, or the weight in
    layer 0. kind: "verb" and the like, "summarised" or "concatenated" above layer 0."""

    id: str
    source: int
    target: int
    strength: float
    kind: str


@dataclass(frozen=True)
class Neighbourhood:
    """nodes: the centre first, then by hops and strength. left_out: nodes within reach that did not fit."""

    layer: int
    nodes: tuple[NearNode, ...]
    relations: tuple[NearRelation, ...]
    left_out: int
