"""What lists on pages and on the command line show: corpora, documents, indexes, jobs."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from leanrag_core.records import Count
from leanrag_core.types.corpus import Refusal
from leanrag_core.types.recorded_config import RecordedConfig


@dataclass(frozen=True)
class DocumentSummary:
    """A document of a corpus without its text. tokens: cl100k count. pages: 0 where the format has none."""

    id: str
    name: str
    title: str
    media_type: str
    language: str
    characters: int
    tokens: int
    pages: int
    notes: tuple[str, ...] = ()


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
    """What became of each uploaded file; the good ones are in whatever the others were."""

    corpus_id: str
    added: tuple[DocumentSummary, ...]
    duplicates: tuple[Refusal, ...]
    refusals: tuple[Refusal, ...]


@dataclass(frozen=True)
class LayerSummary:
    """Counts of one layer; `clusters` and the like speak of how this layer was grouped into the next one."""

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
    """An index as a list shows it. kind: "heuristic graph" or "LLM graph". apart: the settings that tell it from others
    of the same name, empty where there are none. builtin_texts: aggregated entities and relations that the built-in
    writer wrote, since the language model could not."""

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
    def title(self) -> str:
        """The name, and what tells the index from others of that name."""
        return f"{self.name}, {self.apart}" if self.apart else self.name


@dataclass(frozen=True)
class Damaged:
    """What is there and does not read. reason: a sentence with the remedy."""

    id: str
    reason: str


@dataclass(frozen=True)
class IndexList:
    """The indexes that read, the newest first, and the others."""

    indexes: tuple[IndexSummary, ...]
    damaged: tuple[Damaged, ...]


STAGES = (
    "parse",
    "chunk",
    "extract",
    "merge",
    "embed",
    "cluster",
    "aggregate entities",
    "aggregate relations",
    "index",
)


@dataclass(frozen=True)
class StageState:
    """Where a stage of a job stands. status: waiting, running, done. total: 0 while unknown. found, relations: how many
    names of entities, and relations, the stage has found so far."""

    name: str
    status: str
    done: int = 0
    total: int = 0
    unit: str = ""
    seconds: float = 0.0
    found: int = 0
    relations: int = 0


@dataclass(frozen=True)
class Written:
    """What a build wrote: in which stage, and its text."""

    stage: str
    text: str


@dataclass(frozen=True)
class JobState:
    """A job as its events tell it.

    status: queued, running, done, failed, cancelled, stopped (its budget is spent), interrupted (its process died),
    unknown (of another kind, or with a record that does not read; error says which, and nothing else is known).
    forecast: the Forecast made when it began. spent: the meter's last reading. budget: what it may spend, dollars and
    tokens; 0 means no limit. heard: seconds since its last event. seconds_left: None while unknown. result: id of the
    index that was made. recent: what was written last, the newest first.
    """

    id: str
    title: str
    status: str
    stages: tuple[StageState, ...]
    started: str
    seconds: float
    share: float
    seconds_left: float | None
    current: str
    recent: tuple[Written, ...]
    corpus_id: str
    config: dict[str, Any]
    error: str = ""
    details: str = ""
    result: str | None = None
    report: dict[str, Any] = field(default_factory=dict)
    forecast: dict[str, Any] = field(default_factory=dict)
    spent: dict[str, Any] = field(default_factory=dict)
    heard: float = 0.0
    budget: dict[str, Any] = field(default_factory=dict)
