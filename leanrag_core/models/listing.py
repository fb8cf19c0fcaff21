"""The models of a server, for people who choose among them, and how many calls in flight it can use."""

import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from leanrag_core.errors import EndpointBusy, EndpointError
from leanrag_core.messages.message import Message
from leanrag_core.models.batch_calls import has_batches
from leanrag_core.models.endpoint import Endpoint

_AT_ONCE = 4  # questions for context windows
_FEW_TOKENS = 16  # of a reply; servers refuse fewer


@dataclass(frozen=True)
class ModelList:
    """The models of the server at an address, those that embed last. error: why there are none. batches: the server
    takes calls in files."""

    address: str = ""
    names: tuple[str, ...] = ()
    seconds: float = 0.0
    error: Message | None = None
    batches: bool = False

    @property
    def writing(self) -> tuple[str, ...]:
        """Models that write, by their names."""
        return tuple(name for name in self.names if not embeds(name))

    @property
    def embedding_first(self) -> tuple[str, ...]:
        """All models, those that embed first."""
        return tuple(sorted(self.names, key=lambda name: (not embeds(name), name)))

    @property
    def nothing_there(self) -> bool:
        """Whether the server answered that it knows no such address (status 404)."""
        return self.error is not None and self.error.code == "endpoint.not_found"


def embeds(name: str) -> bool:
    """Return whether the name is that of an embedding model, as far as names tell."""
    return any(word in name.lower() for word in ("embed", "bge-", "e5-", "gte-", "minilm"))


def list_models(endpoint: Endpoint) -> ModelList:
    """List the server's models, or say why they could not be listed."""
    started = time.perf_counter()
    try:
        names = endpoint.models()
    except EndpointError as error:
        return ModelList(endpoint.address, (), time.perf_counter() - started, error.message)
    seconds = time.perf_counter() - started
    writing_first = sorted(names, key=lambda name: (embeds(name), name))
    return ModelList(endpoint.address, tuple(writing_first), seconds, batches=has_batches(endpoint))


@dataclass(frozen=True)
class ModelAnswer:
    """Whether a model answers a call of a few tokens. error: why not; None where it does."""

    model: str
    seconds: float
    error: Message | None = None


def ask_briefly(endpoint: Endpoint, model: str) -> ModelAnswer:
    """Make one call of a few tokens, whatever the reply says."""
    started = time.perf_counter()
    try:
        endpoint.chat(model, [{"role": "user", "content": "Write one word."}], max_tokens=_FEW_TOKENS)
    except EndpointError as error:
        return ModelAnswer(model, time.perf_counter() - started, error.message)
    return ModelAnswer(model, time.perf_counter() - started)


def context_windows(endpoint: Endpoint, names: Sequence[str]) -> dict[str, int | None]:
    """Return the tokens that each model reads, None where the server does not tell."""

    def window(name: str) -> int | None:
        try:
            return endpoint.context_window(name)
        except EndpointError:
            return None

    with ThreadPoolExecutor(_AT_ONCE) as pool:
        return dict(zip(names, pool.map(window, names), strict=True))


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
