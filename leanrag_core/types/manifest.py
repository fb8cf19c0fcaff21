"""The record of an index: what it was made of and with, and how much it holds."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any

from annotated_types import Interval, MinLen

from leanrag_core.files.records import Count, FileName, Sha256, ShortText, absent_at_default, plain
from leanrag_core.types.config import IndexConfig
from leanrag_core.types.recorded_config import RecordedConfig
from leanrag_core.types.summary import LayerSummary
from leanrag_core.types.updating import LineageStep

HEURISTIC, BY_MODEL, IMPORTED = "heuristic graph", "LLM graph", "imported graph"  # kinds of a base graph
REFERENCE_GRAPH = "reference graph"  # the kind of one that was written by hand


@dataclass(frozen=True)
class CorpusName:
    """The corpus that an index was built from; both empty where none of the Library was."""

    id: ShortText = absent_at_default("")
    name: ShortText = absent_at_default("")


NO_CORPUS = CorpusName()


@dataclass(frozen=True)
class EmbeddingRecord:
    """The embedding model of an index. fingerprint: of its files or its endpoint's name."""

    name: ShortText
    fingerprint: ShortText
    dimension: Annotated[int, Interval(ge=1, le=2**53)]


@dataclass(frozen=True)
class IndexCounts:
    """How much an index holds; entities and relations by layer, the base first."""

    documents: Count
    chunks: Count
    layers: Annotated[int, Interval(ge=1, le=100)]
    entities: tuple[Count, ...]
    relations: tuple[Count, ...]


@dataclass(frozen=True)
class FileRecord:
    """Size in bytes and hash of a stored file."""

    size: Count
    sha256: Sha256


@dataclass(frozen=True)
class Deciding:
    """All that decides what a build makes: builds of which these are equal give the same index.

    language_model, aggregation_model: fingerprints, "none" for the built-in engine. edits: fingerprint of the edits by
    hand. lineage: the steps by which an updated index was made, the first one first.
    """

    corpus_fingerprint: str
    config: IndexConfig
    extractor: str
    embedding: EmbeddingRecord
    language_model: str
    aggregation_model: str
    edits: str = absent_at_default("")
    lineage: tuple[LineageStep, ...] = absent_at_default(())


@dataclass(frozen=True)
class Manifest:
    """The record of an index, manifest.json. corpus_fingerprint to lineage: see Deciding; empty in an index
    that was not built from documents. builtin_texts: texts that the built-in writer wrote, since
    the model could not or the reference graph has none.
    libraries: versions by name. files: by path below the index's folder, none in an index of before hashes were kept.
    """

    format_version: Count
    id: ShortText
    name: ShortText
    kind: ShortText
    corpus: CorpusName
    config: RecordedConfig
    embedding: EmbeddingRecord
    counts: IndexCounts
    layers: Annotated[tuple[LayerSummary, ...], MinLen(1)]
    corpus_fingerprint: ShortText = absent_at_default("")
    extractor: ShortText = absent_at_default("")
    language_model: ShortText = absent_at_default("")
    aggregation_model: ShortText = absent_at_default("")
    edits: ShortText = absent_at_default("")
    lineage: tuple[LineageStep, ...] = absent_at_default(())
    builtin_texts: Count = absent_at_default(0)
    libraries: Mapping[str, ShortText] = absent_at_default(factory=dict)
    files: Mapping[FileName, FileRecord] = absent_at_default(factory=dict)

    @property
    def heuristic(self) -> bool:
        """Whether the built-in extractor made the graph."""
        return self.kind == HEURISTIC

    def values(self) -> dict[str, Any]:
        """Return the manifest as JSON values, as it is stored."""
        return {**plain(self), "config": self.config.values()}


@dataclass(frozen=True)
class LayerSearch:
    """How a layer is searched by Chroma: so many candidates bring that recall of the ten nearest."""

    __pydantic_config__ = {"extra": "forbid"}  # noqa: RUF012 - read by pydantic

    layer: Count
    rows: Count
    candidates: Count
    recall: Annotated[float, Interval(ge=0, le=1)]


@dataclass(frozen=True)
class SearchRecord:
    """The record of a search index, search.json. files: what must not change, by path below its folder; rows: hash of
    the rows that searches use. Both are missing where a server holds the search index."""

    layers: tuple[LayerSearch, ...]
    files: Mapping[FileName, FileRecord] | None = absent_at_default()
    rows: ShortText | None = absent_at_default()
