"""The schema of an index, types of base entities and kinds of relations between them, and filters by both."""

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
import pyarrow as pa

from leanrag_core.errors import InvalidConfig
from leanrag_core.queries.islands import components
from leanrag_core.types.config import is_remote
from leanrag_core.types.graph import Layer
from leanrag_core.types.index import Index
from leanrag_core.types.rows import Lists, numbers, place_of_each, starts_of_runs

RULE_KINDS = ("verb", "apposition", "preposition", "heading", "co-occurrence")  # of the built-in extractor
_STATED = "stated"
_NAMED_BY_KEYWORD = (_STATED, "verb")


@dataclass(frozen=True, eq=False)
class RelationKinds:
    """The kinds of a layer's relations. names: the most frequent first, with their counts. codes: (r,) int64, for each
    relation the position of its kind in names, -1 where it has none."""

    names: tuple[str, ...]
    counts: tuple[int, ...]
    codes: np.ndarray


def relation_kinds(layer: Layer) -> RelationKinds:
    """Return the kinds of the relations of the base layer."""
    import pyarrow.compute as pc

    recorded = pc.fill_null(layer.relations["kind"].combine_chunks(), "")
    keyword = pc.utf8_trim_whitespace(pc.fill_null(_first_keywords(layer), ""))
    by_keyword = pc.and_(pc.is_in(recorded, pa.array(_NAMED_BY_KEYWORD)), pc.not_equal(keyword, ""))
    kinds = pc.if_else(by_keyword, keyword, pc.if_else(pc.equal(recorded, _STATED), "", recorded))
    words = pc.dictionary_encode(kinds)
    codes = numbers(words.indices).astype(np.int64)
    counts = np.bincount(codes, minlength=len(words.dictionary))
    names = words.dictionary.to_pylist()
    order = sorted((at for at, name in enumerate(names) if name), key=lambda at: (-int(counts[at]), names[at]))
    position = place_of_each(order, len(names))
    ordered = tuple(names[at] for at in order)
    return RelationKinds(ordered, tuple(int(counts[at]) for at in order), position[codes] if len(codes) else codes)


def relations_of_kinds(index: Index, number: int, kinds: frozenset[str]) -> np.ndarray:
    """Return which relations of that layer are of these kinds, or stand for such a base relation; (r,) bool."""
    if number == 0:
        base_kinds = relation_kinds(index.layers[0])
        chosen = np.array([name in kinds for name in base_kinds.names] + [False])  # the last one: no kind
        return np.asarray(chosen[base_kinds.codes])
    below = relations_of_kinds(index, number - 1, kinds)
    members = Lists(index.layers[number].relations["members"])
    sums = np.concatenate([[0], np.cumsum(below[members.values])])
    return np.asarray(sums[members.offsets[1:]] > sums[members.offsets[:-1]])


def entities_of_kinds(index: Index, number: int, kinds: frozenset[str]) -> np.ndarray:
    """Return which entities of that layer are an end of such a base relation, or above such an entity; (n,) bool."""
    mask = np.zeros(len(index.layers[0]), dtype=bool)
    mask[index.layers[0].ends[relations_of_kinds(index, 0, kinds)].ravel()] = True
    return _above(index, number, mask)


def _above(index: Index, number: int, mask: np.ndarray) -> np.ndarray:
    """Return which entities of a layer are above a base entity of the mask, or one of these; (n,) bool. mask: (n,) bool
    of the base entities."""
    for below, above in zip(index.layers[:number], index.layers[1 : number + 1], strict=True):
        mask = np.bincount(below.parent[mask], minlength=len(above)) > 0
    return mask


def _first_keywords(layer: Layer) -> pa.Array:
    """Return the first keyword of each relation, null where there is none; (r,) strings."""
    import pyarrow.compute as pc

    column = layer.relations["keywords"].combine_chunks()
    lengths = numbers(pc.fill_null(pc.list_value_length(column), 0)).astype(np.int64)
    firsts = np.cumsum(lengths) - lengths
    # A mask takes nulls where there is no keyword; pyarrow has no element of a list that may be shorter.
    return pc.list_flatten(column).take(pa.array(firsts, mask=lengths == 0))


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
            strong[layer.ends[layer.strengths >= self.least_strength].ravel()] = True
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
            mask &= layer.strengths >= self.least_strength
        if self.made_by:
            mask &= _relations_by_model(index, number) == (self.made_by == MODEL)
        return mask


def filter_texts(filters: Filters) -> list[str]:
    """Return the filters that are set as NAME=VALUE, one for each value; filters_of reads them."""
    texts = []
    for spec in fields(filters):
        value = getattr(filters, spec.name)
        values = sorted(value) if isinstance(value, frozenset) else [value] if value else []
        texts += [f"{spec.name}={single_value}" for single_value in values]
    return texts


def filters_of(texts: Sequence[str]) -> Filters:
    """Return the filters of these texts, NAME=VALUE each. Raises InvalidConfig."""
    chosen: dict[str, Any] = {}
    for text in texts:
        name, _, value = text.partition("=")
        try:
            if name in ("types", "kinds") and "=" in text:
                chosen[name] = chosen.get(name, frozenset()) | {value}
            elif name == "layers":
                chosen[name] = chosen.get(name, frozenset()) | {int(value)}
            elif name == "least_strength":
                chosen[name] = int(value)
            elif (name == "made_by" and value in MADE_BY) or (name == "connected" and value in CONNECTED):
                chosen[name] = value
            else:
                raise ValueError(text)
        except ValueError:
            raise InvalidConfig("show.no_filter", text=text) from None
    return Filters(**chosen)


def type_counts(index: Index) -> tuple[tuple[str, int], ...]:
    """Return the types of base entities and how many there are of each, the most frequent first."""
    import pyarrow.compute as pc

    counts = pc.value_counts(index.layers[0].entities["type"])
    pairs = [(str(cell["values"].as_py() or ""), int(cell["counts"].as_py())) for cell in counts]
    return tuple(sorted(pairs, key=lambda pair: (-pair[1], pair[0])))


def in_largest_component(layer: Layer) -> np.ndarray:
    """Return whether each entity is in the largest component of its layer's relations, (n,) bool."""
    return np.asarray(components(len(layer), layer.ends).labels == 0)


def _of_types(index: Index, number: int, types: frozenset[str]) -> np.ndarray:
    """Return which entities of a layer have a base entity of these types below them, or are one; (n,) bool."""
    import pyarrow.compute as pc

    chosen = pa.array(sorted(types), pa.string())
    mask = np.asarray(pc.is_in(index.layers[0].entities["type"], chosen).to_numpy(zero_copy_only=False), dtype=bool)
    return _above(index, number, mask)


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
    by_model = pc.not_equal(layer.relations["kind"], "concatenated")
    return np.asarray(by_model.to_numpy(zero_copy_only=False), dtype=bool)


def _has_model(index: Index, number: int) -> bool:
    config = index.manifest.config
    model = config.aggregation_model if number and config.aggregation_model else config.model
    return is_remote(str(model))


_KINDS = 3  # most frequent kinds that are kept of a pair


@dataclass(frozen=True)
class SchemaType:
    """A type and how many entities are of it."""

    name: str
    count: int


@dataclass(frozen=True)
class SchemaPair:
    """The relations between entities of two types (the same type twice: among themselves). kinds: the most frequent
    kinds and how many relations are of each; n_kinds: how many kinds there are."""

    first: str
    second: str
    count: int
    kinds: tuple[tuple[str, int], ...]
    n_kinds: int


@dataclass(frozen=True)
class Schema:
    """Types and pairs, the most frequent first."""

    types: tuple[SchemaType, ...]
    pairs: tuple[SchemaPair, ...]


def schema_of(index: Index, relation_mask: np.ndarray | None = None) -> Schema:
    """Return the types of the base layer and its relations by pairs of types.

    relation_mask: (r,) bool, the relations that count; all without one.
    """
    counts = type_counts(index)
    types = tuple(SchemaType(name, count) for name, count in counts)
    return Schema(types, _pairs(index, [name for name, _ in counts], relation_mask))


def _pairs(index: Index, names: list[str], mask: np.ndarray | None) -> tuple[SchemaPair, ...]:
    """Return the pairs of types that relations join, those with most relations first. mask: (r,) bool."""
    import pyarrow.compute as pc

    layer = index.layers[0]
    n = len(names)
    entity_types = pc.fill_null(layer.entities["type"], "")
    codes = numbers(pc.index_in(entity_types, pa.array(names, pa.string()))).astype(np.int64)
    ends = np.sort(codes[layer.ends], axis=1).reshape(-1, 2)
    pair_of = ends[:, 0] * n + ends[:, 1]
    rows = np.arange(len(pair_of)) if mask is None else np.flatnonzero(mask)
    pairs, counts = np.unique(pair_of[rows], return_counts=True)
    kinds, n_kinds = _kinds(index, pair_of, rows)
    order = np.lexsort((pairs, -counts))
    return tuple(
        SchemaPair(names[pair // n], names[pair % n], count, tuple(kinds.get(pair, ())), n_kinds.get(pair, 0))
        for pair, count in zip(pairs[order].tolist(), counts[order].tolist(), strict=True)
    )


def _kinds(
    index: Index, pair_of: np.ndarray, rows: np.ndarray
) -> tuple[dict[int, list[tuple[str, int]]], dict[int, int]]:
    """Return for each pair its most frequent kinds with their counts, and how many kinds it has.

    pair_of: (r,) int64, the pair of each relation. rows: (k,) relations that count.
    """
    base_kinds = relation_kinds(index.layers[0])
    if not base_kinds.names:
        return {}, {}
    rows = rows[base_kinds.codes[rows] >= 0]
    keys, counts = np.unique(pair_of[rows] * len(base_kinds.names) + base_kinds.codes[rows], return_counts=True)
    pairs, kind = keys // len(base_kinds.names), keys % len(base_kinds.names)
    order = np.lexsort((kind, -counts, pairs))
    pairs, kind, counts = pairs[order], kind[order], counts[order]
    starts = starts_of_runs(pairs)
    sizes = np.diff(np.append(starts, len(pairs)))
    kinds = {}
    for pair, start, size in zip(pairs[starts].tolist(), starts.tolist(), sizes.tolist(), strict=True):
        first = range(start, start + min(_KINDS, size))
        kinds[pair] = [(base_kinds.names[int(kind[at])], int(counts[at])) for at in first]
    return kinds, dict(zip(pairs[starts].tolist(), sizes.tolist(), strict=True))
