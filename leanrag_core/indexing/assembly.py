"""From a finished hierarchy to the index: tables of documents and chunks, manifest, report."""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa

from leanrag_core.indexing.aggregation.hierarchy import Hierarchy
from leanrag_core.indexing.describe import count_layers
from leanrag_core.indexing.manifest import manifest_of
from leanrag_core.indexing.stages.base_graph import BaseGraph, Findings
from leanrag_core.messages.catalog import sentence
from leanrag_core.types.corpus import Chunk, Document, Refusal
from leanrag_core.types.extraction import Drop
from leanrag_core.types.index import CHUNK_SCHEMA, DOCUMENT_SCHEMA, CorpusTables, Index
from leanrag_core.types.usage import Usage

_EXAMPLES_KEPT = 200  # of the drops of one stage, listed in the report; all are counted
_WHOLE_CHUNK = re.compile(r"chunk \S+")  # drops of these are all listed: they can be asked for again


@dataclass(frozen=True)
class Origin:
    """Where an index comes from. decides: all that decides what it holds; kind: "heuristic graph" or "LLM graph"."""

    decides: dict[str, Any]
    kind: str
    name: str = ""
    corpus: dict[str, str] | None = None
    refusals: tuple[Refusal, ...] = ()


def assemble(
    origin: Origin, tables: CorpusTables, chunk_vectors: np.ndarray, base: BaseGraph, hierarchy: Hierarchy
) -> Index:
    """The index in memory."""
    refused = [Drop("parse", refusal.name, sentence(refusal.reason)) for refusal in origin.refusals]
    drops = [*refused, *base.report.drops, *hierarchy.drops]
    n_documents, n_chunks = tables.documents.num_rows, tables.chunks.num_rows
    manifest = manifest_of(
        origin.decides, n_documents, n_chunks, hierarchy.layers, origin.kind, origin.name, origin.corpus or {}
    )
    index = Index(
        manifest=manifest,
        documents=tables.documents,
        chunks=tables.chunks,
        layers=hierarchy.layers,
        chunk_vectors=chunk_vectors,
        report=build_report(drops, base.report, hierarchy.clustering, base.report.usage + hierarchy.usage),
    )
    by_builtin = sum(drop.by_builtin for drop in drops)
    written = {"builtin_texts": by_builtin} if by_builtin else {}
    return replace(index, manifest={**manifest, **written, "layers": count_layers(index)})


def corpus_tables(documents: Sequence[Document], chunks: Sequence[Chunk]) -> CorpusTables:
    """Documents and chunks as the index holds them."""
    return CorpusTables(_documents_table(documents), _chunks_table(documents, chunks))


def _documents_table(documents: Sequence[Document]) -> pa.Table:
    columns: dict[str, list[Any]] = {
        name: [getattr(document, name) for document in documents] for name in DOCUMENT_SCHEMA.names
    }
    for name in ("pages", "headings", "boilerplate"):  # the cells of a span or heading are its attributes
        columns[name] = [[vars(part) for part in parts] for parts in columns[name]]
    return pa.table(columns, schema=DOCUMENT_SCHEMA)


def _chunks_table(documents: Sequence[Document], chunks: Sequence[Chunk]) -> pa.Table:
    row_of = {document.id: row for row, document in enumerate(documents)}
    columns = {
        "id": [chunk.id for chunk in chunks],
        "document": np.array([row_of[chunk.document_id] for chunk in chunks], dtype=np.int32),
        "start": np.array([chunk.start for chunk in chunks], dtype=np.int32),
        "end": np.array([chunk.end for chunk in chunks], dtype=np.int32),
        "tokens": np.array([chunk.tokens for chunk in chunks], dtype=np.int32),
    }
    return pa.table(columns, schema=CHUNK_SCHEMA)


def build_report(
    drops: Sequence[Drop], findings: Findings, clustering: Sequence[dict[str, Any]], usage: Usage
) -> dict[str, Any]:
    """The report of a build. Drops of whole chunks are all listed, of others the first of each stage."""
    counted = Counter(drop.stage for drop in drops)
    listed: dict[str, list[dict[str, str]]] = {}
    examples: Counter[str] = Counter()
    for drop in drops:
        shown, is_chunk = listed.setdefault(drop.stage, []), _WHOLE_CHUNK.fullmatch(drop.item) is not None
        if is_chunk or examples[drop.stage] < _EXAMPLES_KEPT:
            shown.append({"item": drop.item, "reason": drop.reason})
            examples[drop.stage] += not is_chunk
    spent = asdict(usage)
    spent.pop("seconds")  # clock time would make two equal builds differ
    return {
        "drops": dict(sorted(counted.items())),
        "dropped": listed,
        "aliases": dict(sorted(findings.aliases.items())),
        "empty_chunks": list(findings.empty_chunks),
        "clustering": clustering,
        "usage": spent,
    }
