"""The files of LeanRAG's published code: entity.jsonl, relation.jsonl and chunk.json, with or without a hierarchy.

all_entities.json (a line for each layer), community.json and generate_relations.json are its hierarchy. It is counted
and shown; the index builds its own over the same base graph, since the tree of the files names parents by name alone
and has no vectors.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from leanrag_core.errors import ImportFailed
from leanrag_core.importing.graph import ImportedEntity, ImportedRelation, graph_of
from leanrag_core.importing.rows import Drops, file_text, number_of, read_rows
from leanrag_core.importing.sources import Passage, sources_of
from leanrag_core.importing.working_folder import joined
from leanrag_core.indexing.parsing.blocks import shown_name
from leanrag_core.messages.message import Message, message
from leanrag_core.types.imported import ImportedGraph

_ENTITIES, _RELATIONS = "entity.jsonl", "relation.jsonl"
_BETWEEN = "|"


class Importer:
    """See importing.base."""

    name = "leanrag"
    title = message("import.leanrag.title")
    help = message("import.leanrag.help")

    def recognises(self, path: Path) -> bool:
        """Return whether the files of entities and relations are there."""
        return _folder(path) is not None

    def read(self, path: Path) -> ImportedGraph:
        """Read the base graph of the files."""
        folder = _folder(path)
        if folder is None:
            raise ImportFailed("import.no_file", folder=str(path), name=_ENTITIES)
        drops, name = Drops(), shown_name(path.resolve().name)
        chunks = _chunk_file(folder)
        sources = sources_of((), _passages(chunks, drops) if chunks else (), drops, name=name)
        notes = () if sources.chunk_of else (message("import.no_chunk_texts", name="chunk.json"),)
        return graph_of(
            _entities(folder / _ENTITIES, drops),
            _relations(folder / _RELATIONS, drops),
            sources,
            drops,
            name=f"Descriptions in {name}",
            format_name=self.name,
            notes=(*notes, *_hierarchy_notes(folder)),
        )


def _folder(path: Path) -> Path | None:
    return path if (path / _ENTITIES).is_file() and (path / _RELATIONS).is_file() else None


def _chunk_file(folder: Path) -> Path | None:
    """Return the file of chunks: chunk.json, or the only one whose name ends in chunk.json or chunk.jsonl."""
    names = ("chunk.json", "chunk.jsonl", "*_chunk.json", "*_chunk.jsonl")
    files = [path for name in names for path in sorted(folder.glob(name))]
    return next((path for path in files if not path.name.startswith(("match_words_", "new_triples_"))), None)


def _passages(path: Path, drops: Drops) -> Iterator[Passage]:
    for row in read_rows(path, [("text",)], drops):
        yield Passage(row.place, row.text("hash_code", "id") or row.place, row.text("text"), row.text("doc_name"))


def _entities(path: Path, drops: Drops) -> Iterator[ImportedEntity]:
    for row in read_rows(path, [("entity_name",)], drops):
        yield ImportedEntity(
            row.place,
            row.text("entity_name"),
            "",
            row.text("entity_type", "type"),
            joined(row.text("description"), f" {_BETWEEN} "),
            _sources(row.text("source_id")),
        )


def _relations(path: Path, drops: Drops) -> Iterator[ImportedRelation]:
    for row in read_rows(path, [("src_tgt",), ("tgt_src",)], drops):
        predicate = row.text("source").strip()  # of the triple that CommonKG extracts
        yield ImportedRelation(
            row.place,
            row.text("src_tgt"),
            row.text("tgt_src"),
            joined(row.text("description"), f" {_BETWEEN} "),
            (predicate,) if predicate else (),
            number_of(row.text("weight")),
            _sources(row.text("source_id")),
        )


def _sources(text: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(id_.strip() for id_ in text.split(_BETWEEN) if id_.strip()))


def _hierarchy_notes(folder: Path) -> tuple[Message, ...]:
    layers = folder / "all_entities.json"
    if not layers.is_file():
        return ()
    sizes = [len(value) if isinstance(value, list) else 1 for value in _lines(layers)]
    relations = folder / "generate_relations.json"
    n_relations = sum(1 for _ in _lines(relations)) if relations.is_file() else 0
    shown = ", ".join(f"{size:,}" for size in sizes)
    return (message("import.leanrag.hierarchy", n=len(sizes), sizes=shown, relations=n_relations),)


def _lines(path: Path) -> Iterator[Any]:
    """Yield the values of a file with one JSON value a line; lines that are no JSON are left out."""
    for line in file_text(path).split("\n"):
        if line.strip():
            try:
                yield json.loads(line)
            except (ValueError, RecursionError):
                continue
