"""The bars of a histogram of lambda: whole steps where few relations are above them, else equal steps."""

import numpy as np

_BARS = 12  # the last one takes all that is larger
_TAIL = 0.25  # share of the relations that the last bar may take when bars are whole steps


def lambda_bars(strengths: np.ndarray, pairs: np.ndarray) -> tuple[tuple[int, int], ...]:
    """First and last lambda of each bar, from 1 on without gaps.

    strengths: (k,) the lambdas that occur, ascending, k at least 1; pairs: (k,) relations of each. Whole steps up to 11
    and "12+", as long as at most a quarter of the relations falls into the last bar; else steps of 2, 5, 10, 20, ...
    that make twelve bars of nine tenths of them.
    """
    largest = int(strengths[-1])
    if largest < _BARS:
        return tuple((value, value) for value in range(1, largest + 1))
    total = int(pairs.sum())
    if pairs[strengths >= _BARS].sum() <= _TAIL * total:
        return (*((value, value) for value in range(1, _BARS)), (_BARS, largest))
    most = int(strengths[np.searchsorted(np.cumsum(pairs), 0.9 * total)])
    width = _step(most / (_BARS - 1))
    lasts = [width * number for number in range(1, _BARS) if width * number < largest]
    return tuple(zip([1, *(last + 1 for last in lasts)], [*lasts, largest], strict=True))


def _step(at_least: float) -> int:
    """The smallest of 1, 2, 5, 10, 20, 50, ... that is not below the number."""
    power = 1
    while True:
        for digit in (1, 2, 5):
            if digit * power >= at_least:
                return digit * power
        power *= 10
