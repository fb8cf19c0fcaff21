"""Which model a name means: builtin, or openai:NAME (endpoints are not part of this version)."""

from leanrag_core.errors import ModelUnavailable
from leanrag_core.models.base import EmbeddingModel, LanguageModel


def embedding_model(name: str) -> EmbeddingModel:
    """The embedding model of that name. Raises ModelUnavailable for one that this version does not have."""
    if name == "builtin":
        from leanrag_core.models.minilm import MiniLM

        return MiniLM()
    raise ModelUnavailable(f"embedding model {name!r} is not available in this version; use builtin")


def language_model(name: str) -> LanguageModel | None:
    """The language model of that name, None for builtin (heuristic extraction, extractive answers).

    Raises ModelUnavailable for one that this version does not have.
    """
    if name == "builtin":
        return None
    raise ModelUnavailable(f"language model {name!r} is not available in this version; use builtin")
