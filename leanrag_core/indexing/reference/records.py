"""The files of a reference graph: one JSON object a line, read strictly."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, TypeVar

from annotated_types import Interval, MinLen

from leanrag_core.errors import ReferenceDamaged
from leanrag_core.files.records import absent_at_default, from_values, values_of
from leanrag_core.types.graph import Finding

ENTITIES, RELATIONS = "entities.jsonl", "relations.jsonl"
AGGREGATED_ENTITIES, AGGREGATED_RELATIONS = "aggregated_entities.jsonl", "aggregated_relations.jsonl"
FILES = (ENTITIES, RELATIONS, AGGREGATED_ENTITIES, AGGREGATED_RELATIONS)
Text = Annotated[str, MinLen(1)]
LayerNumber = Annotated[int, Interval(ge=1, le=100)]


@dataclass(frozen=True)
class Quote:
    """A passage that an annotator quotes. document: the file's name; quote: as it is in the parsed text."""

    document: Text
    quote: Text


@dataclass(frozen=True)
class ReferenceEntity:
    """An entity of the corpus, with a quote at least from each document that says something of it."""

    name: Text
    type: Text
    description: Text
    quotes: Annotated[tuple[Quote, ...], MinLen(1)]
    aliases: tuple[Text, ...] = absent_at_default(())


@dataclass(frozen=True)
class ReferenceRelation:
    """A relation between two entities, called by their names."""

    source: Text
    target: Text
    description: Text
    keywords: Annotated[tuple[Text, ...], MinLen(1)]
    strength: Annotated[int, Interval(ge=1, le=10)]
    quotes: Annotated[tuple[Quote, ...], MinLen(1)]


@dataclass(frozen=True)
class AggregatedText:
    """Text of the aggregated entity over these base entities. members: names of all base entities below it."""

    layer: LayerNumber
    members: Annotated[tuple[Text, ...], MinLen(2)]
    name: Text
    description: Text
    findings: tuple[Finding, ...]


@dataclass(frozen=True)
class AggregatedSentence:
    """Text of an aggregated relation. source, target: names of its ends in that layer."""

    layer: LayerNumber
    source: Text
    target: Text
    description: Text


@dataclass(frozen=True)
class ReferenceGraph:
    """Everything that the files of a reference graph hold, in the files' order."""

    entities: tuple[ReferenceEntity, ...]
    relations: tuple[ReferenceRelation, ...]
    aggregated_entities: tuple[AggregatedText, ...] = ()
    aggregated_relations: tuple[AggregatedSentence, ...] = ()

    @property
    def document_names(self) -> tuple[str, ...]:
        """Names of the documents that are quoted, sorted."""
        quotes = [*(row.quotes for row in self.entities), *(row.quotes for row in self.relations)]
        return tuple(sorted({quote.document for several in quotes for quote in several}))


T = TypeVar("T")


def _record(kind: type[T], line: bytes, place: str) -> T:
    return from_values(kind, values_of(line, name=place), name=place, closed=True)


def is_reference(folder: Path) -> bool:
    """Return whether the folder holds entities and relations of a reference graph."""
    return (folder / ENTITIES).is_file() and (folder / RELATIONS).is_file()


def read_reference(folder: Path) -> ReferenceGraph:
    """Return the reference graph of the folder. Texts of aggregated entities and relations may be missing.

    Raises RecordDamaged for a line that is no such record, ReferenceDamaged for a file that cannot be read.
    """

    def rows(kind: type[T], name: str) -> tuple[T, ...]:
        try:
            lines = (folder / name).read_text(encoding="utf-8").split("\n")
        except (OSError, UnicodeDecodeError) as error:
            raise ReferenceDamaged("reference.unreadable", file=name, reason=str(error)) from error
        return tuple(
            _record(kind, line.encode(), f"{name} line {number}")
            for number, line in enumerate(lines, 1)
            if line.strip()
        )

    aggregated_entities = rows(AggregatedText, AGGREGATED_ENTITIES) if (folder / AGGREGATED_ENTITIES).is_file() else ()
    aggregated_relations = (
        rows(AggregatedSentence, AGGREGATED_RELATIONS) if (folder / AGGREGATED_RELATIONS).is_file() else ()
    )
    return ReferenceGraph(
        rows(ReferenceEntity, ENTITIES), rows(ReferenceRelation, RELATIONS), aggregated_entities, aggregated_relations
    )
