"""The largest of each row of scores, found without sorting the row."""

import numpy as np


def half_squares(vectors: np.ndarray) -> np.ndarray:
    """Return half the squared length of each row, (n,): an inner product less the other row's orders rows by distance.

    vectors: (n, d).
    """
    return np.asarray(0.5 * np.einsum("ij,ij->i", vectors, vectors))


def largest(scores: np.ndarray, k: int) -> np.ndarray:
    """Return the columns of the k largest scores of each row, falling; (rows, k). scores: (rows, columns).

    The k largest lie in the k groups of columns whose largest scores are largest: taking maxima of groups first leaves
    few columns to sort.
    """
    n_rows, width = scores.shape
    group = int(np.sqrt(width / max(k, 1)))  # columns of a group
    rows = np.arange(n_rows)[:, None]
    if group < 4:
        columns = _some_largest(scores, k)
        values = scores[rows, columns]
    else:
        n_groups = width // group
        whole = n_groups * group
        maxima = scores[:, :whole].reshape(n_rows, group, n_groups).max(axis=1)
        best = _some_largest(maxima, k)
        columns = (best[:, :, None] + np.arange(group) * n_groups).reshape(n_rows, -1)
        if whole < width:
            columns = np.concatenate([columns, np.tile(np.arange(whole, width), (n_rows, 1))], axis=1)
        values = scores[rows, columns]
        kept = _some_largest(values, k)
        columns, values = columns[rows, kept], values[rows, kept]
    falling = np.argsort(-values, axis=1, kind="stable")
    return columns[rows, falling]


def _some_largest(scores: np.ndarray, k: int) -> np.ndarray:
    """Return the columns of the k largest scores of each row, (rows, k), in any order; all columns where there are no
    more.
    """
    n_rows, width = scores.shape
    return np.argpartition(-scores, k - 1, axis=1)[:, :k] if k < width else np.tile(np.arange(width), (n_rows, 1))
