"""What lists on pages and on the command line show: corpora, documents, indexes."""

from dataclasses import dataclass
from pathlib import Path

from leanrag_core.files.records import Count, absent_at_default
from leanrag_core.types.corpus import Refusal
from leanrag_core.types.recorded_config import RecordedConfig


@dataclass(frozen=True)
class DocumentSummary:
    """A document of a corpus without its text. tokens: cl100k count. pages: 0 where the format has none.

    read_as: the id that its file alone gave, where running heads were put back since; else empty.
    """

    id: str
    name: str
    title: str
    media_type: str
    language: str
    characters: int
    tokens: int
    pages: int
    notes: tuple[str, ...] = ()
    read_as: str = absent_at_default("")


@dataclass(frozen=True)
class CorpusSummary:
    """A corpus as a card shows it. created: ISO 8601, UTC."""

    id: str
    name: str
    description: str
    sample: bool
    documents: int
    tokens: int
    created: str


@dataclass(frozen=True)
class UploadReport:
    """What became of each uploaded file. The readable ones are in the corpus, even when others could not be read."""

    corpus_id: str
    added: tuple[DocumentSummary, ...]
    duplicates: tuple[Refusal, ...]
    refusals: tuple[Refusal, ...]


@dataclass(frozen=True)
class LayerSummary:
    """Counts of one layer. clusters, largest_cluster: of the clusters that make the next layer."""

    __pydantic_config__ = {"extra": "forbid"}  # noqa: RUF012 - read by pydantic

    layer: Count
    entities: Count
    relations: Count
    summarised: Count
    concatenated: Count
    clusters: Count
    largest_cluster: Count
    components: Count


@dataclass(frozen=True)
class IndexSummary:
    """An index as a list shows it. kind: see types.manifest. apart: the settings that tell it from others
    of the same name, empty where there are none. builtin_texts: aggregated entities and relations that the built-in
    writer wrote, since the language model could not or nobody wrote them by hand."""

    id: str
    name: str
    corpus_id: str
    corpus_name: str
    created: str
    kind: str
    config: RecordedConfig
    documents: int
    chunks: int
    layers: tuple[LayerSummary, ...]
    path: Path
    size_bytes: int
    apart: str = ""
    builtin_texts: int = 0

    @property
    def aggregated_texts(self) -> int:
        """Aggregated entities and summarised relations of all layers."""
        return sum(layer.entities + layer.summarised for layer in self.layers[1:])

    @property
    def title(self) -> str:
        """The name, and what distinguishes the index from others of that name."""
        return f"{self.name}, {self.apart}" if self.apart else self.name


@dataclass(frozen=True)
class Damaged:
    """Something stored that does not read. reason: a sentence with the remedy."""

    id: str
    reason: str


@dataclass(frozen=True)
class IndexList:
    """The indexes that read, the newest first, and the others."""

    indexes: tuple[IndexSummary, ...]
    damaged: tuple[Damaged, ...]
