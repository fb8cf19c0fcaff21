"""Aggregated relations (eq. 5): one sorted pass over the relations of the layer below."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

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
        """Relation rows of the layer below that group stands for."""
        return self.rows[self.offsets[group] : self.offsets[group + 1]]


def group_relations(ends: np.ndarray, weights: np.ndarray, parent: np.ndarray, n_parents: int) -> RelationGroups:
    """R<Cj,Ck> for every pair of clusters with lambda_jk > 0.

    ends: (r, 2) rows in the layer below; weights: (r,); parent: (n,) row in the new layer. The sum of strength over all
    groups plus the sum of inside equals r (invariant 5).
    """
    lifted = parent[ends.reshape(-1, 2)].astype(np.int64)
    low, high = lifted.min(axis=1, initial=n_parents), lifted.max(axis=1, initial=0)
    between = np.flatnonzero(low != high)
    key = low[between] * n_parents + high[between]
    order = np.argsort(key, kind="stable")
    unique, starts = np.unique(key[order], return_index=True)
    rows = between[order]
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


def lift_counts(counts: np.ndarray, groups: RelationGroups) -> np.ndarray:
    """Base relations of each kind that each group stands for.

    counts: (r, kinds) for the relations of the layer below. Returns (p, kinds), int64.
    """
    total = np.concatenate([np.zeros((1, counts.shape[1]), dtype=np.int64), np.cumsum(counts[groups.rows], axis=0)])
    return total[groups.offsets[1:]] - total[groups.offsets[:-1]]


def frequent_keywords(keywords: Sequence[Sequence[str]]) -> tuple[str, ...]:
    """The keywords of a group's relations that most relations have, ties in alphabetical order; at most five."""
    counted = Counter(word for words in keywords for word in dict.fromkeys(words) if word)
    return tuple(sorted(counted, key=lambda word: (-counted[word], word))[:_KEYWORDS_KEPT])
