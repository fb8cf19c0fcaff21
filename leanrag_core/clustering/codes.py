"""Vectors in 8 bits: their file, their scale, and the nearest of them, by products of whole numbers.

What is compared are whole numbers of 32 bits, which nothing rounds: any processor and any number of threads finds the
same. onnxruntime multiplies 8 bits several times as fast as a BLAS multiplies single floats.
"""

from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from leanrag_core.clustering.blocks import row_blocks
from leanrag_core.errors import InvalidVectors

_LARGEST_CODE = 127
_MIDDLE = 128  # of unsigned codes; two unsigned factors are multiplied exactly on every processor
_MAPPED_BYTES = 1 << 28  # of a file at a time
_ROWS_AT_ONCE = 256  # that are compared, fewer
_SCORES_AT_ONCE = 1 << 19  # where there are many codes: these fit into the cache of a core
_CODES_AT_ONCE = 1 << 13


class RowsOnDisk:
    """(n, d) whole numbers in a file. What has been read of it does not stay in the memory of the process."""

    def __init__(self, path: Path, width: int, kind: type[np.integer[Any]] = np.int8) -> None:
        """Name the file, which need not be there yet. width: d."""
        self.path, self.width, self._kind = path, width, np.dtype(kind)
        self._row_bytes = width * self._kind.itemsize

    def append(self, rows: np.ndarray) -> None:
        """Write more rows behind the last one. rows: (k, d)."""
        with self.path.open("ab") as file:
            rows.astype(self._kind, copy=False).tofile(file)

    def __len__(self) -> int:
        return self.path.stat().st_size // self._row_bytes

    def between(self, start: int, stop: int) -> np.ndarray:
        """Return the rows from start up to stop, (k, d)."""
        values = np.fromfile(self.path, self._kind, (stop - start) * self.width, offset=start * self._row_bytes)
        return values.reshape(-1, self.width)

    def at(self, places: np.ndarray) -> np.ndarray:
        """Return those rows, (k, d). places: (k,) int. A part of the file is mapped at a time: the kernel maps sixteen
        pages for each that is touched, and scattered rows would make the whole file resident."""
        order = np.argsort(places, kind="stable")
        ascending, rows = places[order], np.empty((len(places), self.width), self._kind)
        n, rows_of_part = len(self), max(1, _MAPPED_BYTES // self._row_bytes)
        for start in range(0, n, rows_of_part):
            first, last = np.searchsorted(ascending, [start, start + rows_of_part])
            if first < last:
                shape, offset = (min(rows_of_part, n - start), self.width), start * self._row_bytes
                mapped = np.memmap(self.path, self._kind, "r", offset=offset, shape=shape)
                rows[order[first:last]] = mapped[ascending[first:last] - start]
        return rows


class NearestCodes:
    """Codes that others are compared with."""

    def __init__(self, codes: np.ndarray) -> None:
        """Take the codes. codes: (c, d) int8."""
        self._n = len(codes)
        self._parts = [(part.start, _columns(codes[part])) for part in row_blocks(len(codes), _CODES_AT_ONCE)]

    def search(self, rows: np.ndarray, n: int) -> tuple[np.ndarray, np.ndarray]:
        """Return the n nearest codes of each row, nearest first, of equally near ones the first, (k, n) int64, and
        their scores, (k, n) int32; (k, c) each where there are fewer.

        rows: (k, d) int8. The score of a code y is 2 x y - y y, which falls as its distance from the row x grows.
        """
        n_nearest, unsigned = min(n, self._n), _unsigned(rows)
        by_part = [_search(unsigned, part, n_nearest, start) for start, part in self._parts]
        scores, nearest = by_part[0] if len(by_part) == 1 else _largest(by_part, n_nearest)
        return nearest, scores

    def assign(self, rows: np.ndarray) -> np.ndarray:
        """Return the nearest code of each row, (k,) int64. rows: (k, d) int8."""
        return np.asarray(self.search(rows, 1)[0][:, 0])


def _columns(codes: np.ndarray) -> dict[str, np.ndarray]:
    """Return what the session needs of the codes that others are compared with. codes: (c, d) int8."""
    wide = codes.astype(np.int32)
    squares = np.einsum("ij,ij->i", wide, wide, dtype=np.int32)
    return {"columns": np.ascontiguousarray(_unsigned(codes).T), "squares": squares}


def _search(rows: np.ndarray, part: dict[str, np.ndarray], n: int, start: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the n largest scores of each row in a part of the codes, (k, n), and the numbers of these codes, (k, n).
    rows: (k, d) uint8. start: the number of the part's first code."""
    squares, session = part["squares"], _session()
    shared = {**part, "n": np.array([min(n, len(squares))])}
    nearest = np.empty((len(rows), min(n, len(squares))), np.int64)
    scores = np.empty(nearest.shape, np.int32)
    for block in row_blocks(len(rows), min(_ROWS_AT_ONCE, max(16, _SCORES_AT_ONCE // len(squares)))):
        scores[block], nearest[block] = session.run(None, {"rows": rows[block], **shared})
    return scores, nearest + start


def _largest(by_part: list[tuple[np.ndarray, np.ndarray]], n: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the n largest scores of each row in all parts, of equal ones the first, and their codes; (k, n) each."""
    scores, nearest = (np.concatenate(parts, axis=1) for parts in zip(*by_part, strict=True))
    order = np.argsort(-scores, axis=1, kind="stable")[:, :n]
    return np.take_along_axis(scores, order, axis=1), np.take_along_axis(nearest, order, axis=1)


def _unsigned(codes: np.ndarray) -> np.ndarray:
    """Return the codes moved up by 128, (k, d) uint8. codes: (k, d) int8."""
    return codes.view(np.uint8) ^ np.uint8(_MIDDLE)


@cache
def _session() -> Any:
    """Return onnxruntime's session that gives the largest of 2 x y - y y for each row x, which sorts codes y by their
    distance.
    """
    import onnxruntime
    from onnx import TensorProto, helper

    byte, whole, long = TensorProto.UINT8, TensorProto.INT32, TensorProto.INT64
    input_types = (("rows", byte, 2), ("columns", byte, 2), ("squares", whole, 1), ("n", long, 1))
    output_types = (("largest", whole, 2), ("nearest", long, 2))
    nodes = [
        helper.make_node("MatMulInteger", ["rows", "columns", "middle", "middle"], ["products"]),
        helper.make_node("Add", ["products", "products"], ["doubled"]),
        helper.make_node("Sub", ["doubled", "squares"], ["scores"]),
        helper.make_node("TopK", ["scores", "n"], ["largest", "nearest"]),
    ]
    inputs, outputs = (
        [helper.make_tensor_value_info(name, kind, [None] * n_axes) for name, kind, n_axes in values]
        for values in (input_types, output_types)
    )
    middle = helper.make_tensor("middle", byte, [], [_MIDDLE])
    graph = helper.make_graph(nodes, "nearest", inputs, outputs, [middle])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1  # blocks of rows run side by side
    options.enable_cpu_mem_arena = False  # it would keep memory for every number of codes
    options.log_severity_level = 3
    return onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])


def unit(vectors: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """Return unit rows, (k, d) float64. rows: (k,) where they stand, for the message. Raises InvalidVectors."""
    wide = vectors.astype(np.float64)
    squares = np.einsum("ij,ij->i", wide, wide)
    if not np.isfinite(squares).all():
        raise InvalidVectors("clustering.not_finite", row=int(rows[np.flatnonzero(~np.isfinite(squares))[0]]))
    if not squares.all():
        raise InvalidVectors("clustering.zero_vector", row=int(rows[np.flatnonzero(squares == 0)[0]]))
    return np.asarray(wide / np.sqrt(squares)[:, None])


def scale_of(sample: np.ndarray) -> float:
    """Return the factor that turns unit rows, (k, d), into codes, rounded down so that the last bits of the rows do not
    show.
    """
    return float(np.floor(_LARGEST_CODE / np.abs(sample).max()))


def coded(vectors: np.ndarray, scale: float) -> np.ndarray:
    """Return (n, d) int8 codes of (n, d) unit rows."""
    return np.clip(np.rint(np.round(vectors * scale, 6)), -_LARGEST_CODE, _LARGEST_CODE).astype(np.int8)
