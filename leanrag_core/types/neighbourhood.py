"""The nodes around one node of a layer, and the relations among them."""

from dataclasses import dataclass


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
