"""What lists on pages and on the command line show, and the settings of an index as its record keeps them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, Self

from leanrag_core.errors import InvalidConfig, RecordDamaged
from leanrag_core.files.records import Count, absent_at_default, from_values, may_be_absent, plain
from leanrag_core.types.config import IndexConfig
from leanrag_core.types.corpus import Refusal


@dataclass(frozen=True)
class RecordedConfig(IndexConfig):
    """The settings as an index records them. No bounds: another version may have had others.

    lacking: settings that the record does not have; they hold today's defaults. others: settings that this version
    does not know, as JSON values.
    """

    lacking: tuple[str, ...] = absent_at_default(())
    others: Mapping[str, Any] = absent_at_default(factory=dict)

    def __post_init__(self) -> None:
        """Skip the checks of the base class: what was recorded is kept as it is."""

    @classmethod
    def of(cls, config: IndexConfig) -> Self:
        """Record those settings."""
        return cls(**_settings(config))

    def noting(self, values: Mapping[str, Any]) -> "RecordedConfig":
        """Return the same settings with what their JSON values lack, and what else they have."""
        known = _settings(self)
        lacking = tuple(
            spec.name for spec in fields(IndexConfig) if spec.name not in values and not may_be_absent(spec)
        )
        return RecordedConfig(
            **known, lacking=lacking, others={name: value for name, value in values.items() if name not in known}
        )

    def checked(self) -> IndexConfig:
        """Return the settings as this version takes them. Raises InvalidConfig for those of another version."""
        if self.others:
            raise InvalidConfig("config.other_version")
        try:
            return IndexConfig(**_settings(self))
        except (TypeError, ValueError) as error:
            raise InvalidConfig("config.other_version") from error

    def is_of(self, config: IndexConfig) -> bool:
        """Return whether these settings and no others were recorded."""
        return self == RecordedConfig.of(config)

    def by_name(self) -> dict[str, Any]:
        """Return every setting, those of another version too."""
        return _settings(self) | dict(self.others)

    def values(self) -> dict[str, Any]:
        """Return the settings as JSON values, as they are stored."""
        known = plain(RecordedConfig.of(self))
        return {name: value for name, value in known.items() if name not in self.lacking} | dict(self.others)


def recorded_config(values: Mapping[str, Any]) -> RecordedConfig:
    """Read the settings from their JSON values. Raises InvalidConfig for values of another type."""
    try:
        return from_values(RecordedConfig, values).noting(values)
    except RecordDamaged as error:
        raise InvalidConfig("config.other_version") from error


def _settings(config: IndexConfig) -> dict[str, Any]:
    return {spec.name: getattr(config, spec.name) for spec in fields(IndexConfig)}


@dataclass(frozen=True)
class DocumentSummary:
    """A document of a corpus without its text. tokens: cl100k count. pages: 0 where the format has none.

    read_as: the id that its file alone gave, where running heads were put back since; else empty. tags, date: set by
    hand; the date is a day, a month or a year.
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
    tags: tuple[str, ...] = absent_at_default(())
    date: str = absent_at_default("")


@dataclass(frozen=True)
class CorpusSummary:
    """A corpus as a card shows it. created: ISO 8601, UTC. arriving: so many documents were read so far that are
    being added, and are not among the others yet; None where none are."""

    id: str
    name: str
    description: str
    sample: bool
    documents: int
    tokens: int
    created: str
    arriving: int | None = None


@dataclass(frozen=True)
class UploadReport:
    """What became of each uploaded file. The readable ones are in the corpus, even when others could not be read.

    added: of a large corpus they are read when they are looked at.
    """

    corpus_id: str
    added: Sequence[DocumentSummary]
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
    of the same name, empty where there are none; comma: before them, in their language. builtin_texts: aggregated
    entities and relations that the built-in writer wrote, since the language model could not or nobody wrote them by
    hand."""

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
    comma: str = ", "
    builtin_texts: int = 0

    @property
    def aggregated_texts(self) -> int:
        """Aggregated entities and summarised relations of all layers."""
        return sum(layer.entities + layer.summarised for layer in self.layers[1:])

    @property
    def title(self) -> str:
        """The name, and what distinguishes the index from others of that name."""
        return f"{self.name}{self.comma}{self.apart}" if self.apart else self.name


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
