"""Models by name: "builtin", "reference", or "BACKEND:NAME" with a back-end of models/backends."""

from dataclasses import dataclass, field, replace
from functools import cached_property

from leanrag_core.errors import InvalidConfig
from leanrag_core.extensions import BrokenExtension, Extensions, discover
from leanrag_core.models.base import Backend, EmbeddingModel, LanguageModel
from leanrag_core.models.endpoint import Endpoint
from leanrag_core.models.pacing import Meter, Pacer
from leanrag_core.models.remote import CallMemory
from leanrag_core.models.request_form import LearntForms
from leanrag_core.types.calls import Budget
from leanrag_core.types.config import BUILTIN, IndexConfig, ModelName, is_remote, parse_model_name
from leanrag_core.types.settings import Settings


@dataclass
class Models:
    """The models of one piece of work: they share the endpoint, its pace, the meter and the memory of calls.

    forms: what has been learnt of the server's models, kept longer than this work.
    """

    settings: Settings
    memory: CallMemory
    budget: Budget = field(default_factory=Budget)
    index: str = ""
    forms: LearntForms = field(default_factory=LearntForms)
    _backends: dict[str, Backend] = field(default_factory=dict, init=False, repr=False)

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
        part.endpoint, part.pacer = self.endpoint, self.pacer
        return part

    @cached_property
    def endpoint(self) -> Endpoint:
        """The server."""
        return Endpoint(self.settings, self.forms)

    @cached_property
    def pacer(self) -> Pacer:
        """The pace of all calls."""
        return Pacer(self.settings)

    def language(self, name: str) -> LanguageModel | None:
        """Return the language model of that name, None for builtin (heuristic extraction, extractive answers).

        Raises InvalidConfig for another name, and for a model without a price when the budget is in dollars.
        """
        parsed = parse_model_name(name)
        return self._backend(parsed).language(parsed.model)

    def embedding(self, name: str, fingerprint: str = "") -> EmbeddingModel:
        """Return the embedding model of that name. fingerprint: as an index recorded it, where a back-end has
        several forms.

        Raises InvalidConfig as language() does, ModelUnavailable where the built-in one is not installed.
        """
        parsed = parse_model_name(name)
        return self._backend(parsed).embedding(parsed.model, fingerprint)

    def _backend(self, name: ModelName) -> Backend:
        if name.backend not in self._backends:
            makers = {made.name: made for made in backends()}
            if name.backend not in makers:
                raise InvalidConfig("model.unknown", name=str(name))
            self._backends[name.backend] = makers[name.backend](self)
        return self._backends[name.backend]

    def require_price(self, model: str) -> None:
        """Raise InvalidConfig when a budget in dollars could not count the model's calls."""
        if self.budget.dollars and model not in self.settings.prices:
            raise InvalidConfig("model.no_price", model=model)


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
    for name in filter(None, (config.model, config.embedding, config.aggregation_model)):
        parsed = parse_model_name(name)
        if parsed.model:
            models.require_price(parsed.model)
    if config.aggregation_model == BUILTIN and is_remote(config.model):
        raise InvalidConfig("model.builtin_aggregation")
