"""K-means of vectors in 8 bits: centres are rounded means, and all that is compared and added up are whole numbers."""

import numpy as np

from leanrag_core.clustering.blocks import over_blocks, row_blocks
from leanrag_core.clustering.codes import NearestCodes
from leanrag_core.clustering.neighbours import offsets_of

_ROUNDS = 5
_ROWS_AT_ONCE = 4096
_LABELS_AT_ONCE = 256  # whose rows are added up


def draw_rows(n: int, count: int, seed: int) -> np.ndarray:
    """Draw `count` of n rows, ascending; all where there are no more; (min(n, count),) int64."""
    return np.sort(np.random.default_rng([seed, n, count]).choice(n, min(n, count), replace=False))


def kmeans(codes: np.ndarray, count: int, seed: int, *, n_near: int | None = None) -> tuple[np.ndarray, np.ndarray]:
    """Return the centres of a k-means that begins with rows drawn at random, (count, d) int8, and the centre of each
    row, (k,) int64.

    codes: (k, d) int8, at least `count` rows. n_near: a row is compared with all centres once, and later with that many
    that are near its own; None: with all in each round.
    """
    centres: np.ndarray = codes[draw_rows(len(codes), count, seed)]
    labels = _nearest_centres(codes, centres)
    for number in range(_ROUNDS):
        if number:
            labels = _nearest_of_near(codes, centres, labels, n_near) if n_near else _nearest_centres(codes, centres)
        used, means = label_means(codes, labels)
        centres[used] = means
    return centres, labels


def _nearest_centres(codes: np.ndarray, centres: np.ndarray) -> np.ndarray:
    """Return the nearest centre of each row, (k,), by blocks on all cores. codes: (k, d) int8. centres: (c, d) int8."""
    nearest = NearestCodes(centres)
    blocks = row_blocks(len(codes), _ROWS_AT_ONCE)
    return np.concatenate(list(over_blocks(lambda rows: nearest.assign(codes[rows]), blocks)))


def _nearest_of_near(codes: np.ndarray, centres: np.ndarray, labels: np.ndarray, n_near: int) -> np.ndarray:
    """Return the nearest of the n_near centres that are nearest to each row's own, (k,). codes: (k, d) int8. centres:
    (c, d) int8. labels: (k,), each row's own."""
    near, _ = NearestCodes(centres).search(centres, n_near)
    order = np.argsort(labels, kind="stable")
    used, starts = np.unique(labels[order], return_index=True)
    rows = np.split(order, starts[1:])

    def moved(part: slice) -> list[np.ndarray]:
        """Return the new labels of the rows of each of these labels, (rows,) each."""
        return [
            near[label][NearestCodes(centres[near[label]]).assign(codes[of_label])]
            for label, of_label in zip(used[part].tolist(), rows[part], strict=True)
        ]

    new = np.empty_like(labels)
    blocks = over_blocks(moved, row_blocks(len(used), _LABELS_AT_ONCE))
    new[order] = np.concatenate([of_label for block in blocks for of_label in block])
    return new


def label_means(codes: np.ndarray, labels: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the labels that are used, (u,), ascending, and the rounded means of their rows, (u, d) int8. codes: (k, d)
    int8. labels: (k,)."""
    order = np.argsort(labels, kind="stable")
    used, sizes = np.unique(labels, return_counts=True)
    starts, means = offsets_of(sizes), np.empty((len(used), codes.shape[1]), dtype=np.int8)
    for part in row_blocks(len(used), _LABELS_AT_ONCE):
        rows = codes[order[starts[part.start] : starts[part.stop]]].astype(np.int64)
        sums = np.add.reduceat(rows, starts[part] - starts[part.start])
        means[part] = np.rint(sums / sizes[part, None])
    return used, means
