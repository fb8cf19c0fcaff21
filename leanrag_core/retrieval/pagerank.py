"""Personalised PageRank by power iteration on a sparse matrix."""

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:  # scipy takes a tenth of a second to import
    from scipy.sparse import csr_array

MAX_ROUNDS = 100


def normalised(weights: "csr_array") -> "csr_array":
    """The transition matrix of a graph: weights of the edges j -> i in [i, j], each column divided by its sum.

    weights: (n, n), not negative; entry [i, j] is the weight from j to i. Columns without an edge stay empty.
    """
    from scipy.sparse import diags_array

    sums = np.asarray(weights.sum(axis=0)).ravel()
    inverse = np.divide(1.0, sums, out=np.zeros(len(sums)), where=sums > 0)
    return (weights @ diags_array(inverse)).tocsr()


def pagerank(
    transition: "csr_array",
    restart: np.ndarray,
    *,
    damping: float,
    tolerance: float = 1e-6,
    max_rounds: int = MAX_ROUNDS,
) -> np.ndarray:
    """(n,) stationary mass of a walk that follows an edge with probability `damping` and else restarts; sums to 1.

    transition: (n, n), see normalised(). restart: (n,), not negative, with a sum above 0. A walk that comes to a node
    without an edge restarts. The rounds end when the mass changes by less than the tolerance in all.
    Source: Haveliwala 2002, Topic-sensitive PageRank.
    """
    start = np.asarray(restart, dtype=np.float64)
    start = start / start.sum()
    mass = start
    for _ in range(max_rounds):
        moved = damping * (transition @ mass)
        following = moved + (1.0 - moved.sum()) * start
        if np.abs(following - mass).sum() < tolerance:
            return np.asarray(following)
        mass = following
    return np.asarray(mass)
