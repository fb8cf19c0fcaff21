"""Communities of nano-graphrag: clusters that its nodes name, and the store of their reports."""

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Any

from leanrag_core.importing.graphml import GraphNode
from leanrag_core.importing.stores import level_of, number_of, text_of
from leanrag_core.types.graph import Finding
from leanrag_core.types.imported import ImportedCommunity, ImportedReport

_MAX_CLUSTERS = 50  # of a node


def nano_communities(
    nodes: Iterable[GraphNode], reports: Mapping[str, Mapping[str, Any]]
) -> tuple[ImportedCommunity, ...]:
    """Return every cluster with its report, where it has one. Entities are named by the ids of their nodes."""
    members: dict[str, dict[str, None]] = defaultdict(dict)
    levels: dict[str, int] = {}
    parents: dict[str, str] = {}
    for node in nodes:
        before = ""
        for level, cluster in _clusters(node.values.get("clusters", "")):
            members[cluster].setdefault(node.id)
            levels.setdefault(cluster, level)
            if before:
                parents.setdefault(cluster, before)
            before = cluster
    for id_, report in reports.items():
        if id_ not in members and isinstance(report.get("nodes"), list):
            members[id_] |= dict.fromkeys(node for node in report["nodes"] if isinstance(node, str))
            levels[id_] = level_of(report.get("level"))
    return tuple(
        ImportedCommunity(
            id_,
            levels[id_],
            parents.get(id_, ""),
            text_of(reports.get(id_, {}), "title") or f"Cluster {id_}",
            tuple(names),
            _report(reports[id_]) if id_ in reports else None,
        )
        for id_, names in members.items()
    )


def _clusters(text: str) -> list[tuple[int, str]]:
    """Yield level and id of each cluster that a node names, the coarsest first."""
    try:
        listed = json.loads(text) if text else []
    except (ValueError, RecursionError):
        return []
    if not isinstance(listed, list):
        return []
    clusters = []
    for each in listed[:_MAX_CLUSTERS]:
        if isinstance(each, dict) and type(each.get("level")) is int and isinstance(each.get("cluster"), int | str):
            clusters.append((each["level"], str(each["cluster"])))
    return sorted(clusters, key=lambda pair: pair[0])


def _report(row: Mapping[str, Any]) -> ImportedReport:
    report = row.get("report_json")
    if not isinstance(report, dict) or not report:
        return ImportedReport(text_of(row, "title"), text_of(row, "report_string"))
    return report_of(report, title=text_of(row, "title"), rating=report.get("rating"))


def report_of(report: Mapping[str, Any], *, title: str, rating: Any) -> ImportedReport:
    """Return the report in the form in which GraphRAG asks for it: title, summary, rating, findings."""
    findings = report.get("findings")
    listed = findings if isinstance(findings, list) else []
    return ImportedReport(
        text_of(report, "title") or title,
        text_of(report, "summary"),
        number_of(rating),
        tuple(
            Finding(text_of(finding, "summary"), text_of(finding, "explanation"))
            if isinstance(finding, dict)
            else Finding(str(finding), "")
            for finding in listed
        ),
    )
