"""What `show --json` says of an index."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from leanrag_core.types.build_report import LayerClusters, Spent
from leanrag_core.types.manifest import EmbeddingRecord
from leanrag_core.types.summary import LayerSummary
from leanrag_core.types.updating import LineageStep
from leanrag_core.types.usage import Usage


@dataclass(frozen=True)
class PartDescription:
    """A part of an index, and what it cost apart from the index itself. usage: None for a part whose record does not
    read."""

    name: str
    status: str
    fingerprint: str
    bytes: int
    seconds: float
    usage: Usage | None


@dataclass(frozen=True)
class IndexDescription:
    """What an index holds, in numbers. config: as its manifest records it, by name. empty_chunks: how many.
    lineage: the steps by which an updated index was made."""

    format_version: int
    id: str
    name: str
    kind: str
    builtin_texts: int
    config: Mapping[str, Any]
    embedding: EmbeddingRecord
    documents: int
    chunks: int
    layers: tuple[LayerSummary, ...]
    clustering: tuple[LayerClusters, ...]
    drops: Mapping[str, int]
    empty_chunks: int
    usage: Spent
    parts: tuple[PartDescription, ...]
    lineage: tuple[LineageStep, ...] = ()
