"""Functions that workers import by their name."""

import os
import signal
import time
from pathlib import Path

import numpy as np

from leanrag_core.storage.stages import stage_key


def squared(number: int) -> int:
    return number * number


def slow_square(number: int) -> int:
    """Square the number, so that later items are done first where there are several workers."""
    time.sleep(0.02 * max(0, 5 - number))
    return number * number


def broken(number: int) -> int:
    if number == 3:
        raise ZeroDivisionError("the third")
    return number


def worker_of(number: int) -> int:
    return os.getpid()


def timed_out(number: int) -> int:
    raise TimeoutError("the work's own")


def dies_once(mark: str) -> str:
    """End the process the first time that this is called with this mark."""
    path = Path(mark)
    if not path.exists():
        path.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return path.name


def dies(number: int) -> int:
    os.kill(os.getpid(), signal.SIGKILL)
    return number


def long_square(number: int) -> tuple[int, int]:
    """Do a tenth of a second of work; return the square and who did it."""
    time.sleep(0.1)
    return number * number, os.getpid()


def dies_elsewhere(item: tuple[int, int]) -> int:
    """End every process but the one of that id."""
    number, here = item
    time.sleep(0.1)
    if os.getpid() != here:
        os.kill(os.getpid(), signal.SIGKILL)
    return number


class Doubling:
    """Keepable: doubles arrays of integers, and counts how often it was called."""

    stage = "doubles"

    def __init__(self) -> None:
        self.calls: list[list[int]] = []

    def __call__(self, batch: list[int]) -> np.ndarray:
        self.calls.append(batch)
        return np.array(batch) * 2

    def key(self, batch: list[int]) -> bytes:
        return stage_key(self.stage, *map(str, batch))

    def pack(self, result: np.ndarray) -> bytes:
        return ",".join(map(str, result.tolist())).encode()

    def unpack(self, content: bytes) -> np.ndarray:
        return np.array([int(part) for part in content.split(b",")])


def pause(number: int) -> int:
    time.sleep(3)
    return number
