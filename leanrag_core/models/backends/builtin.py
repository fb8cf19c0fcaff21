"""The built-in models: MiniLM for embeddings, heuristics instead of a language model."""

from typing import TYPE_CHECKING

from leanrag_core.messages.message import message
from leanrag_core.models.base import EmbeddingModel, LanguageModel

if TYPE_CHECKING:
    from leanrag_core.models.registry import Models


class Backend:
    """Models that are installed with the program."""

    name = "builtin"
    title = message("backend.builtin")

    def __init__(self, models: "Models") -> None:
        """Do nothing with the models: nothing is sent, nothing costs."""

    def language(self, model: str) -> LanguageModel | None:
        """Return None: extraction is heuristic, summaries and answers are extractive."""
        return None

    def embedding(self, model: str, fingerprint: str) -> EmbeddingModel:
        """Return MiniLM in the form with the fingerprint, as an older index recorded it, else in its usual form.

        Raises ModelUnavailable where it is not installed.
        """
        from leanrag_core.models.minilm import model_of

        return model_of(fingerprint)
