"""What an index's id and its corpus's fingerprint follow from."""

import hashlib
import json
from collections.abc import Iterable, Mapping
from typing import Any

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
