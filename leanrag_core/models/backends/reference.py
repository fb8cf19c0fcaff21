"""The reference graph of a corpus in place of an extractor: nothing is read by a model, answers are extractive."""

from typing import TYPE_CHECKING

from leanrag_core.errors import ModelUnavailable
from leanrag_core.messages.message import message
from leanrag_core.models.base import EmbeddingModel, LanguageModel

if TYPE_CHECKING:
    from leanrag_core.models.registry import Models


class Backend:
    """Graphs that are written by hand and come with their corpus."""

    name = "reference"
    title = message("backend.reference")

    def __init__(self, models: "Models") -> None:
        """Do nothing with the models: nothing is sent, nothing costs."""

    def language(self, model: str) -> LanguageModel | None:
        """Return None: the graph is read from the corpus, answers are extractive."""
        return None

    def embedding(self, model: str, fingerprint: str) -> EmbeddingModel:
        """Raise ModelUnavailable: a graph does not embed."""
        raise ModelUnavailable("model.reference_embeds_nothing")
