"""Microsoft GraphRAG: its output folder of Parquet tables, versions 0.3 to 3.

entities, relationships, text_units, documents, communities, community_reports, covariates; before version 1 their names
begin with create_final_, and create_final_nodes says which entities a community has. The tables may lie in the folder
itself, in output/, in artifacts/, or in output/TIME/artifacts/, of which the last is taken.
"""

import json
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from leanrag_core.errors import ImportFailed
from leanrag_core.importing.graph import ImportedEntity, ImportedRelation, graph_of
from leanrag_core.importing.rows import Drops, Row, level_of, number_of, read_rows
from leanrag_core.importing.sources import ImportedDocument, Passage, sources_of
from leanrag_core.importing.working_folder import report_of
from leanrag_core.indexing.parsing.blocks import shown_name
from leanrag_core.messages.message import message
from leanrag_core.types.imported import ImportedClaim, ImportedCommunity, ImportedGraph, ImportedReport


def graphrag_communities(
    communities: Path | None, reports: Path | None, nodes: Path | None, relations: Path | None, drops: Drops
) -> tuple[ImportedCommunity, ...]:
    """Return every community with its report. Entities are named by their ids or names, whichever the version keeps.

    nodes: the table from before version 1 that says in which communities an entity is. relations: where a version names
    the relations of a community alone, their ends are its entities.
    """
    if communities is None:
        return ()
    reported = _reports(reports, drops) if reports else {}
    members = _members(nodes, drops) if nodes else {}
    rows = list(read_rows(communities, [("community", "id")], drops))
    ends = {}
    if relations and not members and not any("entity_ids" in row.cells for row in rows):
        ends = {
            row.text("id"): (row.text("source"), row.text("target"))
            for row in read_rows(relations, [("source",), ("target",)], drops)
        }
    parent_of = {child: _id(row) for row in rows for child in row.parts("children")}
    return tuple(_community(row, reported, members, ends, parent_of) for row in rows)


def _community(
    row: Row,
    reported: dict[str, ImportedReport],
    members: dict[str, list[str]],
    ends: dict[str, tuple[str, str]],
    parent_of: dict[str, str],
) -> ImportedCommunity:
    id_ = _id(row)
    names = [*row.parts("entity_ids"), *members.get(id_, ())]
    if not names:
        names = [end for relation in row.parts("relationship_ids") for end in ends.get(relation, ())]
    parent = row.text("parent")
    return ImportedCommunity(
        id_,
        level_of(row.text("level")),
        parent if parent and parent != "-1" else parent_of.get(id_, ""),
        row.text("title") or f"Community {id_}",
        tuple(dict.fromkeys(names)),
        reported.get(id_),
    )


def _id(row: Row) -> str:
    return row.text("community") or row.text("id")


def _members(nodes: Path, drops: Drops) -> dict[str, list[str]]:
    members: dict[str, list[str]] = defaultdict(list)
    for row in read_rows(nodes, [("title",), ("community",)], drops):
        community = row.text("community")
        if community and community != "-1":
            members[community].append(row.text("title"))
    return members


def _reports(path: Path, drops: Drops) -> dict[str, ImportedReport]:
    reports = {}
    for row in read_rows(path, [("community",)], drops):
        values: dict[str, Any] = {
            "title": row.text("title"),
            "summary": row.text("summary") or row.text("full_content"),
            "findings": _findings(row.cells.get("findings")),
        }
        rating = row.text("rank") or row.text("rating")
        reports[row.text("community")] = report_of(values, title=row.text("title"), rating=rating)
    return reports


def _findings(value: Any) -> Any:
    if isinstance(value, str):
        try:
            return json.loads(value)
        except (ValueError, RecursionError):
            return [value]
    return value


# Columns in the order of the fields of a claim.
_CLAIM = (
    *("subject_id", "object_id", "type", "status", "description", "start_date", "end_date", "source_text"),
    "text_unit_id",
)


def graphrag_claims(path: Path | None, drops: Drops) -> Iterator[ImportedClaim]:
    """Yield the claims of the table; a version without one has none."""
    if path is None:
        return
    for row in read_rows(path, [("subject_id",)], drops):
        yield ImportedClaim(*map(row.text, _CLAIM))


_OLD = "create_final_"
_MAX_RUNS = 1000


class Importer:
    """See importing.base."""

    name = "graphrag"
    title = message("import.graphrag.title")
    help = message("import.graphrag.help")

    def recognises(self, path: Path) -> bool:
        """Return whether there are tables of entities and relationships under the names of GraphRAG."""
        return _folder(path) is not None

    def read(self, path: Path) -> ImportedGraph:
        """Read the graph of the tables, with communities, reports and claims."""
        folder = _folder(path)
        if folder is None:
            raise ImportFailed("import.no_file", folder=str(path), name="entities.parquet")
        drops, name = Drops(), shown_name(path.resolve().name)
        units, documents = _table(folder, "text_units"), _table(folder, "documents")
        sources = sources_of(
            _documents(documents, drops) if documents else (),
            _passages(units, drops) if units else (),
            drops,
            name=name,
        )
        entities, relations = _table(folder, "entities"), _table(folder, "relationships")
        assert entities is not None
        assert relations is not None
        return graph_of(
            _entities(entities, drops),
            _relations(relations, drops),
            sources,
            drops,
            name=f"Descriptions in {name}",
            format_name=self.name,
            communities=graphrag_communities(
                _table(folder, "communities"),
                _table(folder, "community_reports"),
                _table(folder, "nodes"),
                relations,
                drops,
            ),
            claims=graphrag_claims(_table(folder, "covariates"), drops),
            notes=() if sources.chunk_of else (message("import.no_chunk_texts", name="text_units.parquet"),),
        )


def _folder(path: Path) -> Path | None:
    if not path.is_dir():
        return None
    runs = sorted(run for run in [*path.glob("*/artifacts"), *path.glob("output/*/artifacts")])[-_MAX_RUNS:]
    for folder in (path, path / "output", path / "artifacts", *reversed(runs)):
        if _table(folder, "entities") is not None and _table(folder, "relationships") is not None:
            return folder
    return None


def _table(folder: Path, name: str) -> Path | None:
    files = (folder / f"{name}.parquet", folder / f"{_OLD}{name}.parquet")
    return next((file for file in files if file.is_file()), None)


def _documents(path: Path, drops: Drops) -> Iterator[ImportedDocument]:
    for row in read_rows(path, [("id",)], drops):
        title = row.text("title")
        yield ImportedDocument(row.text("id"), title, title, row.text("text", "raw_content"))


def _passages(path: Path, drops: Drops) -> Iterator[Passage]:
    for row in read_rows(path, [("id",), ("text", "chunk")], drops):
        documents = row.parts("document_ids") or row.parts("document_id")
        document = documents[0] if documents else ""
        yield Passage(row.place, row.text("id"), row.text("text", "chunk"), document)


def _entities(path: Path, drops: Drops) -> Iterator[ImportedEntity]:
    for row in read_rows(path, [("title", "name")], drops):
        yield ImportedEntity(
            row.place,
            row.text("title", "name"),
            row.text("id"),
            row.text("type"),
            row.text("description"),
            row.parts("text_unit_ids"),
        )


def _relations(path: Path, drops: Drops) -> Iterator[ImportedRelation]:
    for row in read_rows(path, [("source",), ("target",)], drops):
        yield ImportedRelation(
            row.place,
            row.text("source"),
            row.text("target"),
            row.text("description"),
            (),
            number_of(row.text("weight")),
            row.parts("text_unit_ids"),
            row.text("id"),
        )
