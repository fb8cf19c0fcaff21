"""What the embedding models on this machine share: windows of word pieces, batches of one length, their means."""

import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache
from typing import Any, Protocol

import numpy as np

from leanrag_core.models.minilm_graph import GraphWriter

TOKENS_A_BATCH = 512  # from 128 to 1,024 all are equally quick


class Session(Protocol):
    """What turns word pieces into vectors."""

    def vectors(self, batch: Sequence[Sequence[int]]) -> np.ndarray:
        """Return (len(batch), 384) float32 unit rows: the mean of the token vectors of each window; all are equally
        long."""


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


def means(hidden: np.ndarray) -> np.ndarray:
    """Return (n, 384) float32 unit rows: the means of (n, length, 384) token vectors."""
    vectors = hidden.mean(axis=1)
    return np.asarray(vectors / np.linalg.norm(vectors, axis=1, keepdims=True), dtype=np.float32)


def opened(model: str | bytes, threads: int, arena: bool) -> Any:
    """Return onnxruntime's session of the model (its file's name or its content). threads: of one batch."""
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
    cast = graph.add("Cast", "given", to=2)[0]
    product = graph.add("MatMulIntegerToFloat", cast, "weights", "step", "step", "middle", own=True)[0]
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(
        graph.model(product, "rows", 16), options, providers=["CPUExecutionProvider"]
    )
    return bool((session.run(None, {"given": np.full((16, 64), 255, dtype=np.int32)})[0] == 64 * 255 * 127).all())


@dataclass(frozen=True)
class Windows:
    """Texts cut into what the model reads at once: word pieces with [CLS] and [SEP], and the text's row of each."""

    pieces: list[list[int]]
    owner: list[int]


class WindowedModel(ABC):
    """Mean-pooled, L2-normalised embeddings. Texts longer than a window are cut; the vectors of their windows are
    averaged by length."""

    name: str
    dimension = 384

    def __init__(self, threads: int | None = None) -> None:
        """Prepare the model. threads: of a batch's work; None for one on each core."""
        self.threads = threads or os.cpu_count() or 1

    @property
    @abstractmethod
    def fingerprint(self) -> str:
        """Name and hash of weights and word pieces, and of what is made of the weights."""

    @property
    def exact(self) -> bool:
        """Whether a text's vector is the same to the last bit whatever texts are embedded with it."""
        return True

    @property
    @abstractmethod
    def _session(self) -> Session:
        """What runs the network, made when it is first asked for."""

    @abstractmethod
    def windows(self, texts: list[str]) -> Windows:
        """Cut the texts into what the model reads, in their order; every text has at least one window."""

    def embed(self, texts: list[str]) -> np.ndarray:
        """Return (len(texts), 384) float32 unit rows. Equal texts are embedded once; batches are sorted by length."""
        return self._embedded(texts, self.windows)

    def _embedded(self, texts: list[str], cut: Callable[[list[str]], Windows]) -> np.ndarray:
        """Return (len(texts), 384) float32 unit rows. cut: makes the windows of texts."""
        unique = list(dict.fromkeys(texts))
        windows = cut(unique)
        pooled = self._pool(windows.pieces)
        lengths = np.array([len(window) for window in windows.pieces], dtype=np.float32)
        vectors = np.zeros((len(unique), self.dimension), dtype=np.float32)
        np.add.at(vectors, windows.owner, pooled * lengths[:, None])
        vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
        row_of = {text: row for row, text in enumerate(unique)}
        return vectors[[row_of[text] for text in texts]] if texts else vectors

    def _pool(self, windows: list[list[int]]) -> np.ndarray:
        """Return (n_windows, 384) float32 unit rows: the mean of the token vectors of each window.

        Batches, which depend on the windows alone, go to as many threads as the model has; each is computed by one.
        """
        pooled = np.zeros((len(windows), self.dimension), dtype=np.float32)
        planned = batches([len(window) for window in windows])
        session = self._session  # made before the threads ask for it

        def run(rows: list[int]) -> None:
            pooled[rows] = session.vectors([windows[row] for row in rows])

        if min(self.threads, len(planned)) < 2:
            for rows in planned:
                run(rows)
        else:
            with ThreadPoolExecutor(self.threads) as pool:
                list(pool.map(run, reversed(planned)))  # the longest first, so that none is left alone at the end
        return pooled
