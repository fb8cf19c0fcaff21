"""The records of a finished index and of its parts, and its description."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any

from annotated_types import Interval, MinLen

from leanrag_core.files.records import Count, FileName, Sha256, ShortText, absent_at_default, plain
from leanrag_core.messages.message import Message
from leanrag_core.types.build_report import LayerClusters, Spent
from leanrag_core.types.calls import NO_USAGE, Usage
from leanrag_core.types.config import IndexConfig
from leanrag_core.types.cosines import BUILTIN_COSINES, Cosines
from leanrag_core.types.job import Coverage
from leanrag_core.types.summary import LayerSummary, RecordedConfig
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
    """The embedding model of an index. fingerprint: of its files or its endpoint's name. cosines: what they mean."""

    name: ShortText
    fingerprint: ShortText
    dimension: Annotated[int, Interval(ge=1, le=2**53)]
    cosines: Cosines = absent_at_default(BUILTIN_COSINES)


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
    """The record of an index, manifest.json. corpus_fingerprint to lineage: see Deciding; empty in an index that was
    not built from documents. builtin_texts: texts that the built-in writer wrote, since the model could not or the
    reference graph has none. libraries: versions by name. files: by path below the index's folder, none in an index
    from before hashes were kept.
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

    @property
    def coverage(self) -> Coverage | None:
        """How much of the documents the graph covers; None without chunks."""
        if not self.chunks:
            return None
        relations = self.layers[0].relations if self.layers else 0
        return Coverage(self.chunks, self.chunks - self.empty_chunks, relations / self.chunks)


# What a part may rest on, beside a language model ("language") and other parts, by their names.
ENTITIES, RELATIONS, CHUNKS, VECTORS = "entities", "relations", "chunks", "vectors"
LANGUAGE = "language"
INDEX_NEEDS = (ENTITIES, RELATIONS, CHUNKS, VECTORS, LANGUAGE)

FINISHED, UNFINISHED, DAMAGED, ABSENT = "finished", "unfinished", "damaged", "absent"

Scalar = str | int | float | bool | None


@dataclass(frozen=True)
class PartRecord:
    """The record of a finished part, part.json.

    rests_on: a digest for each thing that the part needs. seconds: how long it took to make. usage: of models. files:
    those that never change, by path below the part's folder.
    """

    name: ShortText
    fingerprint: ShortText
    config: Mapping[str, Scalar]
    rests_on: Mapping[str, ShortText]
    seconds: float
    usage: Usage = NO_USAGE
    files: Mapping[FileName, FileRecord] = field(default_factory=dict)


@dataclass(frozen=True)
class PartState:
    """A part of an index as lists show it.

    status: finished, unfinished (its job was stopped; it can be resumed), damaged, absent. fingerprint: of the part as
    it would be made now, or as it is stored. offered: whether this index should have it. seconds, usage, size_bytes:
    its cost, 0 when it is absent. problem: what is wrong with it.
    """

    name: str
    title: Message
    help: Message
    status: str
    fingerprint: str
    needs: tuple[str, ...]
    offered: bool = False
    config: Mapping[str, Scalar] = field(default_factory=dict)
    seconds: float = 0.0
    usage: Usage = NO_USAGE
    size_bytes: int = 0
    problem: Message | None = None

    @property
    def finished(self) -> bool:
        """Whether strategies can use it."""
        return self.status == FINISHED
