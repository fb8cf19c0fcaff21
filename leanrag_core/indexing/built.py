"""Whether an index is there already, so that a resumed build has nothing to do."""

from collections.abc import Sequence
from pathlib import Path

from leanrag_core.errors import IndexNotFound
from leanrag_core.indexing.build import in_build_order
from leanrag_core.indexing.manifest import corpus_fingerprint
from leanrag_core.storage.layout import read_manifest
from leanrag_core.types.config import IndexConfig
from leanrag_core.types.corpus import Document


def is_built(out: Path, config: IndexConfig, documents: Sequence[Document]) -> bool:
    """Return whether the folder holds the index of these documents with these settings."""
    try:
        manifest = read_manifest(out)
    except IndexNotFound:
        return False
    fingerprint = corpus_fingerprint(in_build_order(documents))
    return manifest.config.is_of(config) and manifest.corpus_fingerprint == fingerprint
