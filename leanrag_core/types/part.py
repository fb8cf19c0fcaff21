"""Parts of an index: what strategies need beyond chunks, entities and relations, made on demand."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from leanrag_core.files.records import FileName, ShortText
from leanrag_core.messages.message import Message
from leanrag_core.types.manifest import FileRecord
from leanrag_core.types.usage import NO_USAGE, Usage

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
