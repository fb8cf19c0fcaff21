"""Communities, reports and claims of Microsoft GraphRAG, in the columns of its versions."""

import json
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from leanrag_core.importing.nano_communities import report_of
from leanrag_core.importing.rows import Drops, Row, read_rows
from leanrag_core.importing.stores import level_of
from leanrag_core.types.imported import ImportedClaim, ImportedCommunity, ImportedReport


def graphrag_communities(
    communities: Path | None, reports: Path | None, nodes: Path | None, relations: Path | None, drops: Drops
) -> tuple[ImportedCommunity, ...]:
    """Return every community with its report. Entities are named by their ids or names, whichever the version keeps.

    nodes: the table of before version 1 that says in which communities an entity is. relations: where a version names
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


def graphrag_claims(path: Path | None, drops: Drops) -> Iterator[ImportedClaim]:
    """Yield the claims of the table; a version without one has none."""
    if path is None:
        return
    for row in read_rows(path, [("subject_id",)], drops):
        yield ImportedClaim(
            row.text("subject_id"),
            row.text("object_id"),
            row.text("type"),
            row.text("status"),
            row.text("description"),
            row.text("start_date"),
            row.text("end_date"),
            row.text("source_text"),
            row.text("text_unit_id"),
        )
