"""HippoRAG: files of its open information extraction, openie_results_*.json.

{"docs": [{"idx": "chunk-...", "passage": "...", "extracted_entities": ["..."],
           "extracted_triples": [["subject", "predicate", "object"]]}]}
A passage is a document of its own, as in HippoRAG's corpora, where its first line is its title. Entities are the names
and the ends of triples; a description is made of the triples that name the entity.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from leanrag_core.errors import ImportFailed
from leanrag_core.importing.graph import ImportedEntity, ImportedRelation, graph_of
from leanrag_core.importing.rows import Drops, json_file, text_of
from leanrag_core.importing.sources import ImportedDocument, Passage, sources_of
from leanrag_core.indexing.names import name_key
from leanrag_core.indexing.parsing.blocks import one_line, shown_name
from leanrag_core.messages.message import message
from leanrag_core.types.imported import ImportedGraph

_TRIPLES_DESCRIBED = 10  # of an entity
_TITLE = 160  # characters
_HEAD_BYTES = 200_000
_MAX_FILES = 200


class Importer:
    """See importing.base."""

    name = "hipporag"
    title = message("import.hipporag.title")
    help = message("import.hipporag.help")

    def recognises(self, path: Path) -> bool:
        """Return whether there is a file with passages and their triples."""
        return bool(_files(path))

    def read(self, path: Path) -> ImportedGraph:
        """Read the graph of all triples."""
        files = _files(path)
        if not files:
            raise ImportFailed("import.no_file", folder=str(path), name="openie_results_*.json")
        drops, name = Drops(), shown_name(path.resolve().name)
        passages = [passage for file in files for passage in _passages(file, drops)]
        sources = sources_of(
            {each.id: each.document for each in passages}.values(),
            (Passage(each.place, each.id, each.text, each.id) for each in passages),
            drops,
            name=shown_name(files[0].name),
        )
        return graph_of(
            _entities(passages),
            _relations(passages),
            sources,
            drops,
            name=f"Descriptions in {name}",
            format_name=self.name,
            notes=(message("import.hipporag.described"),),
        )


@dataclass(frozen=True)
class _OpenPassage:
    """A passage with what was extracted from it."""

    place: str
    id: str
    text: str
    names: tuple[str, ...]
    triples: tuple[tuple[str, str, str], ...]

    @property
    def document(self) -> ImportedDocument:
        """The passage as a document, which has its first line as its name where that is a line of its own."""
        title, _, body = self.text.strip().partition("\n")
        return ImportedDocument(self.id, one_line(title)[:_TITLE] if body.strip() else self.id)


def _files(path: Path) -> list[Path]:
    files = [path] if path.is_file() else sorted(path.glob("*.json"))[:_MAX_FILES] if path.is_dir() else []
    return [file for file in files if file.suffix == ".json" and not file.is_symlink() and _is_openie(file)]


def _is_openie(file: Path) -> bool:
    with file.open("rb") as opened:
        head = opened.read(_HEAD_BYTES)
    return b'"docs"' in head and b'"extracted_' in head


def _passages(file: Path, drops: Drops) -> Iterator[_OpenPassage]:
    value = json_file(file)
    docs = value.get("docs") if isinstance(value, dict) else None
    if not isinstance(docs, list):
        raise ImportFailed("import.no_docs", file=shown_name(file.name))
    for number, row in enumerate(docs, 1):
        place = f"{shown_name(file.name)} row {number}"
        if not isinstance(row, dict):
            drops.add(place, "import.no_object")
            continue
        yield _OpenPassage(
            place,
            text_of(row, "idx") or place,
            text_of(row, "passage"),
            tuple(str(name) for name in _list(row, "extracted_entities") if isinstance(name, str | int | float)),
            tuple(_triples(row, place, drops)),
        )


def _list(row: Mapping[str, Any], name: str) -> list[Any]:
    value = row.get(name)
    return value if isinstance(value, list) else []


def _triples(row: Mapping[str, Any], place: str, drops: Drops) -> Iterator[tuple[str, str, str]]:
    for triple in _list(row, "extracted_triples"):
        if (
            isinstance(triple, list)
            and len(triple) == 3
            and all(isinstance(part, str | int | float) for part in triple)
        ):
            subject, predicate, object_ = (str(part).strip() for part in triple)
            yield subject, predicate, object_
        else:
            drops.add(place, "import.no_triple")


def _entities(passages: Sequence[_OpenPassage]) -> Iterator[ImportedEntity]:
    """Yield each name once, with the passages that mention it and the triples that it is an end of."""
    first: dict[str, ImportedEntity] = {}
    statements: dict[str, dict[str, None]] = defaultdict(dict)
    mentioned_in: dict[str, dict[str, None]] = defaultdict(dict)
    for passage in passages:
        for name in (*passage.names, *(end for triple in passage.triples for end in (triple[0], triple[2]))):
            key = name_key(name)
            first.setdefault(key, ImportedEntity(passage.place, name))
            mentioned_in[key].setdefault(passage.id)
        for triple in passage.triples:
            for end in (triple[0], triple[2]):
                statements[name_key(end)].setdefault(_statement(triple))
    for key, entity in first.items():
        description = " ".join(list(statements[key])[:_TRIPLES_DESCRIBED])
        yield replace(entity, description=description, passages=tuple(mentioned_in[key]))


def _relations(passages: Sequence[_OpenPassage]) -> Iterator[ImportedRelation]:
    for passage in passages:
        for triple in passage.triples:
            subject, predicate, object_ = triple
            yield ImportedRelation(
                passage.place, subject, object_, _statement(triple), (predicate,), 1.0, (passage.id,)
            )


def _statement(triple: tuple[str, str, str]) -> str:
    return f"{' '.join(triple)}."
