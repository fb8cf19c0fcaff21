"""Indexes that strategies and parts must cope with, made without a model: of one chunk, without relations, Chinese."""

import tempfile
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pyarrow as pa

from leanrag_core.indexing.manifest import count_layers
from leanrag_core.storage.layout import read_index, write_index
from leanrag_core.text.tokens import count_tokens
from leanrag_core.types.index import CHUNK_SCHEMA, DOCUMENT_SCHEMA, Index
from leanrag_core.types.manifest import IndexCounts
from tests.small_index import entity, layer, relation, small_index, unit


def index_of(texts: dict[str, str], pairs: list[tuple[int, int]]) -> Index:
    """Return an index with one entity for each text, by name; each text is a document of one chunk. pairs: related
    entities."""
    small, n = small_index(), len(texts)
    base = layer(
        0,
        [entity(name, [row], text) for row, (name, text) in enumerate(texts.items())],
        [relation(source, target) for source, target in pairs],
        unit((np.eye(4)[np.arange(n) % 4] + 0.1 * np.arange(n)[:, None]).tolist()),
        [0] * n,
    )
    layers = (base, layer(1, [entity("root", list(range(n)))], [], unit([[1, 1, 1, 1]]), []))
    empty = {"media_type": "text", "language": "", "pages": [], "headings": [], "boilerplate": [], "notes": []}
    documents = [
        {"id": f"doc-{row}", "name": f"{row}.txt", "title": name, "text": text, **empty}
        for row, (name, text) in enumerate(texts.items())
    ]
    chunks = [
        {"id": f"chunk-{row}", "document": row, "start": 0, "end": len(text), "tokens": count_tokens(text)}
        for row, text in enumerate(texts.values())
    ]
    counts = IndexCounts(documents=n, chunks=n, layers=2, entities=(n, 1), relations=(len(pairs), 0))
    return replace(
        small,
        manifest=replace(small.manifest, counts=counts, layers=count_layers(layers)),
        documents=pa.Table.from_pylist(documents, schema=DOCUMENT_SCHEMA),
        chunks=pa.Table.from_pylist(chunks, schema=CHUNK_SCHEMA),
        layers=layers,
        chunk_vectors=np.array(base.vectors),
    )


INDEXES: dict[str, Callable[[], Index]] = {
    "tiny": small_index,
    "one chunk": lambda: index_of({"queen": "The queen lays eggs."}, []),
    "no relations": lambda: index_of({"queen": "The queen lays eggs.", "mite": "A mite drinks.", "rape": "Rape."}, []),
    "Chinese": lambda: index_of(
        {"蜂王": "蜂王在蜂巢中产卵。", "蜂蜜": "工蜂储存蜂蜜。", "油菜": "油菜和三叶草是蜜源。"}, [(0, 1), (1, 2)]
    ),
}


def stored(kind: str, directory: Path) -> Index:
    """Write that index into the directory, and return it."""
    directory.mkdir(parents=True, exist_ok=True)
    for name, content in _files(kind).items():
        (directory / name).write_bytes(content)
    return read_index(directory)


@cache
def _files(kind: str) -> dict[str, bytes]:
    """Return the files of that index, by name: made once, since hundreds of tests begin with them."""
    with tempfile.TemporaryDirectory() as folder:
        write_index(Path(folder), INDEXES[kind]())
        return {path.name: path.read_bytes() for path in Path(folder).iterdir()}
