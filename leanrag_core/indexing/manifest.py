"""What the manifest of a new index says: all that decides the index, and counts."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from leanrag_core.indexing.identity import fingerprint_of, index_id
from leanrag_core.models.base import EmbeddingModel
from leanrag_core.storage.layout import FORMAT_VERSION
from leanrag_core.types.config import IndexConfig
from leanrag_core.types.corpus import Document
from leanrag_core.types.graph import Layer


def corpus_fingerprint(documents: Sequence[Document]) -> str:
    """Hash of the documents' ids and names."""
    return fingerprint_of((document.id, document.name) for document in documents)


def what_decides(
    documents: Sequence[Document],
    config: IndexConfig,
    extractor: str,
    embedding: EmbeddingModel,
    language: str,
    aggregation: str,
) -> dict[str, Any]:
    """Documents, settings and models by their fingerprints: builds of which these are equal give the same index."""
    return {
        "corpus_fingerprint": corpus_fingerprint(documents),
        "config": asdict(config),
        "extractor": extractor,
        "embedding": {
            "name": embedding.name,
            "fingerprint": embedding.fingerprint,
            "dimension": embedding.dimension,
        },
        "language_model": language,
        "aggregation_model": aggregation,
    }


def manifest_of(
    decides: dict[str, Any],
    n_documents: int,
    n_chunks: int,
    layers: Sequence[Layer],
    kind: str,
    name: str,
    corpus: dict[str, str],
) -> dict[str, Any]:
    """The manifest, without the layers' counts in detail and the files, which are added when these stand."""
    return {
        "format_version": FORMAT_VERSION,
        "id": index_id(decides),
        "name": name or "Untitled index",
        "kind": kind,
        "corpus": corpus,
        **decides,
        "counts": {
            "documents": n_documents,
            "chunks": n_chunks,
            "layers": len(layers),
            "entities": [len(layer) for layer in layers],
            "relations": [layer.relations.num_rows for layer in layers],
        },
        "libraries": _library_versions(),
    }


def _library_versions() -> dict[str, str]:
    from importlib.metadata import version

    return {name: version(name) for name in ("numpy", "pyarrow", "scikit-learn", "spacy", "onnxruntime", "chromadb")}
