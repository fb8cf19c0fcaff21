"""Settings of the workbench: endpoint, roles, prices, limits, execution. Keys are never in them."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from leanrag_core.errors import InvalidConfig
from leanrag_core.files.records import absent_at_default
from leanrag_core.system.addresses import CHROMA, ENDPOINT, LOCAL_HOSTS, SCHEDULER, Fault, fault_of, parts_of
from leanrag_core.types.config import is_file, is_remote, model_title, option, validate
from leanrag_core.types.roles import ANSWERS, EMBEDDINGS, EXTRACTION, OWN_LIMITS, ROLES, WITH, Role
from leanrag_core.types.roles import Price as Price

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
AUTO, FULL, SHORT = PROMPT_FORMS = ("auto", "full", "short")
SHORT_UP_TO = 4096  # tokens of a window for which prompts are short by themselves
LANGUAGES = ("en", "zh")  # those of the catalogs


# Roles whose model has a field of its own in the settings.
_MODEL_OF = {EXTRACTION: "build_model", EMBEDDINGS: "build_embedding", ANSWERS: "answer_model"}


@dataclass(frozen=True)
class Settings:
    """One endpoint and how it is used. base_url "" is OpenAI's own service."""

    base_url: str = option("", help="Address of an OpenAI-compatible server, such as http://localhost:11434/v1.")
    key_variable: str = option(
        "OPENAI_API_KEY", help="Environment variable, or name in the app's secrets, that holds the key."
    )
    concurrency: int = option(8, low=1, high=256)
    requests_per_minute: int = option(0, low=0, high=1_000_000)
    tokens_per_minute: int = option(0, low=0, high=1_000_000_000)
    timeout_seconds: float = option(120.0, low=1.0, high=3600.0)
    retries: int = option(6, low=0, high=20)
    temperature: float = option(0.0, low=0.0, high=2.0)
    prompt_form: str = option(AUTO, choices=PROMPT_FORMS)
    max_reply_tokens: int = option(4096, low=64, high=131_072)
    build_model: str = option("")
    build_embedding: str = option("")
    answer_model: str = option(
        "", help="Model for answers about every index, openai:NAME; empty takes the index's own."
    )
    models_folder: str = option("")
    chroma_url: str = option(
        "", help="Address of a Chroma server for the search index, such as http://127.0.0.1:8000; empty uses files."
    )
    parse_seconds: float = option(60.0, low=1.0, high=3600.0)
    parse_memory_mb: int = option(1500, low=256, high=1_000_000)
    parse_output_mb: int = option(256, low=1, high=100_000)
    stages_mb: int = option(2000, low=0, high=10_000_000)
    execution: Execution = field(default_factory=Execution)
    prices: Mapping[str, Price] = field(default_factory=dict)
    windows: Mapping[str, int] = field(default_factory=dict)  # tokens, by model, where the server does not say
    roles: Mapping[str, Role] = absent_at_default(factory=dict)  # those that are not asked as all are
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

        for role in self.roles:
            if role not in ROLES:
                raise InvalidConfig("role.unknown", role=role, known=", ".join(ROLES))

    def role_model(self, role: str) -> str:
        """Return the name of the role's model; "" for the built-in engine, or for the model of the index."""
        return str(getattr(self, _MODEL_OF[role])) if role in _MODEL_OF else self.roles.get(role, Role()).model

    def with_role(self, role: str, own: Role, model: str | None = None) -> "Settings":
        """Return the settings with that role; model: None for that of `own`, or for the one that the role has. Raises
        InvalidConfig."""
        model = model if model is not None else own.model or self.role_model(role)
        models: dict[str, Any] = {_MODEL_OF[role]: model} if role in _MODEL_OF else {}
        named_role = replace(own, model="" if models else model)
        others = {name: each for name, each in self.roles.items() if name != role}
        roles = others if named_role.is_empty else {**others, role: named_role}
        return replace(self, roles={name: roles[name] for name in sorted(roles)}, **models)

    def asked_with(self, role: str) -> str:
        """Return the role whose settings hold for that one: its own, or those of the role whose model it takes."""
        while role not in self.roles and not self.role_model(role) and role in WITH:
            role = WITH[role]
        return role

    def own_role(self, role: str) -> Role:
        """Return the settings of the role that asked_with() names; an empty Role where it has none."""
        return self.roles.get(self.asked_with(role), Role())

    def of_role(self, role: str) -> "Settings":
        """Return the settings with which the models of that role are asked; these where it has none of its own."""
        name = self.asked_with(role)
        own = self.roles.get(name)
        if own is None:
            return self
        changes: dict[str, Any] = {limit: value for limit in OWN_LIMITS if (value := getattr(own, limit))}
        if own.temperature is not None:
            changes["temperature"] = own.temperature
        if own.base_url:
            # Another server: the key of all is not sent there.
            changes |= {"base_url": own.base_url, "key_variable": own.key_variable or f"{name.upper()}_API_KEY"}
        elif own.key_variable:
            changes["key_variable"] = own.key_variable
        model = model_title(self.role_model(name))
        if model and own.price is not None:
            changes["prices"] = {**self.prices, model: own.price}
        if model and own.window:
            changes["windows"] = {**self.windows, model: own.window}
        return replace(self, **changes)

    @property
    def stages_bytes(self) -> int:
        """How much the kept stages of builds may take."""
        return self.stages_mb * 1_000_000

    @property
    def key_variables(self) -> tuple[str, ...]:
        """The names of all variables that hold a key."""
        return tuple(dict.fromkeys((self.key_variable, *(self.of_role(role).key_variable for role in self.roles))))

    def price(self, model: str) -> Price:
        """Return the price of the model; an empty one when none is known."""
        return self.prices.get(model, Price())

    def unpriced(self, models: Iterable[str]) -> list[str]:
        """Return the titles of those models that are called and have no price here, in order. models: their names."""
        titles = {model_title(name) for name in models if is_remote(name) and not is_file(name)}
        return sorted(titles - self.prices.keys())

    @property
    def local(self) -> bool:
        """Whether the endpoint is on this machine."""
        return self.host in LOCAL_HOSTS

    @property
    def host(self) -> str:
        """The endpoint's host, without port and path."""
        return parts_of(self.base_url).host if self.base_url else OPENAI_HOST
