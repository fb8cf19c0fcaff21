"""Working folders of LightRAG and nano-graphrag: the graph as GraphML, passages and documents in JSON stores.

graph_chunk_entity_relation.graphml    entities and relations; nano-graphrag notes each entity's clusters
kv_store_text_chunks.json              texts of the chunks
kv_store_full_docs.json                texts of the documents
kv_store_doc_status.json               LightRAG: names of the documents
kv_store_entity_chunks.json, kv_store_relation_chunks.json   LightRAG: all chunks, where the graph holds the first ones
kv_store_community_reports.json        nano-graphrag: communities and their reports
kv_store_llm_response_cache.json       recorded replies, which are counted

Vectors (vdb_*.json) are of another embedding model and are not read.
"""

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import ParseError

from leanrag_core.errors import ImportFailed, ReplyError
from leanrag_core.importing.graph import ImportedEntity, ImportedRelation, graph_of
from leanrag_core.importing.rows import Drops, level_of, number_of, store_rows, text_of
from leanrag_core.importing.sources import ImportedDocument, Passage, Sources, sources_of
from leanrag_core.indexing.extraction.delimited import parse_delimited
from leanrag_core.indexing.parsing.blocks import shown_name
from leanrag_core.messages.message import Message, message
from leanrag_core.system.threads import collector_paused
from leanrag_core.text.plain_words import in_words
from leanrag_core.types.extraction import Drop, Mention, RelationMention
from leanrag_core.types.graph import Finding
from leanrag_core.types.imported import ImportedCommunity, ImportedGraph, ImportedReport

MAX_GRAPHML_BYTES = 1_000_000_000
_HEAD_BYTES = 20_000


@dataclass(frozen=True)
class GraphNode:
    """A node with its attributes by name."""

    id: str
    values: dict[str, str]


@dataclass(frozen=True)
class GraphEdge:
    """An edge with its attributes by name. id: empty where it has none."""

    id: str
    source: str
    target: str
    values: dict[str, str]


@dataclass(frozen=True)
class GraphFile:
    """Nodes and edges in the order of the file."""

    nodes: tuple[GraphNode, ...]
    edges: tuple[GraphEdge, ...]


def graphml_head(path: Path) -> str:
    """Read the beginning of the file, which declares the attributes."""
    with path.open("rb") as file:
        return file.read(_HEAD_BYTES).decode("utf-8", "replace")


def read_graphml(path: Path) -> GraphFile:
    """Read the nodes and edges of the file. Raises ImportFailed for a file that is too large, no XML, or declares a
    document type or entities."""
    from defusedxml.common import DefusedXmlException
    from defusedxml.ElementTree import iterparse

    nodes: list[GraphNode] = []
    edges: list[GraphEdge] = []
    names: dict[str, str] = {}
    try:
        if path.stat().st_size > MAX_GRAPHML_BYTES:
            raise ImportFailed("import.too_large", file=shown_name(path.name), limit=MAX_GRAPHML_BYTES)
        with path.open("rb") as file:
            for _, element in iterparse(file, events=("end",), forbid_dtd=True):
                kind = _local(element.tag)
                if kind == "key":
                    names[element.get("id", "")] = element.get("attr.name", "")
                elif kind == "node":
                    nodes.append(GraphNode(element.get("id", ""), _values(element, names)))
                    element.clear()
                elif kind == "edge":
                    ends = element.get("source", ""), element.get("target", "")
                    edges.append(GraphEdge(element.get("id", ""), *ends, _values(element, names)))
                    element.clear()
    except (OSError, ParseError, DefusedXmlException, ValueError) as error:
        reason = in_words(error)[:300]
        if isinstance(error, DefusedXmlException):
            reason = "it declares a document type or entities, which is not allowed"
        raise ImportFailed("import.unreadable", file=shown_name(path.name), reason=reason) from error
    return GraphFile(tuple(nodes), tuple(edges))


def _values(element: Any, names: dict[str, str]) -> dict[str, str]:
    values: dict[str, str] = {}
    for child in element:
        if _local(child.tag) == "data":
            key = child.get("key", "")
            values[names.get(key) or key] = child.text or ""
    return values


@lru_cache(maxsize=256)
def _local(tag: Any) -> str:
    return str(tag).rpartition("}")[2]


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
    """Return level and id of each cluster that a node names, the coarsest first."""
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


_MAX_COMPARISONS = 2_000_000  # of a reply's name with a chunk
_MIN_SHARE = 0.5  # of the names of a reply that must be in its chunk


@dataclass(frozen=True)
class RecordedReply:
    """A reply. chunk: id of the chunk that it is about; empty where that is not recorded."""

    key: str
    text: str
    chunk: str = ""

    @property
    def is_extraction(self) -> bool:
        """Whether it holds entities and relations in the delimited form."""
        return "<|>" in self.text


@dataclass(frozen=True)
class ParsedReply:
    """What a reply of extraction holds. chunk: empty where no chunk has half of its names."""

    key: str
    mentions: tuple[Mention, ...]
    relations: tuple[RelationMention, ...]
    drops: tuple[Drop, ...]
    chunk: str = ""


def recorded_replies(path: Path) -> tuple[RecordedReply, ...]:
    """Read all replies of the store, none for a file that is absent. LightRAG once kept them by mode, one level
    deeper."""
    replies: list[RecordedReply] = []
    for key, row in store_rows(path).items():
        rows: Mapping[str, Any] = {key: row} if "return" in row else row
        replies += [
            RecordedReply(name, text_of(each, "return"), text_of(each, "chunk_id"))
            for name, each in rows.items()
            if isinstance(each, dict) and "return" in each
        ]
    return tuple(replies)


def parsed_replies(replies: Sequence[RecordedReply], texts: Mapping[str, str]) -> tuple[ParsedReply, ...]:
    """Parse the replies of extraction, each with its chunk. texts: of the chunks, by id.

    A reply whose chunk is not recorded belongs to the chunk that has most of its names.
    """
    folded = {id_: text.casefold() for id_, text in texts.items()}
    room = _MAX_COMPARISONS
    parsed: list[ParsedReply] = []
    for reply in replies:
        if not reply.is_extraction:
            continue
        try:
            read = parse_delimited(reply.text, reply.chunk or reply.key)
        except ReplyError:
            continue
        chunk = reply.chunk if reply.chunk in texts else ""
        names = {mention.name.casefold() for mention in read.mentions}
        if not chunk and names and room > 0:
            room -= len(names) * len(folded)
            chunk = _chunk_with(names, folded)
        parsed.append(ParsedReply(reply.key, tuple(read.mentions), tuple(read.relations), tuple(read.drops), chunk))
    return tuple(parsed)


def _chunk_with(names: set[str], texts: Mapping[str, str]) -> str:
    shares = {id_: sum(name in text for name in names) / len(names) for id_, text in texts.items()}
    best = max(shares, key=lambda id_: shares[id_], default="")
    return best if best and shares[best] >= _MIN_SHARE else ""


GRAPH = "graph_chunk_entity_relation.graphml"
CHUNKS, DOCUMENTS = "kv_store_text_chunks.json", "kv_store_full_docs.json"
REPORTS = "kv_store_community_reports.json"
CACHE = "kv_store_llm_response_cache.json"
_SEPARATOR = "<SEP>"
_MAX_SUBFOLDERS = 200
_NO_NAME = ("", "unknown_source", "no-file-path")


def working_folder(path: Path) -> Path | None:
    """Return the folder with the graph: the path itself, or the only folder in it that has one (a workspace of
    LightRAG)."""
    if path.is_file():
        return path.parent if path.name == GRAPH else None
    if (path / GRAPH).is_file():
        return path
    if not path.is_dir():
        return None
    inside = sorted(path.iterdir())[:_MAX_SUBFOLDERS]
    folders = [folder for folder in inside if not folder.is_symlink() and (folder / GRAPH).is_file()]
    return folders[0] if len(folders) == 1 else None


def read_working_folder(path: Path, format_name: str) -> ImportedGraph:
    """Read the graph of the folder with its sources, communities and reports."""
    folder = working_folder(path)
    if folder is None:
        if (path / CACHE).is_file():
            raise ImportFailed("import.no_graph_but_replies", folder=str(path), name=GRAPH)
        raise ImportFailed("import.no_file", folder=str(path), name=GRAPH)
    drops, name = Drops(), shown_name(folder.resolve().name)
    with collector_paused():
        chunks, graph = store_rows(folder / CHUNKS), read_graphml(folder / GRAPH)
    sources = folder_sources(folder, chunks, drops, name)
    entity_chunks, relation_chunks = (
        store_rows(folder / f"kv_store_{kind}_chunks.json") for kind in ("entity", "relation")
    )
    return graph_of(
        (_entity(node, entity_chunks) for node in graph.nodes),
        (_relation(place, edge, relation_chunks) for place, edge in enumerate(graph.edges, 1)),
        sources,
        drops,
        name=f"Descriptions in {name}",
        format_name=format_name,
        communities=nano_communities(graph.nodes, store_rows(folder / REPORTS)),
        notes=_notes(folder, sources),
    )


def folder_sources(folder: Path, chunks: Mapping[str, Mapping[str, Any]], drops: Drops, name: str) -> Sources:
    """Read documents and passages of such a folder. name: of the document of passages that name none."""
    states = store_rows(folder / "kv_store_doc_status.json")
    documents = [_document(id_, row, states.get(id_, {})) for id_, row in store_rows(folder / DOCUMENTS).items()]
    passages = (
        Passage(f"chunk {id_[:80]}", id_, text_of(row, "content"), text_of(row, "full_doc_id"))
        for id_, row in sorted(chunks.items(), key=lambda pair: number_of(pair[1].get("chunk_order_index")) or 0)
    )
    return sources_of(documents, passages, drops, name=name)


def _document(id_: str, row: Mapping[str, Any], state: Mapping[str, Any]) -> ImportedDocument:
    text = text_of(row, "content")
    name = text_of(row, "file_path") or text_of(state, "file_path")
    first_line = next((line.strip("#\ufeff ") for line in text.splitlines() if line.strip("#\ufeff ")), "")
    return ImportedDocument(id_, "" if name in _NO_NAME else Path(name).name, first_line[:100], text)


def _entity(node: GraphNode, chunks_of: Mapping[str, Mapping[str, Any]]) -> ImportedEntity:
    name = unquoted(node.values.get("entity_id") or node.id)
    return ImportedEntity(
        f"node {node.id[:80]}",
        name,
        node.id,
        unquoted(node.values.get("entity_type", "")),
        joined(node.values.get("description", "")),
        _sources(node.values, chunks_of.get(node.id)),
    )


def _relation(place: int, edge: GraphEdge, chunks_of: Mapping[str, Mapping[str, Any]]) -> ImportedRelation:
    listed = chunks_of.get(f"{edge.source}{_SEPARATOR}{edge.target}") or chunks_of.get(
        f"{edge.target}{_SEPARATOR}{edge.source}"
    )
    words = edge.values.get("keywords", "").replace(_SEPARATOR, ",").replace(";", ",").replace("，", ",")
    return ImportedRelation(
        f"edge {place}",
        edge.source,
        edge.target,
        joined(edge.values.get("description", "")),
        tuple(dict.fromkeys(unquoted(word) for word in words.split(",") if unquoted(word))),
        number_of(edge.values.get("weight")),
        _sources(edge.values, listed),
    )


def _sources(values: Mapping[str, str], listed: Mapping[str, Any] | None) -> tuple[str, ...]:
    """Return the ids of chunks: those of the graph, which LightRAG may have cut, and those of its store."""
    ids = [id_.strip() for id_ in values.get("source_id", "").split(_SEPARATOR)]
    stored = listed.get("chunk_ids") if listed else None
    if isinstance(stored, list):
        ids += [id_ for id_ in stored if isinstance(id_, str)]
    return tuple(dict.fromkeys(id_ for id_ in ids if id_ and id_ != "UNKNOWN"))


def unquoted(text: str) -> str:
    """Return the text without the quotes that nano-graphrag stores around it."""
    return text.strip().strip('"').strip()


def joined(text: str, separator: str = _SEPARATOR) -> str:
    """Join the descriptions between the separators, each once."""
    return " ".join(dict.fromkeys(part for part in map(unquoted, text.split(separator)) if part))


def _notes(folder: Path, sources: Sources) -> tuple[Message, ...]:
    notes: tuple[Message, ...] = () if sources.chunk_of else (message("import.no_chunk_texts", name=CHUNKS),)
    replies = recorded_replies(folder / CACHE)
    if replies:
        n_extractions = sum(reply.is_extraction for reply in replies)
        notes = (*notes, message("import.recorded_replies", n=len(replies), extractions=n_extractions))
    return notes
