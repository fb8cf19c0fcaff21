"""An opened index: its record, its corpus and its hierarchy."""

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from leanrag_core.types.corpus import Chunk, Document, Heading, Span
from leanrag_core.types.graph import Layer, children_offsets

_SPAN = pa.struct([("start", pa.int32()), ("end", pa.int32())])
_HEADING = pa.struct([("title", pa.string()), ("level", pa.int32()), ("start", pa.int32()), ("end", pa.int32())])
DOCUMENT_SCHEMA = pa.schema(
    [
        ("id", pa.string()),
        ("name", pa.string()),
        ("title", pa.string()),
        ("media_type", pa.string()),
        ("text", pa.string()),
        ("language", pa.string()),
        ("pages", pa.list_(_SPAN)),
        ("headings", pa.list_(_HEADING)),
        ("boilerplate", pa.list_(_SPAN)),
        ("notes", pa.list_(pa.string())),
    ]
)
CHUNK_SCHEMA = pa.schema(
    [
        ("id", pa.string()),
        ("document", pa.int32()),  # row of the document table
        ("start", pa.int32()),
        ("end", pa.int32()),
        ("tokens", pa.int32()),
    ]
)


@dataclass(frozen=True, eq=False)
class Index:
    """A read-only index. layers[0] is the base graph, layers[-1] holds the one root.

    manifest: the record of how it was made (plain JSON values; keys are set by `storage.layout`).
    chunk_vectors: (n_chunks, d) float32 unit rows, rows as in chunks; for vector strategies.
    path: the directory, or None for one that only lives in memory.
    """

    manifest: dict[str, Any]
    documents: pa.Table
    chunks: pa.Table
    layers: tuple[Layer, ...]
    chunk_vectors: np.ndarray
    report: dict[str, Any]
    path: Path | None = None

    @property
    def id(self) -> str:
        """The index's own id."""
        return str(self.manifest["id"])

    def document(self, row: int) -> Document:
        """The document in that row."""
        cells = self.documents.slice(row, 1).to_pylist()[0]
        cells["pages"] = tuple(Span(**span) for span in cells["pages"])
        cells["boilerplate"] = tuple(Span(**span) for span in cells["boilerplate"])
        cells["headings"] = tuple(Heading(**heading) for heading in cells["headings"])
        cells["notes"] = tuple(cells["notes"])
        return Document(**cells)

    def chunk(self, row: int) -> Chunk:
        """The chunk in that row (its position in the corpus)."""
        cells = self.chunks.slice(row, 1).to_pylist()[0]
        document = self.documents.slice(cells["document"], 1)
        text = document["text"][0].as_py()[cells["start"] : cells["end"]]
        return Chunk(
            cells["id"], document["id"][0].as_py(), int(row), cells["start"], cells["end"], cells["tokens"], text
        )

    @cached_property
    def children(self) -> tuple[tuple[np.ndarray, np.ndarray], ...]:
        """For layer i >= 1 (position i - 1): offsets and order of the children in layer i - 1."""
        return tuple(
            children_offsets(below.parent, len(above))
            for below, above in zip(self.layers, self.layers[1:], strict=False)
        )

    def children_of(self, layer: int, row: int) -> np.ndarray:
        """Rows, in the layer below, of the children of that entity; none for layer 0."""
        if layer == 0:
            return np.zeros(0, dtype=np.int32)
        offsets, order = self.children[layer - 1]
        return order[offsets[row] : offsets[row + 1]]

    def ancestors(self, layer: int, row: int) -> list[tuple[int, int]]:
        """(layer, row) of parent, grandparent, ... up to the root."""
        found = []
        while layer + 1 < len(self.layers):
            row = int(self.layers[layer].parent[row])
            layer += 1
            found.append((layer, row))
        return found
