"""Results in the order of their items, while a bounded number of items is on its way to the workers."""

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

Item = TypeVar("Item")
Sent = TypeVar("Sent")
Result = TypeVar("Result")


def ordered_results(
    items: Iterable[Item],
    send: Callable[[Item], Sent],
    take_first: Callable[[deque[Sent]], Result],
    discard: Callable[[Sent], object],
    *,
    max_waiting: Callable[[], int],
) -> Iterator[Result]:
    """Send the items and yield their results in order.

    take_first: removes the first sent item of the queue and returns its result. discard: called for each item that was
    sent and whose result is no longer wanted, after an error or when the caller stops. max_waiting: more items than
    that would only hold memory.
    """
    waiting: deque[Sent] = deque()
    try:
        for item in items:
            waiting.append(send(item))
            while len(waiting) >= max_waiting():
                yield take_first(waiting)
        while waiting:
            yield take_first(waiting)
    finally:
        for sent in waiting:
            discard(sent)
