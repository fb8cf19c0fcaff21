"""The built-in model's weights in memory: batches of word pieces become vectors.

A session computes a batch in one thread, and several threads may give it batches at once. That is quicker than sharing
each batch among threads, and the threads cannot change what comes out.
"""

from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from leanrag_core.models.minilm_graph import REVISION, int8_graph
from leanrag_core.models.onnx_file import GraphWriter

TOKENS_A_BATCH = 512  # from 128 to 1,024 all are equally quick


class Session(Protocol):
    """What turns word pieces into vectors."""

    def vectors(self, batch: Sequence[Sequence[int]]) -> np.ndarray:
        """Return (len(batch), 384) float32 unit rows: the mean of the token vectors of each window; all are equally
        long."""


class Int8Session:
    """The graph of minilm_graph.py."""

    def __init__(self, weights: Path, revision: str = REVISION, *, threads: int = 1, arena: bool = False) -> None:
        """Make the graph of that revision. threads: of one batch.

        Raises KeyError or ValueError for weights that the graph cannot be made of.
        """
        self._session = _opened(int8_graph(weights, revision), threads, arena)

    def vectors(self, batch: Sequence[Sequence[int]]) -> np.ndarray:
        """Return (len(batch), 384) float32 unit rows, as Session."""
        ids = np.array(batch, dtype=np.int32)
        return _means(self._session.run(None, {"ids": ids, "places": np.arange(ids.shape[1], dtype=np.int32)})[0])


class FloatSession:
    """The graph of the file as it is, for weights that come in another form and for indexes that were made with it."""

    def __init__(self, weights: Path, *, threads: int = 1, arena: bool = False) -> None:
        """Open the file's graph. threads: of one batch."""
        self._session = _opened(str(weights), threads, arena)

    def vectors(self, batch: Sequence[Sequence[int]]) -> np.ndarray:
        """Return (len(batch), 384) float32 unit rows, as Session."""
        ids = np.array(batch, dtype=np.int64)
        feed = {"input_ids": ids, "attention_mask": np.ones_like(ids), "token_type_ids": np.zeros_like(ids)}
        return _means(self._session.run(None, feed)[0])


def batches(lengths: Sequence[int], tokens: int = TOKENS_A_BATCH) -> list[list[int]]:
    """Put each row once, shortest first, into batches of equal length that have at most so many tokens (or one row).

    Nothing is padded, so that a window's numbers are the same in every batch.
    """
    batches_so_far: list[list[int]] = []
    for row in sorted(range(len(lengths)), key=lambda row: (lengths[row], row)):
        room = bool(batches_so_far) and lengths[batches_so_far[-1][0]] == lengths[row]
        if room and lengths[row] * (len(batches_so_far[-1]) + 1) <= tokens:
            batches_so_far[-1].append(row)
        else:
            batches_so_far.append([row])
    return batches_so_far


def _means(hidden: np.ndarray) -> np.ndarray:
    """Return (n, 384) float32 unit rows: the means of (n, length, 384) token vectors."""
    vectors = hidden.mean(axis=1)
    return np.asarray(vectors / np.linalg.norm(vectors, axis=1, keepdims=True), dtype=np.float32)


def _opened(model: str | bytes, threads: int, arena: bool) -> Any:
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.log_severity_level = 3
    options.enable_cpu_mem_arena = arena  # the arena keeps memory for every batch shape it has seen: 1 GB more
    if not _sums_are_exact():
        options.add_session_config_entry("session.x64quantprecision", "1")
    return onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])


@cache
def _sums_are_exact() -> bool:
    """Return whether this processor adds products of 8 bits without loss. Older ones (x86 without VNNI) cut pairs of
    them at 16 bits unless onnxruntime is configured to avoid it, which gives the same numbers more slowly."""
    import onnxruntime

    graph = GraphWriter()
    graph.input("given", "rows", "columns")
    constants = (("weights", np.full((64, 16), 127, np.int8)), ("step", np.float32(1)), ("middle", np.uint8(0)))
    for name, values in constants:
        graph.constant(name, np.asarray(values))
    given = graph.add("Cast", "given", to=2)[0]
    product = graph.add("MatMulIntegerToFloat", given, "weights", "step", "step", "middle", own=True)[0]
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(
        graph.model(product, "rows", 16), options, providers=["CPUExecutionProvider"]
    )
    return bool((session.run(None, {"given": np.full((16, 64), 255, dtype=np.int32)})[0] == 64 * 255 * 127).all())
