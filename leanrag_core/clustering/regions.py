"""Regions of vectors that name each other as neighbours, from the neighbours alone."""

import heapq
import math
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from leanrag_core.clustering.blocks import over_blocks, row_blocks

if TYPE_CHECKING:
    from scipy.sparse import csr_array

_MOST_GROUPS = 40_000  # that are joined to regions one after the other
_MOST_JOINED = 1.5  # largest region that groups are joined to, in intended sizes
_OVERFULL = 3  # times its intended rows that a region may hold; what duplicates make is cut
_VOTES = 10  # rounds at most in which a row goes to the group or region that most of its neighbours are in
_AT_ONCE = 32_768
_Tie = tuple[float, int, int, int]  # negated, both regions, and the one whose strongest it is


def join_regions(neighbours: np.ndarray, *, group_rows: int, region_rows: int) -> np.ndarray:
    """Return the region of each place, (n,) int32, every region used: groups with many links are joined, then rows vote
    once more. neighbours: (n, k) places, near ones beside each other. group_rows: see group_by_votes(). region_rows:
    intended; a region has half as many more at most, and three times as many after the vote."""
    _, group = np.unique(group_by_votes(neighbours, group_rows), return_inverse=True)
    largest = int(_MOST_JOINED * region_rows)
    region = _joined(_links(group, neighbours), np.bincount(group), largest)[group].astype(np.int32)
    return cut_overfull(_vote(region, neighbours), _OVERFULL * region_rows)[0]


def group_by_votes(neighbours: np.ndarray, rows: int) -> np.ndarray:
    """Return groups of places that name each other, (n,) int32, not all numbers used: runs of that many places, in
    which near ones lie beside each other, after a vote. neighbours: (n, k) places."""
    n = len(neighbours)
    return _vote(np.arange(n, dtype=np.int32) // max(rows, -(-n // _MOST_GROUPS)), neighbours)


def _vote(labels: np.ndarray, neighbours: np.ndarray) -> np.ndarray:
    """Return labels that most neighbours of a place have, too, (n,) int32: all take at once what most of their
    neighbours and they themselves have, of equals their own, until none changes, ten times at most. labels: (n,) int32.
    neighbours: (n, k) places."""
    for _ in range(_VOTES):
        before = labels
        blocks = row_blocks(len(before), _AT_ONCE)
        labels = np.concatenate(list(over_blocks(partial(_next_labels, before, neighbours), blocks)))
        if (labels == before).all():
            break
    return labels


def _next_labels(labels: np.ndarray, neighbours: np.ndarray, places: slice) -> np.ndarray:
    """Return the labels of those places after one round, (b,), see _vote()."""
    candidates = np.concatenate([labels[places, None], labels[neighbours[places]]], axis=1)
    votes = (candidates[:, :, None] == candidates[:, None, :]).sum(axis=2)
    return np.take_along_axis(candidates, votes.argmax(axis=1)[:, None], axis=1)[:, 0]


def _links(group: np.ndarray, neighbours: np.ndarray) -> "csr_array":
    """Return how often rows of one group name a neighbour in another, in both directions, (g, g) int64, nothing on the
    diagonal. group: (n,) int, all used. neighbours: (n, k) places."""
    from scipy.sparse import csr_array

    g = int(group.max()) + 1
    links = csr_array((g, g), dtype=np.int64)
    for rows in row_blocks(len(group), _AT_ONCE):
        pairs, counts = np.unique(group[rows, None] * g + group[neighbours[rows]], return_counts=True)
        first, second = np.divmod(pairs, g)
        apart = first != second
        links += csr_array((counts[apart], (first[apart], second[apart])), shape=(g, g))
    return links + links.T


def _joined(links: "csr_array", sizes: np.ndarray, most: int) -> np.ndarray:
    """Return the region of each group, (g,) int from 0: the two that are tied most are joined, again and again, as long
    as both together hold no more than `most` rows.

    links: (g, g) int64, symmetric, see _links(). sizes: (g,) rows of each group. The tie of two is the number of links
    over the root of the product of their sizes; of equal ties that of the lower numbers comes first.
    """
    tied = [
        dict(zip(links.indices[start:stop].tolist(), links.data[start:stop].tolist(), strict=True))
        for start, stop in pairwise(links.indptr.tolist())
    ]
    size, into = sizes.tolist(), list(range(len(sizes)))

    def strongest(region: int) -> _Tie | None:
        """Return the strongest tie of a region to one that fits; the lower and upper end stand before the region."""
        fitting = (
            (-round(number / math.sqrt(size[region] * size[other]), 9), min(region, other), max(region, other), region)
            for other, number in tied[region].items()
            if size[region] + size[other] <= most
        )
        return min(fitting, default=None)

    waiting = [tie for region in into if (tie := strongest(region))]
    heapq.heapify(waiting)
    while waiting:
        tie = heapq.heappop(waiting)
        _, first, second, region = tie
        if tie == strongest(region):
            into[second], size[first] = first, size[first] + size[second]
            for third, number in tied[second].items():
                if third != first:
                    tied[first][third] = tied[third][first] = tied[first].get(third, 0) + number
                tied[third].pop(second, None)
            tied[second] = {}
            region = first
        if waits := strongest(region):  # also where the other end was joined elsewhere, or has grown
            heapq.heappush(waiting, waits)
    joined = np.array(into)
    while (joined != joined[joined]).any():
        joined = joined[joined]
    return np.unique(joined, return_inverse=True)[1]


def cut_overfull(labels: np.ndarray, most: int) -> tuple[np.ndarray, np.ndarray]:
    """Return labels 0, 1, ... none of which more than `most` rows have, and the label that each was part of. labels:
    (n,) int."""
    order = np.argsort(labels, kind="stable")
    used, first, sizes = np.unique(labels[order], return_index=True, return_counts=True)
    piece = (np.arange(len(labels)) - np.repeat(first, sizes)) // most
    pieces = -(-sizes // most)
    cut = np.empty(len(labels), dtype=np.int32)
    cut[order] = np.repeat(np.cumsum(pieces) - pieces, sizes) + piece
    return cut, np.repeat(used, pieces)
