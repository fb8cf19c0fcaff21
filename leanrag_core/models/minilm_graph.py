"""The built-in model's graph in whole numbers, made from the package's weights when they are loaded.

The package stores weights as int8 but computes with floats. Here the products of the six layers are computed as the
weights are stored: what a token brings is divided by its largest magnitude and rounded to 8 bits. That scale is the
token's own, so that a text's vector does not depend on its batch, as it would with one scale for all (the operator
DynamicQuantizeLinear); and sums of whole numbers are the same in every order. Attention, GELU and normalisation stay in
floats. Normalisation is spelled out in elementary operators: onnxruntime's own one took three times as long.
"""

from pathlib import Path

import numpy as np

from leanrag_core.models.onnx_file import GraphWriter, tensors

REVISION = "int8 by token, 1"  # goes into the fingerprint: another graph gives other vectors and needs another name
WEIGHTS = "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6"  # sha256 of the file that it is made from

_LAYERS, _HEADS, _DIMENSION = 6, 12, 384
_EPSILON = 1e-12  # of the model's normalisation
# Channels with far larger values than the others, and how many times: they would take the 8 bits of all the others.
# Each is cut into as many equal parts, whose weights are the same, so that nothing but rounding is changed.
_STANDING_OUT = {63: 3, 99: 3, 127: 3, 157: 3, 223: 4, 267: 2, 303: 2, 338: 2, 363: 2, 383: 2}
_PARTS = [channel for channel, times in _STANDING_OUT.items() for _ in range(times - 1)]


def int8_graph(path: Path) -> bytes:
    """An ONNX model that gives the (batch, length, 384) float32 token vectors of `ids`, (batch, length) int32 word
    pieces without padding; `places` are 0 ... length - 1. The same bytes from the same file, whose sha256 is WEIGHTS;
    another file raises KeyError, StopIteration or ValueError.
    """
    return _Drawing(tensors(path)).model()


class _Drawing:
    def __init__(self, stored: dict[str, np.ndarray]) -> None:
        self._stored = stored
        # in the file's order: word and position embeddings; then query, key, value, output, up and down of every layer
        self._whole = iter([name.removesuffix("_q") for name, array in stored.items() if array.dtype == np.int8])
        self._graph = GraphWriter()
        constants = {
            "last axis": np.array([-1], dtype=np.int64),
            "one": np.float32(1),
            "least": np.float32(1e-9),
            "epsilon": np.float32(_EPSILON),
            "step": np.float32(1 / 127),
            "middle": np.uint8(128),
            "thirds": np.array([_DIMENSION] * 3, dtype=np.int64),
            "parts": np.array(_PARTS, dtype=np.int64),
            "shares": np.array([1 / _STANDING_OUT.get(c, 1) for c in range(_DIMENSION)], dtype=np.float32),
        }
        for name, value in constants.items():
            self._graph.constant(name, np.asarray(value))

    def model(self) -> bytes:
        graph = self._graph
        x = self._embedded(graph.input("ids", "batch", "length"), graph.input("places", "length"))
        for layer in range(_LAYERS):
            prefix = f"inner.encoder.layer.{layer}."
            inside = f"{prefix}attention.self."
            projected = self._product(x, self._take(3), standing_out=True)
            bias = np.concatenate([self._stored[f"{inside}{part}.bias"] for part in ("query", "key", "value")])
            attended = graph.add(
                "MultiHeadAttention",
                *graph.add("Split", projected, "thirds", results=3, axis=2),
                graph.constant(f"{inside}bias", bias),
                own=True,
                num_heads=_HEADS,
            )[0]
            x = self._joined(self._product(attended, self._take(1)), x, f"{prefix}attention.output.")
            up = self._product(x, self._take(1), standing_out=True)
            bent = graph.add("BiasGelu", up, self._constant(f"{prefix}intermediate.dense.bias"), own=True)[0]
            x = self._joined(self._product(bent, self._take(1)), x, f"{prefix}output.")
        return graph.model(x, "batch", "length", _DIMENSION)

    def _take(self, n: int) -> list[str]:
        return [next(self._whole) for _ in range(n)]

    def _constant(self, name: str) -> str:
        return self._graph.constant(name, self._stored[name])

    def _one(self, operator: str, *inputs: str, axis: int | None = None) -> str:
        if axis is None:
            return self._graph.add(operator, *inputs)[0]
        return self._graph.add(operator, *inputs, axis=axis)[0]

    def _embedded(self, ids: str, places: str) -> str:
        word, position = self._take(2)
        first_type = self._stored["inner.embeddings.token_type_embeddings.weight"][0]
        where = self._stored[f"{position}_q"].astype(np.float32) * self._stored[f"{position}_scale"] + first_type
        rows = self._graph.add("Cast", self._one("Gather", self._constant(f"{word}_q"), ids), to=1)[0]
        rows = self._one("Mul", rows, self._one("Gather", self._constant(f"{word}_scale"), ids))
        x = self._one("Add", rows, self._one("Gather", self._graph.constant(position, where), places))
        return self._normalised(x, "inner.embeddings.")

    def _joined(self, x: str, before: str, prefix: str) -> str:
        biased = self._one("Add", x, self._constant(f"{prefix}dense.bias"))
        return self._normalised(self._one("Add", biased, before), prefix)

    def _normalised(self, x: str, prefix: str) -> str:
        """x with mean 0 and variance 1 in every token, stretched and moved as learned."""
        centred = self._one("Sub", x, self._one("ReduceMean", x, "last axis"))
        variance = self._one("ReduceMean", self._one("Mul", centred, centred), "last axis")
        inverse = self._one("Div", "one", self._one("Sqrt", self._one("Add", variance, "epsilon")))
        stretched = self._one("Mul", self._one("Mul", centred, inverse), self._constant(f"{prefix}LayerNorm.weight"))
        return self._one("Add", stretched, self._constant(f"{prefix}LayerNorm.bias"))

    def _product(self, x: str, matrices: list[str], *, standing_out: bool = False) -> str:
        """x times the matrices, which are side by side: 8 bits times 8 bits, then the scales of token and column."""
        name = matrices[0]
        weights = np.concatenate([self._stored[f"{matrix}_q"] for matrix in matrices], axis=1)
        scales = np.concatenate([self._stored[f"{matrix}_scale"][0] for matrix in matrices])
        if standing_out:
            x = self._one("Mul", x, "shares")
            weights = np.concatenate([weights, weights[_PARTS]])
        lowest = self._one("Neg", self._one("ReduceMin", x, "last axis"))
        largest = self._one("Max", self._one("ReduceMax", x, "last axis"), lowest, "least")
        rounded = self._one("QuantizeLinear", self._one("Div", x, largest), "step", "middle")
        if standing_out:
            rounded = self._one("Concat", rounded, self._one("Gather", rounded, "parts", axis=2), axis=2)
        whole, column = self._graph.constant(name, weights), self._graph.constant(f"{name}_scale", scales)
        factors = (
            rounded,
            whole,
            "step",
            column,
            "middle",
            self._graph.constant(f"{name}_zero", np.asarray(np.int8(0))),
        )
        return self._one("Mul", self._graph.add("MatMulIntegerToFloat", *factors, own=True)[0], largest)
