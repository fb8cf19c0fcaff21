"""The schema of an index: types of base entities, and between which of them there are relations of which kind.

Relations are stored without a direction, so a pair of types has no order either.
"""

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from leanrag_core.queries.filters import type_counts
from leanrag_core.queries.relation_kinds import relation_kinds
from leanrag_core.types.index import Index
from leanrag_core.types.rows import numbers

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
    written = pc.fill_null(layer.entities["type"], "")
    codes = numbers(pc.index_in(written, pa.array(names, pa.string()))).astype(np.int64)
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
    known = relation_kinds(index.layers[0])
    if not known.names:
        return {}, {}
    rows = rows[known.codes[rows] >= 0]
    keys, counts = np.unique(pair_of[rows] * len(known.names) + known.codes[rows], return_counts=True)
    pairs, kind = keys // len(known.names), keys % len(known.names)
    order = np.lexsort((kind, -counts, pairs))
    pairs, kind, counts = pairs[order], kind[order], counts[order]
    starts = np.flatnonzero(np.append(True, pairs[1:] != pairs[:-1])) if len(pairs) else np.zeros(0, dtype=np.int64)
    sizes = np.diff(np.append(starts, len(pairs)))
    kinds = {}
    for pair, start, size in zip(pairs[starts].tolist(), starts.tolist(), sizes.tolist(), strict=True):
        first = range(start, start + min(_KINDS, size))
        kinds[pair] = [(known.names[int(kind[at])], int(counts[at])) for at in first]
    return kinds, dict(zip(pairs[starts].tolist(), sizes.tolist(), strict=True))
