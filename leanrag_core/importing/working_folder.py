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

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from leanrag_core.errors import ImportFailed
from leanrag_core.importing.graph import ImportedEntity, ImportedRelation, graph_of
from leanrag_core.importing.graphml import GraphEdge, GraphNode, read_graphml
from leanrag_core.importing.nano_communities import nano_communities
from leanrag_core.importing.recorded_replies import recorded_replies
from leanrag_core.importing.rows import Drops
from leanrag_core.importing.sources import ImportedDocument, Passage, Sources, sources_of
from leanrag_core.importing.stores import number_of, store_rows, text_of
from leanrag_core.indexing.parsing.blocks import shown_name
from leanrag_core.messages.message import Message, message
from leanrag_core.system.threads import collector_paused
from leanrag_core.types.imported import ImportedGraph

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
    documents = [
        _document(id_, row, states.get(id_, {}), chunks) for id_, row in store_rows(folder / DOCUMENTS).items()
    ]
    passages = (
        Passage(f"chunk {id_[:80]}", id_, text_of(row, "content"), text_of(row, "full_doc_id"))
        for id_, row in sorted(chunks.items(), key=lambda pair: number_of(pair[1].get("chunk_order_index")) or 0)
    )
    return sources_of(documents, passages, drops, name=name)


def _document(
    id_: str, row: Mapping[str, Any], state: Mapping[str, Any], chunks: Mapping[str, Mapping[str, Any]]
) -> ImportedDocument:
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
