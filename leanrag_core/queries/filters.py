"""Filters of an index's entities and relations, as masks over whole layers."""

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from leanrag_core.queries.relation_kinds import entities_of_kinds, relations_of_kinds
from leanrag_core.types.config import is_remote
from leanrag_core.types.graph import Layer
from leanrag_core.types.index import Index
from leanrag_core.types.rows import numbers

MODEL, RULE = "model", "rule"  # who wrote the text of an entity or a relation
MAIN, ISLAND = "main", "island"  # in the largest component of its layer, or outside it
MADE_BY = (MODEL, RULE)
CONNECTED = (MAIN, ISLAND)


@dataclass(frozen=True)
class Filters:
    """What a reader wants to see of an index. Each field that is empty lets everything pass.

    types: of base entities; an aggregated entity passes with one of them below it. kinds: of base relations; what holds
    one passes, and so do the entities at its ends. layers: numbers of layers.
    least_strength: of a relation (lambda, in layer 0 its weight); an entity passes with one such relation, and the only
    entity of a layer always. made_by: see MADE_BY. connected: see CONNECTED.
    """

    types: frozenset[str] = frozenset()
    layers: frozenset[int] = frozenset()
    least_strength: int = 0
    made_by: str = ""
    connected: str = ""
    kinds: frozenset[str] = frozenset()

    @property
    def active(self) -> bool:
        """Whether anything may be filtered out."""
        return self != Filters()

    def allows(self, index: Index, number: int) -> np.ndarray:
        """Return which entities of that layer pass, (n,) bool."""
        layer = index.layers[number]
        mask = np.full(len(layer), not self.layers or number in self.layers)
        if self.types:
            mask &= _of_types(index, number, self.types)
        if self.kinds:
            mask &= entities_of_kinds(index, number, self.kinds)
        if self.least_strength > 1 and len(layer) > 1:
            strong = np.zeros(len(layer), dtype=bool)
            strong[layer.ends[strengths(layer) >= self.least_strength].ravel()] = True
            mask &= strong
        if self.made_by:
            mask &= _written_by_model(index, number) == (self.made_by == MODEL)
        if self.connected:
            mask &= in_largest_component(layer) == (self.connected == MAIN)
        return mask

    def allows_relations(self, index: Index, number: int) -> np.ndarray:
        """Return which relations of that layer pass, whatever becomes of their ends; (r,) bool."""
        layer = index.layers[number]
        mask = np.full(layer.relations.num_rows, not self.layers or number in self.layers)
        if self.kinds:
            mask &= relations_of_kinds(index, number, self.kinds)
        if self.least_strength > 1:
            mask &= strengths(layer) >= self.least_strength
        if self.made_by:
            mask &= _relations_by_model(index, number) == (self.made_by == MODEL)
        return mask


def strengths(layer: Layer) -> np.ndarray:
    """Return how strong each relation is: lambda, in layer 0 the weight; (r,)."""
    return numbers(layer.relations["strength"]) if layer.number else layer.weights


def type_counts(index: Index) -> tuple[tuple[str, int], ...]:
    """Return the types of base entities and how many there are of each, the most frequent first."""
    import pyarrow.compute as pc

    counts = pc.value_counts(index.layers[0].entities["type"])
    pairs = [(str(cell["values"].as_py() or ""), int(cell["counts"].as_py())) for cell in counts]
    return tuple(sorted(pairs, key=lambda pair: (-pair[1], pair[0])))


def in_largest_component(layer: Layer) -> np.ndarray:
    """Return whether each entity is in the largest component of its layer's relations, (n,) bool."""
    from scipy.sparse.csgraph import connected_components

    _, labels = connected_components(layer.adjacency, directed=False)
    return np.asarray(labels == np.bincount(labels).argmax())


def _of_types(index: Index, number: int, types: frozenset[str]) -> np.ndarray:
    """Return which entities of a layer have a base entity of these types below them, or are one; (n,) bool."""
    import pyarrow.compute as pc

    chosen = pa.array(sorted(types), pa.string())
    mask = np.asarray(pc.is_in(index.layers[0].entities["type"], chosen).to_numpy(zero_copy_only=False), dtype=bool)
    for below, above in zip(index.layers[:number], index.layers[1 : number + 1], strict=True):
        mask = np.bincount(below.parent[mask], minlength=len(above)) > 0
    return mask


def _written_by_model(index: Index, number: int) -> np.ndarray:
    """Return which entities of a layer have texts by a language model, (n,) bool."""
    layer = index.layers[number]
    if not _has_model(index, number):
        return np.zeros(len(layer), dtype=bool)
    promoted = layer.entities["promoted"].to_numpy(zero_copy_only=False)
    return ~np.asarray(promoted, dtype=bool)  # a promoted entity repeats its only member


def _relations_by_model(index: Index, number: int) -> np.ndarray:
    """Return which relations of a layer have descriptions by a language model, (r,) bool."""
    import pyarrow.compute as pc

    layer = index.layers[number]
    if not _has_model(index, number):
        return np.zeros(layer.relations.num_rows, dtype=bool)
    written = pc.not_equal(layer.relations["kind"], "concatenated")
    return np.asarray(written.to_numpy(zero_copy_only=False), dtype=bool)


def _has_model(index: Index, number: int) -> bool:
    config = index.manifest.config
    model = config.aggregation_model if number and config.aggregation_model else config.model
    return is_remote(str(model))
