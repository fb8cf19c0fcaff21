"""What the manifest of a new index says: all that decides the index, and counts."""

import hashlib
from collections.abc import Sequence

from leanrag_core.files.records import plain, to_json
from leanrag_core.indexing.identity import fingerprint_of, index_id
from leanrag_core.models.base import EmbeddingModel
from leanrag_core.storage.layout import FORMAT_VERSION
from leanrag_core.types.config import IndexConfig
from leanrag_core.types.corpus import Document
from leanrag_core.types.manifest import CorpusName, Deciding, EmbeddingRecord, IndexCounts, Manifest
from leanrag_core.types.summary import LayerSummary, RecordedConfig
from leanrag_core.types.updating import EditLog


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
        embedding=EmbeddingRecord(embedding.name, embedding.fingerprint, embedding.dimension),
        language_model=language,
        aggregation_model=aggregation,
    )


def id_of(deciding: Deciding) -> str:
    """Return the id of the index that is built from it."""
    return index_id(plain(deciding))


def edits_fingerprint(log: EditLog) -> str:
    """Return the hash of the edits by hand; empty where there are none."""
    return hashlib.sha256(to_json(log)).hexdigest()[:16] if log.edits else ""


def manifest_of(
    deciding: Deciding,
    *,
    layers: Sequence[LayerSummary],
    n_documents: int,
    n_chunks: int,
    kind: str,
    name: str,
    corpus: CorpusName,
    builtin_texts: int,
) -> Manifest:
    """Make the manifest without its files, which are recorded when they are written. layers: counts of each layer."""
    return Manifest(
        format_version=FORMAT_VERSION,
        id=id_of(deciding),
        name=name or "Untitled index",
        kind=kind,
        corpus=corpus,
        config=RecordedConfig.of(deciding.config),
        embedding=deciding.embedding,
        counts=counts_of(layers, n_documents, n_chunks),
        layers=tuple(layers),
        corpus_fingerprint=deciding.corpus_fingerprint,
        extractor=deciding.extractor,
        language_model=deciding.language_model,
        aggregation_model=deciding.aggregation_model,
        edits=deciding.edits,
        lineage=deciding.lineage,
        builtin_texts=builtin_texts,
        libraries=_library_versions(),
    )


def counts_of(layers: Sequence[LayerSummary], n_documents: int, n_chunks: int) -> IndexCounts:
    """Return how much an index of those layers holds."""
    entities, relations = tuple(row.entities for row in layers), tuple(row.relations for row in layers)
    return IndexCounts(n_documents, n_chunks, len(layers), entities, relations)


def _library_versions() -> dict[str, str]:
    from importlib.metadata import version

    return {name: version(name) for name in ("numpy", "pyarrow", "scikit-learn", "spacy", "onnxruntime", "chromadb")}
