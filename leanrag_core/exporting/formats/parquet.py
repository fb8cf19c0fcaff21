"""Parquet tables for data analysis: entities, relations, chunks and documents in a ZIP file."""

import zipfile
from collections.abc import Iterable, Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pyarrow as pa

from leanrag_core.exporting.base import zip_entry
from leanrag_core.exporting.rows import batches, edges, nodes
from leanrag_core.messages.message import message
from leanrag_core.types.index import Index

_TEXT, _NUMBER = pa.string(), pa.int32()
_ENTITIES = pa.schema(
    [("id", _TEXT), ("layer", _NUMBER), ("name", _TEXT), ("type", _TEXT), ("description", _TEXT), ("parent", _TEXT)]
)
_RELATIONS = pa.schema(
    [
        ("id", _TEXT),
        ("source", _TEXT),
        ("target", _TEXT),
        ("layer", _NUMBER),
        ("kind", _TEXT),
        ("strength", _NUMBER),
        ("weight", pa.float32()),
        ("description", _TEXT),
        ("keywords", pa.list_(_TEXT)),
    ]
)
_CHUNKS = pa.schema([("id", _TEXT), ("document", _TEXT), ("start", _NUMBER), ("end", _NUMBER), ("text", _TEXT)])
_DOCUMENTS = pa.schema([("id", _TEXT), ("name", _TEXT), ("title", _TEXT), ("language", _TEXT), ("text", _TEXT)])
_ROWS = 8192


class Exporter:
    """See exporting.base."""

    name = "parquet"
    title = message("export.parquet.title")
    help = message("export.parquet.help")
    suffix = ".parquet.zip"
    media_type = "application/zip"

    def write(self, index: Index, path: Path) -> int:
        """Write the four tables; the same index gives the same bytes."""
        with zipfile.ZipFile(path, "w") as archive:
            _write(archive, "entities", _ENTITIES, (asdict(node) for node in nodes(index)))
            _write(archive, "relations", _RELATIONS, (asdict(edge) for edge in edges(index)))
            _write(archive, "chunks", _CHUNKS, _chunks(index))
            _write(archive, "documents", _DOCUMENTS, index.documents.select(_DOCUMENTS.names).to_pylist())
        return 0


def _chunks(index: Index) -> Iterator[dict[str, Any]]:
    for row in range(index.chunks.num_rows):
        chunk = index.chunk(row)
        yield {
            "id": chunk.id,
            "document": chunk.document_id,
            "start": chunk.start,
            "end": chunk.end,
            "text": chunk.text,
        }


def _write(archive: zipfile.ZipFile, name: str, schema: pa.Schema, rows: Iterable[dict[str, Any]]) -> None:
    import pyarrow.parquet as pq

    # Parquet packs its columns itself.
    with (
        archive.open(zip_entry(f"{name}.parquet", is_packed=False), "w", force_zip64=True) as file,
        pq.ParquetWriter(file, schema) as table,
    ):
        for batch in batches(rows, _ROWS):
            table.write_batch(pa.RecordBatch.from_pylist(batch, schema=schema))
