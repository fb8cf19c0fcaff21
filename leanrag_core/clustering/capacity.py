"""Assignment of points to components under a cap on how many each may hold."""

from collections.abc import Callable

import numpy as np


def assign_within_capacity(
    best: np.ndarray, margin: np.ndarray, capacity: int, n_components: int, log_joint: Callable[[int], np.ndarray]
) -> np.ndarray:
    """Give each point its best component that still has room, surest points first.

    best: (n,) most responsible component of each point. margin: (n,) log posterior of the best over the second best;
    points choose in falling order of it, ties by row. log_joint(row): (n_components,) how well that point fits each
    component; asked only for points whose best component is full. Points for which no component has room form new
    components, numbered from n_components on. Returns (n,) int labels, none used more than `capacity` times.
    """
    labels = best.astype(np.int64)
    counts = np.bincount(labels, minlength=n_components)
    if counts.max() <= capacity:
        return labels
    held = np.zeros(n_components, dtype=np.int64)
    leftover = []
    for row in np.argsort(-margin, kind="stable"):
        choice = labels[row]
        if held[choice] >= capacity:
            open_components = held < capacity
            if not open_components.any():
                leftover.append(row)
                continue
            choice = int(np.where(open_components, log_joint(int(row)), -np.inf).argmax())
            labels[row] = choice
        held[choice] += 1
    for position, row in enumerate(sorted(leftover)):
        labels[row] = n_components + position // capacity
    return labels
