"""An opened index: its record, its corpus and its hierarchy."""

from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from leanrag_core.system.threads import BoundedCache
from leanrag_core.types.build_report import BuildReport
from leanrag_core.types.corpus import Chunk, Document, document_of
from leanrag_core.types.cosines import CosineScale, across_scale, passage_scale, query_scale
from leanrag_core.types.graph import Layer, children_offsets
from leanrag_core.types.manifest import Manifest
from leanrag_core.types.rows import Columns, entries_of, incidence, numbers
from leanrag_core.types.scope import NOTHING_LEFT_OUT, LeftOut, Scope
from leanrag_core.types.visible import ShownInNotebooks

if TYPE_CHECKING:  # scipy takes a tenth of a second to import
    from scipy.sparse import csr_array

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
# A further column of documents, lists of strings, where any of them has a piece that is read anyway.
READ_ANYWAY = "read_anyway"
# A further column of documents, lists of spans, where any of them has preformatted text.
PREFORMATTED = pa.field("preformatted", pa.list_(_SPAN))
# A further column of documents, strings, where any of them lies in a folder below the one that was read.
FOLDER = "folder"
CHUNK_SCHEMA = pa.schema(
    [
        ("id", pa.string()),
        ("document", pa.int32()),  # row of the document table
        ("start", pa.int32()),
        ("end", pa.int32()),
        ("tokens", pa.int32()),
    ]
)
# Columns that an index on disk adds to its chunks: where their text lies in the bytes of the document (int64), and its
# tokens as it is written in a context (int32; retrieval.context).
CHUNK_BYTES = ("start_byte", "end_byte")
CHUNK_TOKENS = "context_tokens"
_KEPT_COSINES = 8192  # arrays of at most 1,024 numbers: 32 MB
_KEPT_CHUNKS = 4096


@dataclass(frozen=True, eq=False)
class CorpusTables:
    """Documents and chunks as an index holds them: DOCUMENT_SCHEMA, CHUNK_SCHEMA."""

    documents: pa.Table
    chunks: pa.Table


@dataclass(frozen=True, eq=False)
class Cut:
    """How an index was cut to a scope (scoping.cutting). whole: the index before. documents, chunks, entities,
    relations: rows of the whole that are left, ascending, (k,) int; entities and relations of the base graph.
    rewritten: ids of base entities and relations whose texts rested on other documents too, and are made of those
    inside by now. regrouped: ids of aggregated entities that were written again. left_out: as of the scope's date."""

    whole: "Index"
    scope: Scope
    documents: np.ndarray
    chunks: np.ndarray
    entities: np.ndarray
    relations: np.ndarray
    rewritten: frozenset[str]
    regrouped: frozenset[str]
    left_out: LeftOut = NOTHING_LEFT_OUT

    @property
    def is_all(self) -> bool:
        """Whether all of the index is inside, so that what was made of it holds."""
        return len(self.documents) == self.whole.documents.num_rows and not self.left_out.n


@dataclass(frozen=True, eq=False)
class Index(ShownInNotebooks):
    """A read-only index. layers[0] is the base graph, layers[-1] holds the root alone.

    chunk_vectors: (n_chunks, d) float32 unit rows, rows as in chunks; for vector strategies. path: the directory, or
    None for one that is only in memory. calls: which model call wrote what, CALL_SCHEMA; None for an index of the
    built-in engine, and for one from before calls were recorded. cut: of an index that was cut to a scope, which is in
    memory.
    """

    manifest: Manifest
    documents: pa.Table
    chunks: pa.Table
    layers: tuple[Layer, ...]
    chunk_vectors: np.ndarray
    report: BuildReport
    path: Path | None = None
    calls: pa.Table | None = None
    cut: Cut | None = None

    @property
    def id(self) -> str:
        """The index's own id."""
        return self.manifest.id

    @property
    def folder_name(self) -> str:
        """The name of the index's folder, under which its model calls are kept; the id of one in memory."""
        if self.cut is not None:
            return self.cut.whole.folder_name
        return self.path.name if self.path else self.id

    @cached_property
    def kept_cosines(self) -> BoundedCache[tuple[int | str, bytes], np.ndarray]:
        """The cosines of a part of at most 1,024 rows, (n,) float32, to a vector that was asked with, by the part and
        the vector's bytes; those used last (retrieval.vector_search)."""
        return BoundedCache(_KEPT_COSINES)

    @cached_property
    def kept_chunks(self) -> BoundedCache[int, Chunk]:
        """The chunks that were read last."""
        return BoundedCache(_KEPT_CHUNKS)

    @property
    def query_scale(self) -> CosineScale:
        """The mapping of cosines between a question and what the index holds to the scale of thresholds."""
        return query_scale(self.manifest.embedding.cosines)

    @property
    def across_scale(self) -> CosineScale:
        """The mapping of the least cosine to a question, also of texts in another language, to the scale of
        thresholds."""
        return across_scale(self.manifest.embedding.cosines)

    @property
    def passage_scale(self) -> CosineScale:
        """The mapping of cosines between two texts of the index to the scale of thresholds."""
        return passage_scale(self.manifest.embedding.cosines)

    def document(self, row: int) -> Document:
        """Return the document in that row."""
        return document_of(self.documents.slice(row, 1).to_pylist()[0])

    def chunk(self, row: int) -> Chunk:
        """Return the chunk in that row (its position in the corpus)."""
        row = int(row)
        return self.kept_chunks.get_or_make(row, partial(self._read_chunk, row))

    def _read_chunk(self, row: int) -> Chunk:
        cells = self.chunk_cells
        id_, document = cells.value("id", row), cells.value("document", row)
        start, end, tokens = self._chunk_numbers[row].tolist()
        from_byte, to_byte = self.chunk_bytes[row].tolist()
        text = self.document_cells["text"][document].as_buffer()[from_byte:to_byte].to_pybytes().decode()
        return Chunk(id_, self.document_cells.value("id", document), row, start, end, tokens, text)

    @cached_property
    def _chunk_numbers(self) -> np.ndarray:
        """(n_chunks, 3) int32: where each chunk starts and ends in its document, and its tokens."""
        return np.stack([numbers(self.chunks[name]) for name in ("start", "end", "tokens")], axis=1)

    @cached_property
    def chunk_cells(self) -> Columns:
        """The columns of the chunks, for reading single cells."""
        return Columns(self.chunks)

    @cached_property
    def document_cells(self) -> Columns:
        """The columns of the documents, for reading single cells."""
        return Columns(self.documents)

    @cached_property
    def chunk_bytes(self) -> np.ndarray:
        """(n_chunks, 2) int64, where each chunk begins and ends in the bytes of its document's text."""
        if set(CHUNK_BYTES) <= set(self.chunks.column_names):
            return np.stack([numbers(self.chunks[name]) for name in CHUNK_BYTES], axis=1)
        return chunk_bytes(self.documents, self.chunks)

    @cached_property
    def chunk_tokens(self) -> np.ndarray | None:
        """(n_chunks,) int32, the stored column CHUNK_TOKENS; None when the table holds none."""
        has_tokens = CHUNK_TOKENS in self.chunks.column_names
        return numbers(self.chunks[CHUNK_TOKENS]) if has_tokens else None

    def page_of(self, document: int, character: int) -> int | None:
        """Return the page, from 1, that holds that character of the document; None where it has no pages."""
        offsets, spans = self._pages
        pages = spans[offsets[document] : offsets[document + 1]]
        if not len(pages):
            return None
        holding = np.flatnonzero((pages[:, 0] <= character) & (character < pages[:, 1]))
        return int(holding[0]) + 1 if len(holding) else None

    @cached_property
    def _pages(self) -> tuple[np.ndarray, np.ndarray]:
        """The spans of all documents' pages, (k, 2), and where each document's begin among them, (n + 1,)."""
        lists = self.documents["pages"].combine_chunks()
        spans = np.stack([numbers(lists.values.field(side)) for side in ("start", "end")], axis=1)
        return numbers(lists.offsets), spans

    @cached_property
    def children(self) -> tuple[tuple[np.ndarray, np.ndarray], ...]:
        """For layer i >= 1 (position i - 1) of n nodes: (n + 1,) offsets and (m,) order of its children, the m nodes of
        layer i - 1."""
        return tuple(
            children_offsets(below.parent, len(above))
            for below, above in zip(self.layers, self.layers[1:], strict=False)
        )

    @cached_property
    def leaf_counts(self) -> tuple[np.ndarray, ...]:
        """For each layer (n,) int64: how many base entities lie below each node."""
        counts = [np.ones(len(self.layers[0]), dtype=np.int64)]
        for below, above in zip(self.layers, self.layers[1:], strict=False):
            counts.append(np.bincount(below.parent, weights=counts[-1], minlength=len(above)).astype(np.int64))
        return tuple(counts)

    @cached_property
    def entity_chunks(self) -> "csr_array":
        """(n_entities, n_chunks) float32: 1 where the chunk mentions the base entity."""
        return incidence(*self.layers[0].mention_lists, self.chunks.num_rows)

    @cached_property
    def relation_chunks(self) -> "csr_array":
        """(n_relations, n_chunks) float32: 1 where the chunk states the base relation."""
        lists = self.layers[0].relation_chunk_lists
        return incidence(lists.offsets, lists.values, self.chunks.num_rows)

    def chunks_of_relation(self, row: int) -> np.ndarray:
        """Return the rows of the chunks that state that base relation, (k,) int32, as the column has them."""
        return entries_of(self.relation_chunks, row)

    def children_of(self, layer: int, row: int) -> np.ndarray:
        """Return the rows, in the layer below, of the children of that entity, (k,) int32; none for layer 0."""
        if layer == 0:
            return np.zeros(0, dtype=np.int32)
        offsets, order = self.children[layer - 1]
        return order[offsets[row] : offsets[row + 1]]

    def lifted(self, rows: np.ndarray, layer: int, above: int) -> np.ndarray:
        """Return the rows, in the layer `above`, that those (k,) rows of a layer lie in; (k,) int."""
        for each in self.layers[layer:above]:
            rows = each.parent[rows]
        return np.asarray(rows)

    def ancestors(self, layer: int, row: int) -> list[tuple[int, int]]:
        """Return (layer, row) of parent, grandparent, ... up to the root."""
        ancestors = []
        while layer + 1 < len(self.layers):
            row = int(self.layers[layer].parent[row])
            layer += 1
            ancestors.append((layer, row))
        return ancestors


def chunk_bytes(documents: pa.Table, chunks: pa.Table) -> np.ndarray:
    """Compute where each chunk begins and ends in the bytes of its document's text; (n_chunks, 2) int64."""
    import pyarrow.compute as pc

    spans = np.stack([numbers(chunks["start"]), numbers(chunks["end"])], axis=1).astype(np.int64)
    texts = documents["text"]
    characters, n_bytes = numbers(pc.utf8_length(texts)), numbers(pc.binary_length(texts))
    owner = numbers(chunks["document"])
    spans = np.clip(spans, 0, characters[owner][:, None])
    for document in np.unique(owner[characters[owner] != n_bytes[owner]]):  # elsewhere a character is a byte
        content = np.frombuffer(texts[int(document)].as_buffer(), dtype=np.uint8)
        starts = np.append(np.flatnonzero((content & 0xC0) != 0x80), len(content))  # of each character
        rows = np.flatnonzero(owner == document)
        spans[rows] = starts[spans[rows]]
    return spans
