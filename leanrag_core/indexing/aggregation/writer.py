"""The interface between the hierarchy and the writers of its texts: F_entity (eq. 4) and F_rel (eq. 5)."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from leanrag_core.types.calls import CallMade, Usage
from leanrag_core.types.extraction import Drop
from leanrag_core.types.graph import Finding, Layer


@dataclass(frozen=True)
class InsideRelation:
    """A relation of R_Cj, inside a cluster. source and target are positions in the cluster's members."""

    source: int
    target: int
    kind: str
    weight: float
    strength: int
    keywords: tuple[str, ...]
    description: str


@dataclass(frozen=True, eq=False)
class ClusterView:
    """A cluster of two or more nodes, as a writer sees it.

    layer: number of the layer that the aggregated entity will belong to. label: its row there. rows: the members' rows
    in the layer below. vectors: (members, d) unit rows. degrees: inside relations of each member.
    """

    layer: int
    label: int
    rows: tuple[int, ...]
    names: tuple[str, ...]
    types: tuple[str, ...]
    descriptions: tuple[str, ...]
    vectors: np.ndarray
    degrees: tuple[int, ...]
    relations: tuple[InsideRelation, ...]

    @property
    def item(self) -> str:
        """What a report calls the cluster."""
        return f"layer {self.layer}, cluster {self.label} ({', '.join(self.names[:2])}, ...)"

    def most_connected(self) -> list[int]:
        """Return the positions of the members, the most inside relations first, ties by position."""
        return sorted(range(len(self.rows)), key=lambda member: (-self.degrees[member], member))


@dataclass(frozen=True)
class RelationGroupView:
    """R<Cj,Ck>: the relations of the layer below that join two clusters, strongest first.

    layer: number of the layer that the aggregated relation will belong to. base_kinds: how many base relations of each
    kind the group stands for, most first. keywords: their most frequent keywords. member_names: names of the joined
    nodes, which the sentence must not use.
    """

    layer: int
    left_name: str
    left_description: str
    right_name: str
    right_description: str
    strength: int
    base_kinds: tuple[tuple[str, int], ...]
    keywords: tuple[str, ...]
    descriptions: tuple[str, ...]
    pairs: tuple[tuple[str, str], ...]

    @property
    def member_names(self) -> tuple[str, ...]:
        """Names of the nodes that the relations join, each once, sorted."""
        return tuple(sorted({name for pair in self.pairs for name in pair}))


@dataclass(frozen=True)
class Summary:
    """An aggregated entity's text: (alpha_j, d_alpha_j, findings). call: the model call that wrote it, if any did."""

    name: str
    description: str
    findings: tuple[Finding, ...]
    usage: Usage = field(default_factory=Usage)
    drops: tuple[Drop, ...] = ()
    call: CallMade | None = None


@dataclass(frozen=True)
class Sentence:
    """An aggregated relation's one group-level sentence. call: see Summary."""

    text: str
    usage: Usage = field(default_factory=Usage)
    drops: tuple[Drop, ...] = ()
    call: CallMade | None = None


class AggregationWriter(Protocol):
    """Writes aggregated entities and relations. `entity` and `relation` may be called in any order and from several
    threads; what they return depends on their argument and on the last `prepare` alone."""

    def prepare(self, layers: Sequence[Layer], labels: np.ndarray) -> None:
        """Prepare for grouping the top layer so far, layers[-1]; each layer below has its parents. labels: (n,) int,
        the cluster of each node.
        """

    def entity(self, members: ClusterView) -> Summary:
        """Write name, description and findings for a cluster (eq. 4); the name differs from every member's name."""

    def relation(self, view: RelationGroupView) -> Sentence:
        """Write one sentence on how two clusters are related, naming no member (eq. 5)."""


class LayeredWriter:
    """Leaves each layer to one of several writers. writers: each with the lowest layer that it writes, ascending; the
    first one's is 0. See AggregationWriter."""

    def __init__(self, writers: Sequence[tuple[int, AggregationWriter]]) -> None:
        self._writers = tuple(writers)

    def _of(self, layer: int) -> AggregationWriter:
        return [writer for start, writer in self._writers if start <= layer][-1]

    def prepare(self, layers: Sequence[Layer], labels: np.ndarray) -> None:
        """Prepare the writer of the coming layer. labels: (n,) int."""
        self._of(layers[-1].number + 1).prepare(layers, labels)

    def entity(self, members: ClusterView) -> Summary:
        """Return what the writer of the cluster's layer makes of it."""
        return self._of(members.layer).entity(members)

    def relation(self, view: RelationGroupView) -> Sentence:
        """Return what the writer of the relation's layer makes of it."""
        return self._of(view.layer).relation(view)
