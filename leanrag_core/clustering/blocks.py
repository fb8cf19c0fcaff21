"""Work over fixed blocks of rows on all cores, with the same bits from any number of them.

A matrix product that BLAS spreads over threads adds its terms in another order for another number of threads, and one
bit can move an entity. So each product runs on one BLAS thread, blocks have fixed bounds, and blocks run side by side.
"""

import os
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

import numpy as np

from leanrag_core.system.threads import ordered_results

Item = TypeVar("Item")
Result = TypeVar("Result")

_AHEAD = 2  # blocks a core may have waiting; more would only hold memory


def available_cores() -> int:
    """Return the number of cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def over_blocks(function: Callable[[Item], Result], blocks: Iterable[Item]) -> Iterator[Result]:
    """Yield function(block) for each block, in the blocks' order, computed on all cores.

    The result of a block must not depend on what runs beside it.
    """
    blocks = list(blocks)
    workers = min(available_cores(), len(blocks))
    if workers <= 1:
        yield from map(function, blocks)
        return
    with ThreadPoolExecutor(workers) as pool:
        yield from ordered_results(
            blocks,
            lambda block: pool.submit(function, block),
            lambda waiting: waiting.popleft().result(),
            Future.cancel,
            max_waiting=lambda: workers * _AHEAD,
        )


def product(left: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Return left @ right, (n, m) float32, added up in float64, so that the order in which a processor's BLAS adds does
    not show.

    left: (n, k). right: (k, m).
    """
    return (left.astype(np.float64) @ right.astype(np.float64)).astype(np.float32)


def row_blocks(n: int, size: int) -> list[slice]:
    """Return slices of `size` rows that cover 0 ... n-1; the last one may be shorter."""
    return [slice(start, min(start + size, n)) for start in range(0, n, size)]
