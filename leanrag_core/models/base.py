"""The two seams to models: one for language, one for embeddings."""

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from leanrag_core.types.usage import Usage


@dataclass(frozen=True)
class Completion:
    """A language model's reply. finish_reason: stop, length, or what the server said."""

    text: str
    finish_reason: str
    usage: Usage


class LanguageModel(Protocol):
    """Writes text from messages."""

    name: str

    @property
    def fingerprint(self) -> str:
        """Name and version, as manifests record them."""

    def complete(
        self, messages: list[dict[str, str]], *, schema: dict[str, Any] | None = None, max_tokens: int | None = None
    ) -> Completion:
        """Reply to chat messages ({"role", "content"}); schema asks for JSON of that JSON schema."""


class EmbeddingModel(Protocol):
    """Phi of eq. 3. name and fingerprint go into the manifest; vectors of two fingerprints never mix."""

    name: str
    dimension: int

    @property
    def fingerprint(self) -> str:
        """Name and hash of the weights, as manifests record them."""

    def embed(self, texts: list[str]) -> np.ndarray:
        """(len(texts), dimension) float32, unit rows; the same text gives the same row alone or in any batch."""
