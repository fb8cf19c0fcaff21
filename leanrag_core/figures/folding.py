"""How room is divided among the children of a block: the largest are named, the others folded into one block."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np

_SMALL_SHARE = 0.4  # of the room, at most, for children that are drawn larger than their weight


@dataclass(frozen=True)
class Folding:
    """named: positions of the children that are drawn, ascending, and their sizes. folded: how many are not.
    fold_size: of the block that stands for those; 0 when there are none."""

    named: tuple[int, ...]
    sizes: tuple[float, ...]
    folded: int
    fold_size: float


def fold(
    weights: Sequence[float],
    least: Sequence[float],
    kept: Collection[int],
    room: float,
    *,
    fold_least: float,
    fold_most: float,
    gap: float = 0.0,
    skip: int = 0,
) -> Folding:
    """As many children as the room has place for, each in the size of its weight but not below its least one.

    weights: the largest first, not negative. least: the smallest size of each. kept: positions that are never folded.
    gap: between two blocks. skip: so many of the largest are folded too (the next ones are wanted). Sizes and gaps fill
    the room, or exceed it where the kept children alone do.
    """
    must = sorted(kept)
    others = [place for place in range(len(weights)) if place not in set(must)]
    others = others[skip:] if skip < len(others) else others
    smallest = min((least[place] for place in others), default=1.0)
    most = min(len(others), int(room / (smallest + gap)) + 1)
    for n_others in range(most, -1, -1):
        named = sorted([*must, *others[:n_others]])
        folded = len(weights) - len(named)
        fold_size = min(fold_most, max(fold_least, _share(weights, named, room))) if folded else 0.0
        if not n_others and folded:  # the kept children come before the size of what is folded
            tight = room - sum(least[place] for place in named) - gap * len(named)
            fold_size = min(fold_size, max(fold_least, tight))
        available = room - fold_size - gap * max(0, len(named) - (0 if folded else 1))
        needed = sum(least[place] for place in named)
        if n_others and (needed > available or _is_cramped(weights, least, others[:n_others], named, available)):
            continue
        sizes = _sizes([weights[place] for place in named], [least[place] for place in named], available)
        if not named:
            fold_size = room
        return Folding(tuple(named), tuple(sizes), folded, fold_size)
    raise AssertionError("no children beyond the kept ones always fit")


def _share(weights: Sequence[float], named: Sequence[int], room: float) -> float:
    """A quarter of the room that the folded children weigh: they need a click, not the picture."""
    total = sum(weights)
    return 0.25 * room * (total - sum(weights[place] for place in named)) / total if total else 0.0


def _is_cramped(
    weights: Sequence[float], least: Sequence[float], others: Sequence[int], named: Sequence[int], available: float
) -> bool:
    """Whether children that weigh less than their least size take too much from the larger ones."""
    total = sum(weights[place] for place in named) or 1.0
    small = [place for place in others if weights[place] * available / total < least[place]]
    return len(small) < len(others) and sum(least[place] for place in small) > _SMALL_SHARE * available


def _sizes(weights: Sequence[float], least: Sequence[float], room: float) -> list[float]:
    """Sizes that add up to the room, as the weights but none below its least."""
    size, low = np.zeros(len(weights)), np.asarray(least, dtype=float)
    weight = np.asarray(weights, dtype=float)
    free = np.ones(len(weights), dtype=bool)
    while free.any():
        left = room - low[~free].sum()
        total = weight[free].sum()
        size[free] = left * weight[free] / total if total else left / free.sum()
        below = free & (size < low - 1e-9)
        if not below.any():
            break
        free &= ~below
    return [float(value) for value in np.where(free, size, low)]
