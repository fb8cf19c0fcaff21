"""Threads that share an object, and keys that let other threads go on in the middle of a dictionary's work."""

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class SlowKey:
    """A key of a dictionary: while it is looked up, another thread takes its turn."""

    number: int

    def __hash__(self) -> int:
        time.sleep(0)
        return self.number


def errors_at_once(step: Callable[[int], object], *, threads: int = 8, steps: int = 500) -> list[Exception]:
    """Return the errors of threads that each do that many steps at the same time."""
    errors: list[Exception] = []
    start = threading.Barrier(threads)

    def work(number: int) -> None:
        start.wait(60)
        try:
            for n in range(number, number + steps):
                step(n)
        except Exception as error:
            errors.append(error)

    at_work = [threading.Thread(target=work, args=(number,)) for number in range(threads)]
    for thread in at_work:
        thread.start()
    for thread in at_work:
        thread.join(120)
    return errors
