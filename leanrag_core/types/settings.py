"""Settings of the workbench: endpoint, prices, limits, execution. Keys are never in them."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from leanrag_core.errors import InvalidConfig
from leanrag_core.files.records import absent_at_default
from leanrag_core.messages.message import message
from leanrag_core.system.addresses import CHROMA, ENDPOINT, LOCAL_HOSTS, SCHEDULER, Fault, fault_of, parts_of
from leanrag_core.types.config import is_remote, model_title, option, validate

THREADS, PROCESSES, DASK = "threads", "processes", "dask"

# A map over work: applies a function to items and yields the results in the items' order.
Apply = Callable[[Callable[[Any], Any], Iterable[Any]], Iterable[Any]]


@dataclass(frozen=True)
class Execution:
    """Threads of this process, processes of this machine, or the workers of a Dask cluster: the same index from each.

    It is no part of IndexConfig, since it changes nothing in an index.
    """

    __pydantic_config__ = {"extra": "forbid"}  # noqa: RUF012 - read by pydantic

    kind: str = option(
        THREADS, choices=(THREADS, PROCESSES, DASK), help="Who reads, embeds and clusters: threads, processes or dask."
    )
    workers: int = option(
        0,
        low=0,
        high=1024,
        help="Threads or processes; 0 means one for each processor core. A cluster sets its own.",
    )
    scheduler: str = option("", help="Address of a Dask scheduler, such as tcp://10.0.0.1:8786 or tls://head:8786.")

    def __post_init__(self) -> None:
        validate(self)
        if fault_of(self.scheduler, SCHEDULER) in (Fault.SECRET, Fault.MORE):
            raise InvalidConfig("scheduler.address_holds_secrets")
        if self.kind == DASK and not self.scheduler.startswith(SCHEDULER.schemes):
            raise InvalidConfig("scheduler.no_address")
        if self.kind != DASK and self.scheduler:
            raise InvalidConfig("scheduler.not_dask_execution", kind=self.kind)


OPENAI_HOST = "api.openai.com"
LEAST_WINDOW, MOST_WINDOW = 512, 10_000_000  # tokens that a model reads and writes together
LANGUAGES = ("en", "zh")  # those of the catalogs


@dataclass(frozen=True)
class Price:
    """US dollars for a million tokens. cached: for those of a prompt that the provider had read before; None where it
    takes nothing off."""

    __pydantic_config__ = {"extra": "forbid"}  # noqa: RUF012 - read by pydantic

    prompt: float = 0.0
    completion: float = 0.0
    cached: float | None = absent_at_default()

    def of(self, prompt_tokens: int, completion_tokens: int, cached_tokens: int = 0) -> float:
        """Compute the cost in US dollars. cached_tokens: of the prompt's."""
        cost = prompt_tokens * self.prompt + completion_tokens * self.completion
        if self.cached is not None:
            cost += cached_tokens * (self.cached - self.prompt)
        return cost / 1e6


@dataclass(frozen=True)
class Settings:
    """One endpoint and how it is used. base_url "" is OpenAI's own service."""

    base_url: str = option("", help="Address of an OpenAI-compatible server, such as http://localhost:11434/v1.")
    key_variable: str = option(
        "OPENAI_API_KEY", help="Environment variable, or name in the app's secrets, that holds the key."
    )
    concurrency: int = option(8, low=1, high=256, help=message("option.help.concurrency"))
    requests_per_minute: int = option(0, low=0, high=1_000_000, help=message("option.help.requests_per_minute"))
    tokens_per_minute: int = option(0, low=0, high=1_000_000_000, help=message("option.help.tokens_per_minute"))
    timeout_seconds: float = option(120.0, low=1.0, high=3600.0, help=message("option.help.timeout_seconds"))
    retries: int = option(6, low=0, high=20, help=message("option.help.retries"))
    temperature: float = option(0.0, low=0.0, high=2.0, help=message("option.help.temperature"))
    max_reply_tokens: int = option(4096, low=64, high=131_072, help=message("option.help.max_reply_tokens"))
    build_model: str = option("", help=message("option.help.build_model"))
    build_embedding: str = option("", help=message("option.help.build_embedding"))
    answer_model: str = option("", help="Another model for answers, openai:NAME; empty takes the index's own.")
    chroma_url: str = option(
        "", help="Address of a Chroma server for the search index, such as http://127.0.0.1:8000; empty uses files."
    )
    parse_seconds: float = option(60.0, low=1.0, high=3600.0, help=message("option.help.parse_seconds"))
    parse_memory_mb: int = option(1500, low=256, high=1_000_000, help=message("option.help.parse_memory_mb"))
    parse_output_mb: int = option(256, low=1, high=100_000, help=message("option.help.parse_output_mb"))
    stages_mb: int = option(
        2000,
        low=0,
        high=10_000_000,
        help=message("option.help.stages_mb"),
    )
    execution: Execution = field(default_factory=Execution)
    prices: Mapping[str, Price] = field(default_factory=dict)
    windows: Mapping[str, int] = field(default_factory=dict)  # tokens, by model, where the server does not say
    language: str = option("en", choices=LANGUAGES, help="Language of all pages.")

    def __post_init__(self) -> None:
        validate(self)
        # Other faults are found when a connection is made: settings that were saved once must be read.
        fault = fault_of(self.base_url, ENDPOINT)
        if fault is Fault.SECRET:
            raise InvalidConfig("settings.base_url_holds_secrets")
        if fault is Fault.SCHEME:
            raise InvalidConfig("settings.base_url_invalid", url=self.base_url)
        fault = fault_of(self.chroma_url, CHROMA)
        if fault in (Fault.SECRET, Fault.MORE):
            raise InvalidConfig("settings.chroma_url_holds_secrets")
        if fault is Fault.SCHEME:
            raise InvalidConfig("settings.chroma_url_invalid")
        for model, tokens in self.windows.items():
            if not LEAST_WINDOW <= tokens <= MOST_WINDOW:
                raise InvalidConfig("settings.window_invalid", model=model, low=LEAST_WINDOW, high=MOST_WINDOW)

    def price(self, model: str) -> Price:
        """Return the price of the model; an empty one when none is known."""
        return self.prices.get(model, Price())

    def unpriced(self, models: Iterable[str]) -> list[str]:
        """Return the titles of those models that are called and have no price here, in order. models: their names."""
        titles = {model_title(name) for name in models if is_remote(name)}
        return sorted(titles - self.prices.keys())

    @property
    def local(self) -> bool:
        """Whether the endpoint is on this machine."""
        return self.host in LOCAL_HOSTS

    @property
    def host(self) -> str:
        """The endpoint's host, without port and path."""
        return parts_of(self.base_url).host if self.base_url else OPENAI_HOST
