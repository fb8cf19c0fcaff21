"""What a model file (GGUF) says of itself: read from its header, within bounds, before anything loads it."""

import hashlib
import struct
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from leanrag_core.errors import ModelUnavailable

SUFFIX = ".gguf"
_MAGIC = b"GGUF"
_VERSIONS = (2, 3)
_MOST_FIELDS = 10_000
_MOST_BYTES = 256_000_000  # of a header: vocabularies have some ten million
_LONGEST_TEXT = 1_000_000
_NUMBERS = {0: "<B", 1: "<b", 2: "<H", 3: "<h", 4: "<I", 5: "<i", 6: "<f", 7: "<?", 10: "<Q", 11: "<q", 12: "<d"}
_TEXT, _ARRAY = 8, 9
_SAMPLE = 1 << 20  # bytes of each sample of the digest
_N_SAMPLES = 8
# Models that make vectors, or see pictures: they write no text.
_NO_WRITERS = ("bert", "t5encoder", "clip")

Value = str | int | float | bool


@dataclass(frozen=True)
class ModelFile:
    """A model file. name: without its folder. context_tokens: that it was trained for, 0 where it does not say.
    kv_bytes: of memory for each token that a slot reads; writes: it writes text. digest: of its size and of samples of
    its content, which tell two models of one name apart."""

    name: str
    path: Path
    n_bytes: int
    context_tokens: int
    kv_bytes: int
    writes: bool
    digest: str


def read_model_file(path: Path) -> ModelFile:
    """Read what the file says of itself. Raises ModelUnavailable for one that is missing or not a model."""
    try:
        with path.open("rb") as file:
            fields = _fields(file, path.name)
            digest = _digest(file, path.stat().st_size)
        n_bytes = sum(part.stat().st_size for part in parts_of(path))
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise ModelUnavailable("model_file.unreadable", name=path.name, reason=reason) from error
    kind = str(fields.get("general.architecture", ""))
    if not kind:
        raise ModelUnavailable("model_file.no_model", name=path.name)
    return ModelFile(
        path.name,
        path,
        n_bytes,
        _number(fields, f"{kind}.context_length"),
        _kv_bytes(fields, kind),
        not any(part in kind for part in _NO_WRITERS) and not _number(fields, f"{kind}.pooling_type"),
        digest,
    )


def is_later_part(path: Path) -> bool:
    """Return whether the file is a part of a model other than the first, which is the one to be named."""
    number = _part_number(path.name)
    return number is not None and number != 1


def parts_of(path: Path) -> list[Path]:
    """Return the files of a model that is cut into several, else the file itself."""
    if _part_number(path.name) is None:
        return [path]
    stem = path.name[: -len("00001-of-00001.gguf")]
    return sorted(part for part in path.parent.glob("*" + SUFFIX) if part.name.startswith(stem))


def _part_number(name: str) -> int | None:
    """Return 2 for model-00002-of-00003.gguf; None for a whole model."""
    parts = name.removesuffix(SUFFIX).rsplit("-", 3)
    return int(parts[1]) if len(parts) == 4 and parts[2] == "of" and parts[1].isdecimal() else None


def _number(fields: Mapping[str, Value], name: str) -> int:
    value = fields.get(name, 0)
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 < value < 1 << 40 else 0


def _kv_bytes(fields: Mapping[str, Value], kind: str) -> int:
    """Return the bytes of keys and values for a token, at two bytes a number."""
    heads = _number(fields, f"{kind}.attention.head_count")
    size = _number(fields, f"{kind}.embedding_length") // heads if heads else 0
    key = _number(fields, f"{kind}.attention.key_length") or size
    value = _number(fields, f"{kind}.attention.value_length") or size
    shared = _number(fields, f"{kind}.attention.head_count_kv") or heads
    return 2 * _number(fields, f"{kind}.block_count") * shared * (key + value)


def _digest(file: BinaryIO, n_bytes: int) -> str:
    hashed = hashlib.sha256(str(n_bytes).encode())
    step = max(_SAMPLE, n_bytes // _N_SAMPLES)
    for start in range(0, n_bytes, step):
        file.seek(start)
        hashed.update(file.read(_SAMPLE))
    file.seek(max(0, n_bytes - _SAMPLE))
    hashed.update(file.read(_SAMPLE))
    return hashed.hexdigest()[:16]


class _Header:
    """Reads the values of a header one after another. Raises ValueError where the bytes are not a header."""

    def __init__(self, file: BinaryIO) -> None:
        self._file, self._n_read = file, 0

    def bytes(self, n: int) -> bytes:
        self._n_read += n
        if not 0 <= n <= _MOST_BYTES or self._n_read > _MOST_BYTES:
            raise ValueError("header too long")
        read = self._file.read(n)
        if len(read) != n:
            raise ValueError("header cut")
        return read

    def number(self, form: str) -> int | float | bool:
        value: int | float | bool = struct.unpack(form, self.bytes(struct.calcsize(form)))[0]
        return value

    def count(self) -> int:
        return int(self.number("<Q"))

    def text(self) -> str:
        n = self.count()
        if n > _LONGEST_TEXT:
            raise ValueError("text too long")
        return self.bytes(n).decode("utf-8", errors="replace")

    def value(self, kind: int) -> Value | None:
        """Return the value, None for an array, which is passed over."""
        if kind == _TEXT:
            return self.text()
        if kind in _NUMBERS:
            return self.number(_NUMBERS[kind])
        if kind != _ARRAY:
            raise ValueError("unknown type")
        inner, n = int(self.number("<I")), self.count()
        if inner in _NUMBERS:
            self.bytes(n * struct.calcsize(_NUMBERS[inner]))
        elif inner == _TEXT:
            for _ in range(n):
                self.text()
        else:
            raise ValueError("array of arrays")
        return None


def _fields(file: BinaryIO, name: str) -> dict[str, Value]:
    """Return the values of the header that are no lists. Raises ModelUnavailable where the file is no GGUF."""
    header = _Header(file)
    fields: dict[str, Value] = {}
    try:
        if header.bytes(4) != _MAGIC or header.number("<I") not in _VERSIONS:
            raise ValueError("no GGUF")
        header.count()  # tensors
        n_fields = header.count()
        if n_fields > _MOST_FIELDS:
            raise ValueError("too many fields")
        for _ in range(n_fields):
            key = header.text()
            if key.startswith("tokenizer.") and f"{fields.get('general.architecture')}.block_count" in fields:
                break  # a hundred thousand words follow, which say nothing here
            value = header.value(int(header.number("<I")))
            if value is not None:
                fields[key] = value
    except (ValueError, struct.error) as error:
        raise ModelUnavailable("model_file.no_gguf", name=name) from error
    return fields
