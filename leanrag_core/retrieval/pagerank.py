"""Personalised PageRank by power iteration on a sparse matrix."""

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:  # scipy takes a tenth of a second to import
    from scipy.sparse import csr_array

MAX_ROUNDS = 100


def pagerank(
    transition: "csr_array",
    restart: np.ndarray,
    *,
    damping: float,
    tolerance: float = 1e-6,
    max_rounds: int = MAX_ROUNDS,
) -> np.ndarray:
    """(n,) stationary mass of a walk that follows an edge with probability `damping` and else restarts; sums to 1.

    transition: (n, n), see transition.normalised(). restart: (n,), not negative, with a sum above 0. A walk that comes
    to a node without an edge restarts. The rounds end when the mass changes by less than the tolerance in all.
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
