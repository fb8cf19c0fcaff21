"""A model with a memory embeds each text once, and gives what the model gives."""

import numpy as np

from leanrag_core.models.embed_task import KeptVectors


class Counting:
    """Embeds a text as its length and its first letter, and counts the texts."""

    name, dimension, fingerprint = "counting", 2, "counting:1"

    def __init__(self) -> None:
        self.asked: list[str] = []

    def embed(self, texts: list[str]) -> np.ndarray:
        self.asked += texts
        return np.array([[len(text), ord(text[0])] for text in texts], dtype=np.float32).reshape(-1, 2)


def test_each_text_is_embedded_once_and_rows_keep_their_order() -> None:
    model = Counting()
    kept = KeptVectors(model)
    assert kept.embed(["bee", "ant", "bee"]).tolist() == [[3, 98], [3, 97], [3, 98]]
    assert kept.embed(["wasp", "ant"]).tolist() == [[4, 119], [3, 97]]
    assert model.asked == ["bee", "ant", "wasp"]
    assert kept.embed([]).shape == (0, 2)
    assert (kept.name, kept.dimension, kept.fingerprint) == ("counting", 2, "counting:1")


def test_a_full_memory_begins_again() -> None:
    model = Counting()
    kept = KeptVectors(model, max_texts=2)
    for texts in (["a", "b"], ["c"], ["a"], ["c"]):
        assert kept.embed(texts).tolist() == [[1, ord(text)] for text in texts]
    assert model.asked == ["a", "b", "c", "a"]
