"""The graph of multilingual-e5-small in whole numbers: MiniLM's, with twice the layers and its own weights."""

from collections.abc import Iterator

import numpy as np

from leanrag_core.models.e5_weights import PackedFile
from leanrag_core.models.minilm_graph import Drawing

REVISION = "int8 by token, e5 1"  # goes into the fingerprint: another graph gives other vectors
_WIDTH, _INNER = 384, 1536
# Found as those of MiniLM: over passages in 20 languages, channels far above the others of their token.
_STANDING_OUT = {15: 4, 35: 3, 87: 2, 146: 2, 223: 2, 297: 2, 321: 2, 351: 4, 383: 2}
_MATRICES = {  # of a layer, in the order in which they are drawn: name in the file, in the graph, columns there
    "q": ("attention.self.query", _WIDTH),
    "k": ("attention.self.key", _WIDTH),
    "v": ("attention.self.value", _WIDTH),
    "ao": ("attention.output.dense", _WIDTH),
    "fi": ("intermediate.dense", _WIDTH),
    "fo": ("output.dense", _INNER),
}
_NORMS = {"aln": "attention.output.LayerNorm", "oln": "output.LayerNorm"}


class _E5Drawing(Drawing):
    layers = 12
    standing_out = _STANDING_OUT

    def _first_rows(self) -> str:
        """Add to the graph the sum of `words`, the vectors of the word pieces, which come from outside, and of
        `places`."""
        return self._one(
            "Add",
            self._graph.input("words", "batch", "length", _WIDTH, floats=True),
            self._graph.input("places", "length", _WIDTH, floats=True),
        )


def e5_graph(weights: PackedFile) -> bytes:
    """Return an ONNX model that gives the (batch, length, 384) float32 token vectors of `words`, (batch, length, 384),
    and `places`, (length, 384): both float32, without padding. The same bytes come from the same file.

    Raises KeyError or ValueError for a file of another network.
    """
    return _E5Drawing(dict(_stored(weights))).model()


def _stored(weights: PackedFile) -> Iterator[tuple[str, np.ndarray]]:
    """Yield the arrays under the names and in the order in which they are drawn; matrices (rows, columns) int8."""
    for part, name in {"w": "weight", "b": "bias"}.items():
        yield f"inner.embeddings.LayerNorm.{name}", weights.array(f"emb.ln.{part}", _WIDTH)[0]
    for layer in range(_E5Drawing.layers):
        prefix = f"inner.encoder.layer.{layer}."
        for short, (name, columns) in _MATRICES.items():
            matrix = weights.array(f"l{layer}.{short}.w", columns).T
            scales = np.maximum(np.abs(matrix).max(axis=0, keepdims=True), np.float32(1e-9)) / np.float32(127)
            yield f"{prefix}{name}_q", np.rint(matrix / scales).astype(np.int8)
            yield f"{prefix}{name}_scale", scales
            yield f"{prefix}{name}.bias", weights.array(f"l{layer}.{short}.b", matrix.shape[1])[0]
        for short, name in _NORMS.items():
            for part, role in {"w": "weight", "b": "bias"}.items():
                yield f"{prefix}{name}.{role}", weights.array(f"l{layer}.{short}.{part}", _WIDTH)[0]
