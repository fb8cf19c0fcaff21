"""Plain tables: entities, relations, passages and documents, each a CSV, tab-separated, JSON Lines or Parquet file.

    entities    name (or entity), and where known: id, type, description, chunks
    relations   source, target (ids or names of entities), and where known: description, keywords, weight, chunks
    chunks      text, and where known: id, document
    documents   id, and where known: name, title, text

Entities alone are needed. A cell that holds a list is a JSON list, or has its parts apart by | or ; .
"""

from collections.abc import Iterator
from pathlib import Path

from leanrag_core.errors import ImportFailed
from leanrag_core.importing.graph import ImportedEntity, ImportedRelation, graph_of
from leanrag_core.importing.rows import SUFFIXES, Drops, number_of, read_rows, table_file
from leanrag_core.importing.sources import ImportedDocument, Passage, sources_of
from leanrag_core.indexing.parsing.blocks import shown_name
from leanrag_core.messages.message import message
from leanrag_core.types.imported import ImportedGraph

_NAME = ("name", "entity", "entity_name", "title")
_ID = ("id", "entity_id")
_DESCRIPTION = ("description", "summary")
_SOURCE, _TARGET = ("source", "src", "source_id", "src_id", "from"), ("target", "tgt", "target_id", "tgt_id", "to")
_WEIGHT = ("weight", "strength")
_CHUNKS = ("chunks", "chunk_ids", "source_chunks", "text_unit_ids")
_TEXT = ("text", "content")
_DOCUMENT = ("document", "document_id", "doc_id")


class Importer:
    """See importing.base."""

    name = "plain"
    title = message("import.plain.title")
    help = message("import.plain.help")

    def recognises(self, path: Path) -> bool:
        """Return whether there is one table of entities, and no table of relationships, as GraphRAG has."""
        tables = [path / f"entities{suffix}" for suffix in SUFFIXES]
        return sum(table.is_file() for table in tables) == 1 and not (path / "relationships.parquet").is_file()

    def read(self, path: Path) -> ImportedGraph:
        """Read the graph of the tables in that folder."""
        if not path.is_dir():
            raise ImportFailed("import.no_folder", path=str(path))
        entities = table_file(path, "entities")
        if entities is None:
            raise ImportFailed("import.no_table", folder=str(path), name="entities")
        tables = {table: table_file(path, table) for table in ("relations", "chunks", "documents")}
        drops, name = Drops(), shown_name(path.resolve().name)
        documents, chunks, relations = tables["documents"], tables["chunks"], tables["relations"]
        sources = sources_of(
            _documents(documents, drops) if documents else (),
            _passages(chunks, drops) if chunks else (),
            drops,
            name=name,
        )
        return graph_of(
            _entities(entities, drops),
            _relations(relations, drops) if relations else (),
            sources,
            drops,
            name=f"Descriptions in {name}",
            format_name=self.name,
            notes=() if sources.chunk_of or not chunks else (message("import.no_chunk_texts", name=chunks.name),),
        )


def _documents(path: Path, drops: Drops) -> Iterator[ImportedDocument]:
    for row in read_rows(path, [("id", *_DOCUMENT)], drops):
        id_ = row.text("id", *_DOCUMENT).strip()
        yield ImportedDocument(id_, row.text("name", "file"), row.text("title"), row.text(*_TEXT))


def _passages(path: Path, drops: Drops) -> Iterator[Passage]:
    for row in read_rows(path, [_TEXT], drops):
        id_ = row.text("id", "chunk_id").strip() or row.place
        yield Passage(row.place, id_, row.text(*_TEXT), row.text(*_DOCUMENT).strip())


def _entities(path: Path, drops: Drops) -> Iterator[ImportedEntity]:
    for row in read_rows(path, [_NAME], drops):
        yield ImportedEntity(
            row.place,
            row.text(*_NAME),
            row.text(*_ID).strip(),
            row.text("type", "entity_type"),
            row.text(*_DESCRIPTION),
            row.parts(*_CHUNKS),
        )


def _relations(path: Path, drops: Drops) -> Iterator[ImportedRelation]:
    for row in read_rows(path, [_SOURCE, _TARGET], drops):
        yield ImportedRelation(
            row.place,
            row.text(*_SOURCE).strip(),
            row.text(*_TARGET).strip(),
            row.text(*_DESCRIPTION),
            row.parts("keywords"),
            number_of(row.text(*_WEIGHT).strip()),
            row.parts(*_CHUNKS),
            row.text("id", "relation_id").strip(),
        )
