"""Aggregated relations (eq. 5): one sorted pass over the relations of the layer below, column by column."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

_BLOCK = 8192  # cells that become objects together


class Texts:
    """A column of strings; an empty cell reads as `empty`."""

    def __init__(self, column: pa.ChunkedArray, empty: str = "") -> None:
        self._column = column
        self._cells = column.chunk(0) if column.num_chunks == 1 else column
        self._empty = empty

    def __len__(self) -> int:
        return len(self._cells)

    def __getitem__(self, row: int) -> str:
        return self._cells[row].as_py() or self._empty

    def of(self, rows: np.ndarray) -> list[str]:
        """Return the cells of those rows. rows: (k,) int."""
        return [text or self._empty for text in self._cells.take(pa.array(rows)).to_pylist()]

    def __iter__(self) -> Iterator[str]:
        for start in range(0, len(self._column), _BLOCK):
            for text in self._column.slice(start, _BLOCK).to_pylist():
                yield text or self._empty


class Lists:
    """A column of lists of strings."""

    def __init__(self, column: pa.ChunkedArray) -> None:
        self._cells = column.chunk(0) if column.num_chunks == 1 else column

    def of(self, rows: np.ndarray) -> list[tuple[str, ...]]:
        """Return the cells of those rows. rows: (k,) int."""
        return [tuple(words or ()) for words in self._cells.take(pa.array(rows)).to_pylist()]


def joined(column: pa.ChunkedArray) -> pa.Array:
    """Return the column of n cells as one array, (n,)."""
    return pa.concat_arrays(column.chunks) if column.num_chunks else pa.array([], column.type)


def list_offsets(lengths: np.ndarray) -> pa.Array:
    """Return the offsets, (n + 1,) int32, of a list array whose lists have these lengths. lengths: (n,) int."""
    return pa.array(np.concatenate([[0], np.cumsum(lengths)]), pa.int32())


def distinct(values: np.ndarray) -> np.ndarray:
    """Return the values in order, each once, (k,); several times as fast as np.unique where there are many. values:
    (n,) int.
    """
    ordered = np.sort(values)
    return ordered[np.flatnonzero(np.diff(ordered, prepend=ordered[:1] - 1))]


_KEYWORDS_KEPT = 5


@dataclass(frozen=True, eq=False)
class RelationGroups:
    """The pairs of clusters that are joined, sorted by (left, right).

    left, right: (p,) int32 rows of the new layer, left < right. strength: (p,) int32 lambda. weight: (p,) float32, the
    sum over the group. offsets: (p + 1,) and rows: relation rows of the layer below, ascending within a group, group j
    holding rows[offsets[j]:offsets[j + 1]]. inside: (m,) relations inside each cluster.
    """

    left: np.ndarray
    right: np.ndarray
    strength: np.ndarray
    weight: np.ndarray
    offsets: np.ndarray
    rows: np.ndarray
    inside: np.ndarray

    def __len__(self) -> int:
        return len(self.left)

    def members(self, group: int) -> np.ndarray:
        """Return the relations of the layer below that the group stands for, (k,) int32 rows, ascending."""
        return self.rows[self.offsets[group] : self.offsets[group + 1]]


def group_relations(ends: np.ndarray, weights: np.ndarray, parent: np.ndarray, n_parents: int) -> RelationGroups:
    """Group the relations of the layer below into R<Cj,Ck> for every pair of clusters with lambda_jk > 0.

    ends: (r, 2) rows in the layer below; weights: (r,); parent: (n,) row in the new layer. The sum of strength over all
    groups plus the sum of inside equals r (invariant 5).
    """
    ends = ends.reshape(-1, 2)
    left, right = parent[ends[:, 0]].astype(np.int64), parent[ends[:, 1]].astype(np.int64)
    low, high = np.minimum(left, right), np.maximum(left, right)
    between = np.flatnonzero(low != high)
    key, rows = sorted_pairs(low[between] * n_parents + high[between], between)
    starts = np.flatnonzero(np.diff(key, prepend=-1))
    unique = key[starts]
    offsets = np.append(starts, len(rows)).astype(np.int64)
    total = np.concatenate([[0.0], np.cumsum(weights[rows], dtype=np.float64)])
    return RelationGroups(
        left=(unique // n_parents).astype(np.int32),
        right=(unique % n_parents).astype(np.int32),
        strength=np.diff(offsets).astype(np.int32),
        weight=(total[offsets[1:]] - total[offsets[:-1]]).astype(np.float32),
        offsets=offsets,
        rows=rows.astype(np.int32),
        inside=np.bincount(low[low == high], minlength=n_parents).astype(np.int32),
    )


def sorted_pairs(keys: np.ndarray, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Sort the keys, and the rows with them; rows, which ascend, still do where keys are equal. keys, rows: (n,) int64.

    Key and row are packed into one number: sorting these is several times as fast as sorting places by their keys.
    """
    bits = int(rows[-1]).bit_length() if len(rows) else 0
    if len(keys) and int(keys.max()).bit_length() + bits > 62:
        order = np.argsort(keys, kind="stable")
        return keys[order], rows[order]
    packed = np.sort(keys << bits | rows)
    return packed >> bits, packed & ((1 << bits) - 1)


def strongest_first(groups: RelationGroups, strengths: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Return groups.rows with the rows of each group by falling strength, then falling weight, then row.

    strengths, weights: (r,) of the layer below.
    """
    rows = groups.rows
    group_of = np.repeat(np.arange(len(groups)), groups.strength)
    return rows[np.lexsort((rows, -weights[rows], -strengths[rows].astype(np.int64), group_of))]


def lift_counts(counts: np.ndarray, groups: RelationGroups) -> np.ndarray:
    """Count the base relations of each kind that each group stands for.

    counts: (r, kinds) for the relations of the layer below. Returns (p, kinds), int64.
    """
    total = np.concatenate([np.zeros((1, counts.shape[1]), dtype=np.int64), np.cumsum(counts[groups.rows], axis=0)])
    return np.asarray(total[groups.offsets[1:]] - total[groups.offsets[:-1]])


def group_keywords(keywords: pa.ChunkedArray, groups: RelationGroups) -> pa.ListArray:
    """Return for each group the keywords that most of its relations have, ties in alphabetical order; at most five.

    keywords: (r,) list<string> of the relations of the layer below. Returns (p,) list<string>.
    """
    import pyarrow.compute as pc

    lists = joined(keywords)
    words = lists.flatten().dictionary_encode()
    known = words.dictionary
    codes = words.indices.fill_null(0).to_numpy(zero_copy_only=False).astype(np.int64)
    relation = np.repeat(np.arange(len(lists)), lists.value_lengths().fill_null(0).to_numpy(zero_copy_only=False))
    group_of = np.full(len(lists), -1, dtype=np.int64)
    group_of[groups.rows] = np.repeat(np.arange(len(groups)), groups.strength)
    has_word = words.is_valid().to_numpy(zero_copy_only=False) & (group_of[relation] >= 0)
    n_words = max(len(known), 1)
    blank = pc.index(known, "").as_py() if len(known) else -1
    once = distinct(relation[has_word] * n_words + codes[has_word])  # a relation counts once for a word
    once = once[once % n_words != blank]
    pairs, count = np.unique(group_of[once // n_words] * n_words + once % n_words, return_counts=True)
    group, word = pairs // n_words, pairs % n_words
    rank = np.empty(n_words, dtype=np.int64)
    rank[pc.sort_indices(known).to_numpy()] = np.arange(len(known))
    order = np.lexsort((rank[word], -count, group))
    group, word = group[order], word[order]
    kept = np.arange(len(group)) - np.searchsorted(group, group) < _KEYWORDS_KEPT
    lengths = np.bincount(group[kept], minlength=len(groups))
    return pa.ListArray.from_arrays(list_offsets(lengths), known.take(pa.array(word[kept])))
