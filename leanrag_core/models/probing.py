"""How many calls in flight a server can use: a slow local one gains nothing from more than it has slots for."""

import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from leanrag_core.errors import EndpointBusy
from leanrag_core.models.endpoint import Endpoint

_LEVELS = (1, 2, 4, 8, 16, 32)
_ENOUGH = 0.85  # of the best throughput
_LONGEST = 20.0  # seconds of a level after which no higher one is tried
_WORDS = 24  # tokens of a probing reply


@dataclass(frozen=True)
class Probe:
    """calls_a_second at each number of calls in flight; chosen: the smallest number that is about as good as any."""

    calls_a_second: dict[int, float]
    chosen: int


def probe_concurrency(endpoint: Endpoint, model: str) -> Probe:
    """Make short calls, more and more at a time, until more bring nothing. Raises EndpointError when the first one
    fails."""
    endpoint.chat(model, _question(0), max_tokens=_WORDS)  # loads the model
    measured: dict[int, float] = {}
    for level in _LEVELS:
        started = time.perf_counter()
        try:
            with ThreadPoolExecutor(level) as pool:
                list(pool.map(lambda n: endpoint.chat(model, _question(n), max_tokens=_WORDS), range(level)))
        except EndpointBusy:
            break
        seconds = max(1e-6, time.perf_counter() - started)
        before = max(measured.values(), default=0.0)
        measured[level] = level / seconds
        if measured[level] < before * 1.1 or seconds > _LONGEST:
            break
    best = max(measured.values(), default=0.0)
    return Probe(measured, min((level for level in measured if measured[level] >= _ENOUGH * best), default=1))


def _question(number: int) -> list[dict[str, str]]:
    return [{"role": "user", "content": f"Name {number + 2} rivers, in a single line."}]
