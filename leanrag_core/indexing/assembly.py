"""From a finished hierarchy to the index: tables of documents and chunks, manifest, report."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from leanrag_core.indexing.aggregation.hierarchy import Hierarchy
from leanrag_core.indexing.describe import count_layers
from leanrag_core.indexing.manifest import manifest_of
from leanrag_core.indexing.stages.base_graph import BaseGraph, Findings
from leanrag_core.messages.catalog import sentence
from leanrag_core.storage.layout import calls_table
from leanrag_core.types.build_report import BuildReport, DroppedItem, LayerClusters, Spent
from leanrag_core.types.calls import Usage
from leanrag_core.types.corpus import Chunk, Document, Refusal
from leanrag_core.types.extraction import Drop
from leanrag_core.types.index import CHUNK_SCHEMA, DOCUMENT_SCHEMA, CorpusTables, Index
from leanrag_core.types.manifest import NO_CORPUS, CorpusName, Deciding
from leanrag_core.types.updating import UpdateReport

_EXAMPLES_KEPT = 200  # of the drops of one stage, listed in the report; all are counted


@dataclass(frozen=True)
class Origin:
    """Where an index comes from. deciding: all that decides what it holds; kind: "heuristic graph" or "LLM graph"."""

    deciding: Deciding
    kind: str
    name: str = ""
    corpus: CorpusName = NO_CORPUS
    refusals: tuple[Refusal, ...] = ()


def assemble(
    origin: Origin,
    tables: CorpusTables,
    chunk_vectors: np.ndarray,
    base: BaseGraph,
    hierarchy: Hierarchy,
    update: UpdateReport | None = None,
) -> Index:
    """Make the index in memory. chunk_vectors: (n_chunks, d) float32. update: the changes, for an updated index."""
    refused = [Drop("parse", refusal.name, sentence(refusal.reason)) for refusal in origin.refusals]
    drops = [*refused, *base.report.drops, *hierarchy.drops]
    manifest = manifest_of(
        origin.deciding,
        layers=count_layers(hierarchy.layers),
        n_documents=tables.documents.num_rows,
        n_chunks=tables.chunks.num_rows,
        kind=origin.kind,
        name=origin.name,
        corpus=origin.corpus,
        builtin_texts=sum(drop.by_builtin for drop in drops),
    )
    return Index(
        manifest=manifest,
        documents=tables.documents,
        chunks=tables.chunks,
        layers=hierarchy.layers,
        chunk_vectors=chunk_vectors,
        report=build_report(drops, base.report, hierarchy.clustering, base.report.usage + hierarchy.usage, update),
        calls=calls_table([*base.calls, *hierarchy.calls]),
    )


def corpus_tables(documents: Sequence[Document], chunks: Sequence[Chunk]) -> CorpusTables:
    """Return the documents and chunks as the index holds them."""
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
    drops: Sequence[Drop],
    findings: Findings,
    clustering: Sequence[LayerClusters],
    usage: Usage,
    update: UpdateReport | None = None,
) -> BuildReport:
    """Return the report of a build. Drops of whole chunks are all listed, of others the first of each stage."""
    counted = Counter(drop.stage for drop in drops)
    listed: dict[str, list[DroppedItem]] = {}
    examples: Counter[str] = Counter()
    for drop in drops:
        shown = listed.setdefault(drop.stage, [])
        if drop.chunk or examples[drop.stage] < _EXAMPLES_KEPT:
            shown.append(DroppedItem(drop.item, drop.reason, drop.chunk, drop.by_builtin))
            examples[drop.stage] += not drop.chunk
    return BuildReport(
        drops=dict(counted),
        dropped={stage: tuple(items) for stage, items in listed.items()},
        aliases=findings.aliases,
        empty_chunks=tuple(findings.empty_chunks),
        clustering=tuple(clustering),
        usage=Spent(usage.calls, usage.prompt_tokens, usage.completion_tokens, usage.cost),
        edits=findings.edits,
        update=update,
    )
