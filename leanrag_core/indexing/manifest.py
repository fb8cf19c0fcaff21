"""The record of an index, the identity that it rests on, and its description."""

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from typing import Any

import numpy as np

from leanrag_core.files.records import plain, to_json
from leanrag_core.models.base import EmbeddingModel, cosines_of
from leanrag_core.storage.layout import FORMAT_VERSION
from leanrag_core.storage.part_store import PartStore, StoredPart
from leanrag_core.types.config import IndexConfig
from leanrag_core.types.corpus import Document
from leanrag_core.types.extraction import Drop
from leanrag_core.types.graph import Layer, component_of_each
from leanrag_core.types.index import CorpusTables, Index
from leanrag_core.types.manifest import (
    CorpusName,
    Deciding,
    EmbeddingRecord,
    IndexCounts,
    IndexDescription,
    Manifest,
    PartDescription,
)
from leanrag_core.types.summary import LayerSummary, RecordedConfig
from leanrag_core.types.updating import EditLog

# Values of a manifest that decide what the index holds.
_DECIDING = (
    "corpus_fingerprint",
    "config",
    "extractor",
    "embedding",
    "language_model",
    "aggregation_model",
    "edits",
    "lineage",
)


def index_id(manifest: Mapping[str, Any]) -> str:
    """Return the id of an index with that manifest."""
    deciding = {name: manifest[name] for name in _DECIDING if name in manifest}
    return f"index-{hashlib.sha256(json.dumps(deciding, sort_keys=True).encode()).hexdigest()[:16]}"


def fingerprint_of(documents: Iterable[tuple[str, str]]) -> str:
    """Return the hash of the documents' ids and names, in the order of the index."""
    listing = json.dumps([list(document) for document in documents])
    return hashlib.sha256(listing.encode()).hexdigest()[:16]


def corpus_fingerprint(documents: Sequence[Document]) -> str:
    """Return the hash of the documents' ids and names."""
    return fingerprint_of((document.id, document.name) for document in documents)


def what_decides(
    documents: Sequence[Document],
    config: IndexConfig,
    extractor: str,
    embedding: EmbeddingModel,
    language: str,
    aggregation: str,
) -> Deciding:
    """Return the documents, settings and models by their fingerprints."""
    return Deciding(
        corpus_fingerprint=corpus_fingerprint(documents),
        config=config,
        extractor=extractor,
        embedding=EmbeddingRecord(embedding.name, embedding.fingerprint, embedding.dimension, cosines_of(embedding)),
        language_model=language,
        aggregation_model=aggregation,
    )


def id_of(deciding: Deciding) -> str:
    """Return the id of the index that these values decide."""
    return index_id(plain(deciding))


def edits_fingerprint(log: EditLog) -> str:
    """Return the hash of the edits by hand; empty where there are none."""
    return hashlib.sha256(to_json(log)).hexdigest()[:16] if log.edits else ""


def manifest_of(
    deciding: Deciding,
    layers: Sequence[Layer],
    tables: CorpusTables,
    drops: Iterable[Drop],
    *,
    kind: str,
    name: str,
    corpus: CorpusName,
) -> Manifest:
    """Make the manifest of an index of those layers, documents and chunks, without its files, which are recorded when
    they are written. drops: of its build, some of which tell that the built-in writer wrote in a model's place."""
    counted = count_layers(layers)
    return Manifest(
        format_version=FORMAT_VERSION,
        id=id_of(deciding),
        name=name or "Untitled index",
        kind=kind,
        corpus=corpus,
        config=RecordedConfig.of(deciding.config),
        embedding=deciding.embedding,
        counts=counts_of(counted, tables.documents.num_rows, tables.chunks.num_rows),
        layers=counted,
        corpus_fingerprint=deciding.corpus_fingerprint,
        extractor=deciding.extractor,
        language_model=deciding.language_model,
        aggregation_model=deciding.aggregation_model,
        edits=deciding.edits,
        lineage=deciding.lineage,
        builtin_texts=sum(drop.by_builtin for drop in drops),
        libraries=_library_versions(),
    )


def counts_of(layers: Sequence[LayerSummary], n_documents: int, n_chunks: int) -> IndexCounts:
    """Return how much an index of those layers holds."""
    entities, relations = tuple(row.entities for row in layers), tuple(row.relations for row in layers)
    return IndexCounts(n_documents, n_chunks, len(layers), entities, relations)


def _library_versions() -> dict[str, str]:
    return {name: _version(name) for name in ("numpy", "pyarrow", "scikit-learn", "spacy", "onnxruntime", "chromadb")}


@cache
def _version(library: str) -> str:
    """Return the version of the installed library, which is read from its files once."""
    from importlib.metadata import version

    return version(library)


def describe(index: Index) -> IndexDescription:
    """Return the result of `show`: counts by layer, how each was clustered, drops, usage."""
    manifest, report = index.manifest, index.report
    return IndexDescription(
        format_version=manifest.format_version,
        id=manifest.id,
        name=manifest.name,
        kind=manifest.kind,
        builtin_texts=manifest.builtin_texts,
        config=manifest.config.values(),
        embedding=manifest.embedding,
        documents=manifest.counts.documents,
        chunks=manifest.counts.chunks,
        layers=manifest.layers,
        clustering=report.clustering,
        drops=report.drops,
        empty_chunks=len(report.empty_chunks),
        usage=report.usage,
        lineage=manifest.lineage,
        parts=tuple(map(_described_part, PartStore(index.path).all())) if index.path is not None else (),
    )


def _described_part(part: StoredPart) -> PartDescription:
    record = part.record
    return PartDescription(
        name=part.name,
        status=part.status,
        fingerprint=part.fingerprint,
        bytes=part.size_bytes,
        seconds=record.seconds if record is not None else 0.0,
        usage=record.usage if record is not None else None,
    )


def count_layers(layers: Sequence[Layer]) -> tuple[LayerSummary, ...]:
    """Count entities, relations and clusters of every layer; a build stores the counts in the manifest."""
    rows = []
    for number, layer in enumerate(layers):
        counted = layer.relations["kind"].value_counts()
        kinds = dict(zip(counted.field("values").to_pylist(), counted.field("counts").to_pylist(), strict=True))
        sizes = np.bincount(layer.parent) if len(layer.parent) else np.zeros(0, dtype=int)
        rows.append(
            LayerSummary(
                layer=number,
                entities=len(layer),
                relations=layer.relations.num_rows,
                summarised=kinds.get("summarised", 0),
                concatenated=kinds.get("concatenated", 0),
                clusters=len(sizes),
                largest_cluster=int(sizes.max()) if len(sizes) else 0,
                components=len(np.bincount(component_of_each(len(layer), layer.ends))),
            )
        )
    return tuple(rows)
