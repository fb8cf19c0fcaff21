"""Many vectors in whole numbers: a quarter of the bytes, and how far each cosine may be off at most.

Comparing a question with 200,000 vectors of 384 numbers takes as long as reading 300 MB. In bytes they are 77 MB, and
the few rows whose exact cosine could still be among the highest are then read exactly (retrieval.vector_search).
"""

import threading
import weakref
from dataclasses import dataclass
from typing import Any

import numpy as np

COARSE_ABOVE = 20_000  # vectors; fewer are compared exactly in some three milliseconds
_MOST_KEPT = 4  # copies; one of 200,000 vectors takes 100 MB
_LARGEST = 127  # code of a row's largest number
# Codes of a question: with the offset they stay below 128, so that a pair of products fits into 16 bits, to which
# processors without VNNI cut it.
_DIGIT, _OFFSET = 63, 64
_ROWS_A_SESSION = 1 << 18
_ROWS_CODED = 8192  # at a time
_FLOATS_OFF = 5e-5  # what sums in float32 may be off, of both the coarse and the exact cosines


@dataclass(frozen=True, eq=False)
class CoarseCosines:
    """values: (q, n) float32, of each row to each question. margins: (n,) float32, by which an exact one may differ."""

    values: np.ndarray
    margins: np.ndarray


class CoarseVectors:
    """A copy of unit rows in whole numbers, each row with a step of its own."""

    def __init__(self, vectors: np.ndarray) -> None:
        """Encode the vectors, (n, d) float32 unit rows."""
        n, dimension = vectors.shape
        self._steps, self._off = np.empty(n, dtype=np.float32), np.empty(n, dtype=np.float32)
        self._sessions: list[Any] = []
        for first in range(0, n, _ROWS_A_SESSION):
            last = min(n, first + _ROWS_A_SESSION)
            codes = np.empty((dimension, last - first), dtype=np.int8)
            for start in range(first, last, _ROWS_CODED):
                rows = slice(start, min(last, start + _ROWS_CODED))
                block = np.asarray(vectors[rows])
                steps = np.maximum(np.abs(block).max(axis=1), 1e-12) / _LARGEST
                whole_numbers = np.rint(block / steps[:, None])
                self._steps[rows] = steps
                block = block - whole_numbers * steps[:, None]
                self._off[rows] = np.sqrt(np.einsum("ij,ij->i", block, block))
                codes[:, rows.start - first : rows.stop - first] = whole_numbers.T
            self._sessions.append(_session(codes))

    def cosines(self, queries: np.ndarray) -> CoarseCosines:
        """Return the cosines of all rows to the queries, (q, d) float32 unit rows."""
        exact = queries.astype(np.float64)
        step = np.maximum(np.abs(exact).max(axis=1, keepdims=True), 1e-12) / _DIGIT
        high = np.rint(exact / step)
        fine = step / (2 * _DIGIT)
        low = np.rint((exact - high * step) / fine)
        coded = np.stack([high, low], axis=1).reshape(-1, queries.shape[1]) + _OFFSET
        digits = {"digits": coded.astype(np.uint8)}
        products = np.concatenate([session.run(None, digits)[0] for session in self._sessions], axis=1)
        values = products[0::2] * step.astype(np.float32)
        values += products[1::2] * fine.astype(np.float32)
        values *= self._steps
        left = exact - high * step - low * fine
        off = float(np.sqrt((left**2).sum(axis=1)).max())
        margins = self._off * np.float32(1 + off + 1e-4)
        margins += np.float32(off + _FLOATS_OFF)
        return CoarseCosines(values, margins)


def _session(codes: np.ndarray) -> Any:
    """Return the session that multiplies the digits of questions, (q, d) uint8, by the codes, into (q, n) whole numbers
    in float32. codes: (d, n) int8."""
    import onnxruntime
    from onnx import TensorProto, helper, numpy_helper

    nodes = [
        helper.make_node("MatMulInteger", ["digits", "codes", "offset"], ["whole"]),
        helper.make_node("Cast", ["whole"], ["products"], to=TensorProto.FLOAT),
    ]
    graph = helper.make_graph(
        nodes,
        "products",
        [helper.make_tensor_value_info("digits", TensorProto.UINT8, ["queries", codes.shape[0]])],
        [helper.make_tensor_value_info("products", TensorProto.FLOAT, ["queries", codes.shape[1]])],
        [
            numpy_helper.from_array(codes, "codes"),
            numpy_helper.from_array(np.asarray(_OFFSET, dtype=np.uint8), "offset"),
        ],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=8)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.log_severity_level = 3
    return onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])


class _Kept:
    """The copy of one array. making: held while it is made, so that it is made once."""

    def __init__(self, vectors: np.ndarray) -> None:
        """Take the array, (n, d), without keeping it in memory."""
        self.array = weakref.ref(vectors)
        self.making = threading.Lock()
        self.copy: CoarseVectors | None = None


class CoarseStore:
    """The coarse copies of one program, made when they are first asked for. Several threads may use one at a time."""

    def __init__(self) -> None:
        self._lock = threading.Lock()  # guards the field below
        self._kept: dict[int, _Kept] = {}  # by id() of the array, the last used at the end

    def of(self, vectors: np.ndarray) -> CoarseVectors | None:
        """Return the copy of that array, (n, d); None up to COARSE_ABOVE rows, which are as fast without."""
        if len(vectors) <= COARSE_ABOVE:
            return None
        with self._lock:
            kept = self._kept.pop(id(vectors), None)
            if kept is None or kept.array() is not vectors:  # an id may come again when its array is gone
                kept = _Kept(vectors)
            self._kept[id(vectors)] = kept
            for key in [key for key, each in self._kept.items() if each.array() is None]:
                del self._kept[key]
            while len(self._kept) > _MOST_KEPT:
                del self._kept[next(iter(self._kept))]
        with kept.making:
            if kept.copy is None:
                kept.copy = CoarseVectors(vectors)
            return kept.copy
