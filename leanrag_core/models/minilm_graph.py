"""The built-in model's graph in whole numbers, made operator by operator from the package's weights."""

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

_STANDARD, _OWN = 18, 1  # versions of the standard operators and of those that onnxruntime has beyond them
_MICROSOFT = "com.microsoft"
_FORMAT = 8  # of the file, which every onnxruntime since 1.14 reads


def tensors(path: Path) -> dict[str, np.ndarray]:
    """Return the constants of the file's graph (each with the shape that it has there) by name, in the file's order.
    Raises ValueError for what is no ONNX model."""
    import onnx
    from google.protobuf.message import DecodeError
    from onnx import numpy_helper

    try:
        graph = onnx.load_model_from_string(path.read_bytes()).graph
    except DecodeError as error:
        raise ValueError(f"{path.name} is no ONNX model, or not all of it ({error})") from error
    return {tensor.name: numpy_helper.to_array(tensor) for tensor in graph.initializer}


class GraphWriter:
    """A graph as it grows. Results are named after their operator and its number, so equal graphs have equal bytes."""

    def __init__(self) -> None:
        self._nodes: list[Any] = []
        self._constants: dict[str, Any] = {}
        self._inputs: list[Any] = []

    def constant(self, name: str, values: np.ndarray) -> str:
        """Add a constant of that name. values: an array of any shape (or a scalar). Raises ValueError for a name
        that is taken."""
        from onnx import numpy_helper

        if name in self._constants:
            raise ValueError(f"the graph already has a constant {name!r}: give this one another name")
        self._constants[name] = numpy_helper.from_array(np.asarray(values, order="C"), name)
        return name

    def input(self, name: str, *axes: str | int, floats: bool = False) -> str:
        """Add an int32 (or float32) input of that name, with axes of these lengths, or of any length under these
        names."""
        from onnx import TensorProto, helper

        element = TensorProto.FLOAT if floats else TensorProto.INT32
        self._inputs.append(helper.make_tensor_value_info(name, element, axes))
        return name

    def add(
        self,
        operator: str,
        *inputs: str,
        results: int = 1,
        own: bool = False,
        **attributes: int | float | tuple[int, ...],
    ) -> list[str]:
        """Append the operator, and return the names of its results. own: an operator that only onnxruntime has."""
        from onnx import helper

        number = len(self._nodes)
        result_names = [f"{operator}_{number}_{place}" for place in range(results)]
        node = helper.make_node(operator, inputs, result_names, domain=_MICROSOFT if own else None)
        node.attribute.extend(helper.make_attribute(name, value) for name, value in sorted(attributes.items()))
        self._nodes.append(node)
        return result_names

    def model(self, result: str, *axes: str | int) -> bytes:
        """Return the file's content; the graph gives the float32 array `result` with these axes."""
        from onnx import TensorProto, helper

        output = helper.make_tensor_value_info(result, TensorProto.FLOAT, axes)
        graph = helper.make_graph(self._nodes, "graph", self._inputs, [output], list(self._constants.values()))
        versions = [helper.make_opsetid("", _STANDARD), helper.make_opsetid(_MICROSOFT, _OWN)]
        model = helper.make_model(graph, opset_imports=versions, ir_version=_FORMAT)
        return bytes(model.SerializeToString(deterministic=True))


# Each goes into the fingerprint: another graph gives other vectors and needs another name. The first one has attention
# and GELU by onnxruntime's own operators; indexes that were made with it are still asked with it.
EARLIER_REVISION, REVISION = "int8 by token, 1", "int8 by token, 2"
WEIGHTS = "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6"  # sha256 of the file that it is made from

_HEADS, _DIMENSION = 12, 384
_EPSILON = 1e-12  # of the model's normalisation
# Channels with far larger values than the others, and how many times: they would take the 8 bits of all the others.
# Each is cut into as many equal parts, whose weights are the same, so that nothing but rounding is changed.
_STANDING_OUT = {63: 3, 99: 3, 127: 3, 157: 3, 223: 4, 267: 2, 303: 2, 338: 2, 363: 2, 383: 2}
_HEAD_WIDTH = _DIMENSION // _HEADS
# 1 / (2 a ** 8) of the polynomial a of x is the share of the normal distribution above x >= 0, so that
# GELU(x) = max(x, 0) - |x| / a(|x|) ** 8. Fitted to the largest error, which is 4.3e-4 (of steps of .02 afterwards).
_GELU = (1.08805393, 0.12268909, 0.02707521, 0.02058959)
_GELU_SQUARINGS = 3
# exp(x) = (1 + t + t^2 / 2 + t^3 / 6) ** 16 with t = x / 16, for x <= 0: the error is below 6e-5. Below t = -1.25 the
# polynomial would turn.
_EXP_TERMS, _EXP_SQUARINGS = 4, 4
_EXP_LEAST = -1.25
# Adding it and taking it away rounds a float32 of less than 32 to a multiple of 2 ** -17; the products of two such
# numbers, summed over a head, are exact in double precision.
_ROUNDING = 1.5 * 2.0**6
_FLOAT, _DOUBLE = 1, 11  # ONNX element types


def int8_graph(path: Path, revision: str = REVISION) -> bytes:
    """Return an ONNX model that gives the (batch, length, 384) float32 token vectors of `ids`.

    ids: (batch, length) int32 word pieces without padding. places: 0 ... length - 1. The same bytes come from the same
    file, whose sha256 is WEIGHTS; another file raises KeyError, StopIteration or ValueError. revision: REVISION or
    EARLIER_REVISION.
    """
    return (Drawing if revision == REVISION else _EarlierDrawing)(tensors(path)).model()


class Drawing:
    """The graph of an encoder as it is drawn: MiniLM's, or that of another network of the same widths.

    layers: how many. standing_out: how many parts each wide channel is cut into.
    """

    layers = 6
    standing_out: Mapping[int, int] = _STANDING_OUT

    def __init__(self, stored: Mapping[str, np.ndarray]) -> None:
        """Begin the graph. stored: the arrays of the weights' file by name, in the file's order; the matrices are
        (rows, columns) int8."""
        self._stored = stored
        # in the file's order: word and position embeddings; then query, key, value, output, up and down of every layer
        self._whole = iter([name.removesuffix("_q") for name, array in stored.items() if array.dtype == np.int8])
        self._graph = GraphWriter()
        self._parts = [channel for channel, times in self.standing_out.items() for _ in range(times - 1)]
        constants = {
            "last axis": np.array([-1], dtype=np.int64),
            "one": np.float32(1),
            "least": np.float32(1e-9),
            "epsilon": np.float32(_EPSILON),
            "step": np.float32(1 / 127),
            "middle": np.uint8(128),
            **self._own_constants(),
            "parts": np.array(self._parts, dtype=np.int64),
            "shares": np.array([1 / self.standing_out.get(c, 1) for c in range(_DIMENSION)], dtype=np.float32),
        }
        for name, value in constants.items():
            self._graph.constant(name, np.asarray(value))

    def model(self) -> bytes:
        """Return the ONNX model: (batch, length, 384) float32 token vectors of what _first_rows() takes."""
        graph = self._graph
        x = self._normalised(self._first_rows(), "inner.embeddings.")
        for layer in range(self.layers):
            prefix = f"inner.encoder.layer.{layer}."
            inside = f"{prefix}attention.self."
            projected = self._product(x, self._take(3), standing_out=True)
            bias = np.concatenate([self._stored[f"{inside}{part}.bias"] for part in ("query", "key", "value")])
            attended = self._attended(projected, graph.constant(f"{inside}bias", bias))
            x = self._joined(self._product(attended, self._take(1)), x, f"{prefix}attention.output.")
            up = self._product(x, self._take(1), standing_out=True)
            bent = self._bent(up, self._constant(f"{prefix}intermediate.dense.bias"))
            x = self._joined(self._product(bent, self._take(1)), x, f"{prefix}output.")
        return graph.model(x, "batch", "length", _DIMENSION)

    def _own_constants(self) -> dict[str, np.ndarray | np.floating]:
        """Return the constants of attention and GELU by name: float32 scalars, and axes as (n,) int64."""
        # The factor of the scores and the 16th of the exponential function go into the latter's coefficients.
        sixteenth = 1 / math.sqrt(_HEAD_WIDTH) / 2**_EXP_SQUARINGS
        powers = {f"exp {n}": np.float32(sixteenth**n / math.factorial(n)) for n in range(_EXP_TERMS)}
        gelu = {f"gelu {n}": np.float32(value) for n, value in enumerate(_GELU)}
        shapes = {
            "heads": np.array([_HEADS] * 3, dtype=np.int64),
            "to heads": np.array([0, 0, 3 * _HEADS, _HEAD_WIDTH], dtype=np.int64),
            "from heads": np.array([0, 0, _DIMENSION], dtype=np.int64),
        }
        limits = {"exp least": np.float32(_EXP_LEAST / sixteenth), "rounding": np.float32(_ROUNDING)}
        return {**powers, **gelu, **limits, **shapes}

    def _attended(self, projected: str, bias: str) -> str:
        """Add attention to the graph: (batch, length, 384) float32, what each token takes from the others, softmax(q
        k / sqrt(32)) v of every head."""
        graph = self._graph
        x = self._one("Sub", self._one("Add", self._one("Add", projected, bias), "rounding"), "rounding")
        heads = self._one("Reshape", self._cast(x, _DOUBLE), "to heads")
        q, k, v = graph.add("Split", heads, "heads", results=3, axis=2)
        q, k, v = self._turned(q, 0, 2, 1, 3), self._turned(k, 0, 2, 3, 1), self._turned(v, 0, 2, 1, 3)
        scores = self._cast(self._one("MatMul", q, k), _FLOAT)
        below = self._one("Sub", scores, self._one("ReduceMax", scores, "last axis"))
        shares = self._polynomial(self._one("Max", below, "exp least"), "exp", _EXP_TERMS, _EXP_SQUARINGS)
        shares = self._cast(shares, _DOUBLE)
        attended = self._one("Div", self._one("MatMul", shares, v), self._one("ReduceSum", shares, "last axis"))
        return self._one("Reshape", self._cast(self._turned(attended, 0, 2, 1, 3), _FLOAT), "from heads")

    def _bent(self, up: str, bias: str) -> str:
        """Add GELU of each number to the graph, its bias added first."""
        x = self._one("Add", up, bias)
        magnitude = self._one("Abs", x)
        divisor = self._polynomial(magnitude, "gelu", len(_GELU), _GELU_SQUARINGS)
        return self._one("Sub", self._one("Relu", x), self._one("Div", magnitude, divisor))

    def _polynomial(self, x: str, name: str, n_terms: int, squarings: int) -> str:
        """Add to the graph the polynomial of x whose coefficients are the constants `name 0`, `name 1`, ..., squared
        so many times."""
        result = f"{name} {n_terms - 1}"
        for term in reversed(range(n_terms - 1)):
            result = self._one("Add", self._one("Mul", result, x), f"{name} {term}")
        for _ in range(squarings):
            result = self._one("Mul", result, result)
        return result

    def _cast(self, x: str, element: int) -> str:
        return self._one("Cast", x, to=element)

    def _turned(self, x: str, *axes: int) -> str:
        return self._one("Transpose", x, perm=axes)

    def _take(self, n: int) -> list[str]:
        return [next(self._whole) for _ in range(n)]

    def _constant(self, name: str) -> str:
        return self._graph.constant(name, self._stored[name])

    def _one(self, operator: str, *inputs: str, **attributes: Any) -> str:
        return self._graph.add(operator, *inputs, **attributes)[0]

    def _first_rows(self) -> str:
        """Add to the graph what goes into the first normalisation: the vector of each word piece and that of its
        place."""
        ids, places = self._graph.input("ids", "batch", "length"), self._graph.input("places", "length")
        word, position = self._take(2)
        first_type = self._stored["inner.embeddings.token_type_embeddings.weight"][0]
        where = self._stored[f"{position}_q"].astype(np.float32) * self._stored[f"{position}_scale"] + first_type
        rows = self._cast(self._one("Gather", self._constant(f"{word}_q"), ids), _FLOAT)
        rows = self._one("Mul", rows, self._one("Gather", self._constant(f"{word}_scale"), ids))
        return self._one("Add", rows, self._one("Gather", self._graph.constant(position, where), places))

    def _joined(self, x: str, before: str, prefix: str) -> str:
        biased = self._one("Add", x, self._constant(f"{prefix}dense.bias"))
        return self._normalised(self._one("Add", biased, before), prefix)

    def _normalised(self, x: str, prefix: str) -> str:
        """Add to the graph x with mean 0 and variance 1 in every token, stretched and moved as learned."""
        centred = self._one("Sub", x, self._one("ReduceMean", x, "last axis"))
        variance = self._one("ReduceMean", self._one("Mul", centred, centred), "last axis")
        inverse = self._one("Div", "one", self._one("Sqrt", self._one("Add", variance, "epsilon")))
        stretched = self._one("Mul", self._one("Mul", centred, inverse), self._constant(f"{prefix}LayerNorm.weight"))
        return self._one("Add", stretched, self._constant(f"{prefix}LayerNorm.bias"))

    def _product(self, x: str, matrices: list[str], *, standing_out: bool = False) -> str:
        """Add to the graph x times the matrices, which are side by side: 8 bits times 8 bits, then the scales of
        token and column."""
        name = matrices[0]
        weights = np.concatenate([self._stored[f"{matrix}_q"] for matrix in matrices], axis=1)
        scales = np.concatenate([self._stored[f"{matrix}_scale"][0] for matrix in matrices])
        if standing_out:
            x = self._one("Mul", x, "shares")
            weights = np.concatenate([weights, weights[self._parts]])
        lowest = self._one("Neg", self._one("ReduceMin", x, "last axis"))
        largest = self._one("Max", self._one("ReduceMax", x, "last axis"), lowest, "least")
        rounded = self._one("QuantizeLinear", self._one("Div", x, largest), "step", "middle")
        if standing_out:
            rounded = self._one("Concat", rounded, self._one("Gather", rounded, "parts", axis=2), axis=2)
        codes, column = self._graph.constant(name, weights), self._graph.constant(f"{name}_scale", scales)
        zero = self._graph.constant(f"{name}_zero", np.asarray(np.int8(0)))
        product = self._one("MatMulIntegerToFloat", rounded, codes, "step", column, "middle", zero, own=True)
        return self._one("Mul", product, largest)


class _EarlierDrawing(Drawing):
    """The graph of EARLIER_REVISION: attention and GELU differ in their last digits from processor to processor."""

    def _own_constants(self) -> dict[str, np.ndarray | np.floating]:
        """Return the constants of attention by name: the widths of query, key and value, (3,) int64."""
        return {"thirds": np.array([_DIMENSION] * 3, dtype=np.int64)}

    def _attended(self, projected: str, bias: str) -> str:
        parts = self._graph.add("Split", projected, "thirds", results=3, axis=2)
        return self._one("MultiHeadAttention", *parts, bias, own=True, num_heads=_HEADS)

    def _bent(self, up: str, bias: str) -> str:
        return self._one("BiasGelu", up, bias, own=True)
