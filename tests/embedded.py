"""The built-in model embeds each text once: its vector depends on nothing but the text."""

from collections.abc import Callable, MutableMapping
from functools import wraps

import numpy as np

from leanrag_core.models.minilm import MiniLM

Embed = Callable[[MiniLM, list[str]], np.ndarray]


def once(embed: Embed, vector_of: MutableMapping[tuple[str, str], np.ndarray]) -> Embed:
    """Return the model's method with the vectors that are there, by fingerprint and text; new ones are put there."""

    @wraps(embed)
    def embed_new(model: MiniLM, texts: list[str]) -> np.ndarray:
        keys = [(model.fingerprint, text) for text in texts]
        new = [key for key in dict.fromkeys(keys) if key not in vector_of]
        vector_of.update(zip(new, embed(model, [text for _, text in new]), strict=True))
        return np.array([vector_of[key] for key in keys], dtype=np.float32).reshape(-1, model.dimension)

    return embed_new
