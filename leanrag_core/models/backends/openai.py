"""Models at an OpenAI-compatible endpoint: the one that the settings name."""

from typing import TYPE_CHECKING

from leanrag_core.messages.message import message
from leanrag_core.models.base import EmbeddingModel, LanguageModel
from leanrag_core.types.config import endpoint_model

if TYPE_CHECKING:
    from leanrag_core.models.registry import Models


class Backend:
    """Models of one server, which share its pace, the meter and the stored answers."""

    name = "openai"
    title = message("backend.openai")

    def __init__(self, models: "Models") -> None:
        self._models = models

    def language(self, model: str) -> LanguageModel:
        """Return a model that answers messages. Raises InvalidConfig where a budget in dollars could not count its
        calls."""
        from leanrag_core.models.remote import RemoteLanguageModel

        work = self._models
        work.require_price(model)
        return RemoteLanguageModel(model, work.endpoint, work.pacer, work.meter, work.memory, index=work.index)

    def embedding(self, model: str, fingerprint: str) -> EmbeddingModel:
        """Return a model that embeds texts, as the fingerprint records it, else as the settings say. Raises
        InvalidConfig as language() does."""
        from leanrag_core.models.remote_embedding import RemoteEmbeddingModel, form_of, recorded_form

        work = self._models
        work.require_price(model)
        form = recorded_form(endpoint_model(model), fingerprint) if fingerprint else form_of(work.role)
        return RemoteEmbeddingModel(
            model, work.endpoint, work.pacer, work.meter, work.memory, index=work.index, form=form
        )
