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
        """models is not used: nothing is sent, nothing costs."""

    def language(self, model: str) -> LanguageModel | None:
        """None: extraction is heuristic, summaries and answers are extractive."""
        return None

    def embedding(self, model: str, fingerprint: str) -> EmbeddingModel:
        """Of the two forms of MiniLM that with the fingerprint, if either has it. Raises ModelUnavailable."""
        from leanrag_core.models.minilm import MiniLM

        usual = MiniLM()
        if fingerprint in ("", usual.fingerprint):
            return usual
        floats = MiniLM(floats=True)  # as indexes were made before the built-in model computed in whole numbers
        return floats if floats.fingerprint == fingerprint else usual
