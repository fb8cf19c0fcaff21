"""Which model a name means: builtin, or openai:NAME at the endpoint of the settings."""

from dataclasses import dataclass, field
from functools import cached_property

from leanrag_core.errors import InvalidConfig
from leanrag_core.models.base import EmbeddingModel, LanguageModel
from leanrag_core.models.endpoint import Endpoint
from leanrag_core.models.metering import Budget, Meter
from leanrag_core.models.pacing import Pacer
from leanrag_core.models.remote import CallMemory, RemoteLanguageModel
from leanrag_core.models.remote_embedding import RemoteEmbeddingModel
from leanrag_core.models.request_form import LearntForms
from leanrag_core.types.config import IndexConfig
from leanrag_core.types.settings import Settings

BUILTIN = "builtin"
_PREFIX = "openai:"


def remote_name(name: str) -> str:
    """The server's name of the model, "" for builtin. Raises InvalidConfig for anything else."""
    if name == BUILTIN:
        return ""
    if name.startswith(_PREFIX) and name.removeprefix(_PREFIX).strip():
        return name.removeprefix(_PREFIX).strip()
    raise InvalidConfig("model.unknown", name=name)


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

    @cached_property
    def meter(self) -> Meter:
        """What the work has cost so far."""
        return Meter(self.budget)

    @cached_property
    def endpoint(self) -> Endpoint:
        """The server."""
        return Endpoint(self.settings, self.forms)

    @cached_property
    def pacer(self) -> Pacer:
        """The pace of all calls."""
        return Pacer(self.settings)

    def language(self, name: str) -> LanguageModel | None:
        """The language model of that name, None for builtin (heuristic extraction, extractive answers).

        Raises InvalidConfig for another name, and for a model without a price when the budget is in dollars.
        """
        remote = remote_name(name)
        if not remote:
            return None
        self.require_price(remote)
        return RemoteLanguageModel(remote, self.endpoint, self.pacer, self.meter, self.memory, index=self.index)

    def embedding(self, name: str, fingerprint: str = "") -> EmbeddingModel:
        """The embedding model of that name; of the built-in one's two forms that with the fingerprint which an index
        recorded, if either has it. Raises ModelUnavailable where the built-in one is not installed."""
        remote = remote_name(name)
        if not remote:
            from leanrag_core.models.minilm import MiniLM

            usual = MiniLM()
            if fingerprint in ("", usual.fingerprint):
                return usual
            floats = MiniLM(floats=True)  # as indexes were made before the built-in model computed in whole numbers
            return floats if floats.fingerprint == fingerprint else usual
        self.require_price(remote)
        return RemoteEmbeddingModel(remote, self.endpoint, self.pacer, self.meter, self.memory, index=self.index)

    def require_price(self, model: str) -> None:
        """Nothing, or InvalidConfig when a budget in dollars could not count the model's calls."""
        if self.budget.dollars and model not in self.settings.prices:
            raise InvalidConfig("model.no_price", model=model)


def require_models(models: Models, config: IndexConfig) -> None:
    """Nothing, or InvalidConfig when a build with these settings would meet a model that it cannot use."""
    for name in (config.model, config.embedding, config.aggregation_model):
        remote = remote_name(name) if name else ""
        if remote:
            models.require_price(remote)
    if config.aggregation_model == BUILTIN and config.model != BUILTIN:
        raise InvalidConfig("model.builtin_aggregation")
