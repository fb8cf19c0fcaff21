"""Models by name: "builtin", "reference", or "BACKEND:NAME" with a back-end of models/backends."""

import threading
from dataclasses import dataclass, field, replace
from functools import cached_property

from leanrag_core.errors import InvalidConfig
from leanrag_core.extensions import BrokenExtension, Extensions, discover
from leanrag_core.models.base import Backend, EmbeddingModel, LanguageModel
from leanrag_core.models.endpoint import Endpoint
from leanrag_core.models.model_files import ModelFiles
from leanrag_core.models.pacing import Meter, Pacer
from leanrag_core.models.remote import CallMemory
from leanrag_core.models.request_form import LearntForms
from leanrag_core.models.speeds import Speeds
from leanrag_core.types.calls import Budget
from leanrag_core.types.config import BUILTIN, IndexConfig, ModelName, is_file, is_remote, parse_model_name
from leanrag_core.types.roles import AGGREGATION, EMBEDDINGS, EXTRACTION, Role
from leanrag_core.types.settings import Settings


@dataclass
class Models:
    """The models of one piece of work: they share the endpoint, its pace, the meter and the memory of calls.

    forms: what has been learnt of the server's models, kept longer than this work. role: how these models are asked
    otherwise than all; see in_role(). speeds: of the models, kept longer than this program runs. model_files: those of
    the workbench, None where there is none; file_pacers: the pace of each, by the file's digest.
    """

    settings: Settings
    memory: CallMemory
    budget: Budget = field(default_factory=Budget)
    index: str = ""
    forms: LearntForms = field(default_factory=LearntForms)
    role: Role = field(default_factory=Role)
    speeds: Speeds = field(default_factory=Speeds)
    model_files: ModelFiles | None = None
    file_pacers: dict[str, Pacer] = field(default_factory=dict)
    _backends: dict[str, Backend] = field(default_factory=dict, init=False, repr=False)
    _servers: "_Servers" = field(default_factory=lambda: _Servers(), init=False, repr=False)
    _in_role: "dict[str, Models]" = field(default_factory=dict, init=False, repr=False)

    @cached_property
    def meter(self) -> Meter:
        """What the work has cost so far."""
        return Meter(self.budget)

    def counted_apart(self, index: str) -> "Models":
        """Return the same models for a part of the work, about that index, with a meter of its own within this one.

        Endpoint and pace stay shared, so that parts that run at the same time keep to the limits together.
        """
        part = replace(self, index=index)
        part.meter = Meter(within=self.meter)
        part.endpoint, part.pacer, part._servers = self.endpoint, self.pacer, self._servers
        return part

    def in_role(self, role: str) -> "Models":
        """Return the models as they are asked in that role: these where it has no settings of its own, else others at
        its own server and pace, which count in the same meter."""
        name = self.settings.asked_with(role) if role else ""
        if name not in self.settings.roles:
            return self
        if name not in self._in_role:
            settings, own = self.settings.of_role(name), self.settings.own_role(name)
            part = replace(self, settings=replace(settings, roles={}), role=own)
            part.meter = self.meter
            part.endpoint, part.pacer = self._servers.of(name, settings, self)
            part._servers = self._servers
            self._in_role[name] = part
        return self._in_role[name]

    @cached_property
    def endpoint(self) -> Endpoint:
        """The server."""
        return Endpoint(self.settings, self.forms, self.role, self.speeds)

    @cached_property
    def pacer(self) -> Pacer:
        """The pace of all calls."""
        return Pacer(self.settings, n_slots=lambda: self.forms.n_slots)

    def language(self, name: str, role: str = "") -> LanguageModel | None:
        """Return the language model of that name, None for builtin (heuristic extraction, extractive answers). role:
        in which it is asked; "" for the endpoint of all.

        Raises InvalidConfig for another name, and for a model without a price when the budget is in dollars.
        """
        parsed = parse_model_name(name)
        return self.in_role(role)._backend(parsed).language(parsed.model)

    def embedding(self, name: str, fingerprint: str = "") -> EmbeddingModel:
        """Return the embedding model of that name. fingerprint: as an index recorded it, where a back-end has
        several forms.

        Raises InvalidConfig as language() does, ModelUnavailable where the built-in one is not installed.
        """
        parsed = parse_model_name(name)
        return self.in_role(EMBEDDINGS)._backend(parsed).embedding(parsed.model, fingerprint)

    def count_reranking(self, most: int) -> bool:
        """Count a call of a reranker; return whether the work is within so many of them. most: 0 for no limit."""
        return self._servers.count_reranking(most)

    def _backend(self, name: ModelName) -> Backend:
        if name.backend not in self._backends:
            makers = {backend.name: backend for backend in backends()}
            if name.backend not in makers:
                broken = tuple(each.message for each in broken_backends())
                if broken:
                    raise InvalidConfig("model.unknown_or_broken", name=str(name), broken=broken)
                raise InvalidConfig("model.unknown", name=str(name))
            self._backends[name.backend] = makers[name.backend](self)
        return self._backends[name.backend]

    def require_price(self, model: str) -> None:
        """Raise InvalidConfig when a budget in dollars could not count the model's calls."""
        if self.budget.dollars and model not in self.settings.prices:
            raise InvalidConfig("model.no_price", model=model)


class _Servers:
    """The servers of roles, for all parts of the work: calls to one server with the same limits keep one pace."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._endpoints: dict[str, Endpoint] = {}
        self._pacers: dict[tuple[object, ...], Pacer] = {}
        self._rerankings = 0

    def count_reranking(self, most: int) -> bool:
        """Count a call of a reranker; return whether the work is within so many of them. most: 0 for no limit."""
        with self._lock:
            self._rerankings += 1
            return not most or self._rerankings <= most

    def of(self, role: str, settings: Settings, models: Models) -> tuple[Endpoint, Pacer]:
        """Return the server of the role, which has those settings, and its pace. models: of all."""
        with self._lock:
            if role not in self._endpoints:
                forms = models.forms
                if settings.base_url != models.settings.base_url:
                    forms = forms.at(settings.base_url)
                self._endpoints[role] = Endpoint(settings, forms, models.settings.own_role(role), models.speeds)
            pace, endpoint = _pace(settings), self._endpoints[role]
            if pace == _pace(models.settings):
                return endpoint, models.pacer
            pacer = Pacer(settings, n_slots=lambda: endpoint.forms.n_slots)
            return endpoint, self._pacers.setdefault(pace, pacer)


def _pace(settings: Settings) -> tuple[object, ...]:
    """Return what decides a server's pace."""
    limits = settings.concurrency, settings.requests_per_minute, settings.tokens_per_minute, settings.retries
    return settings.base_url, settings.key_variable, *limits


def backends() -> tuple[type[Backend], ...]:
    """Return the back-ends of models/backends; a file that does not load is left out (see broken_backends())."""
    return tuple(module.Backend for module in _found().modules)


def broken_backends() -> tuple[BrokenExtension, ...]:
    """Return the files of models/backends that do not load."""
    return _found().broken


def _found() -> Extensions:
    from leanrag_core.models import backends as folder

    return discover(folder, kind="Backend", required=("name", "title", "language", "embedding"))


def require_models(models: Models, config: IndexConfig) -> None:
    """Raise InvalidConfig when a build with these settings would meet a model that it cannot use."""
    model_of_role = {EXTRACTION: config.model, EMBEDDINGS: config.embedding, AGGREGATION: config.aggregation_model}
    for role, name in model_of_role.items():
        parsed = parse_model_name(name) if name else None
        if parsed is not None and parsed.model and not is_file(name):
            models.in_role(role).require_price(parsed.model)
    if config.aggregation_model == BUILTIN and is_remote(config.model):
        raise InvalidConfig("model.builtin_aggregation")
