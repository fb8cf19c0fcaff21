"""What an extractor finds in a chunk, before anything is merged."""

from dataclasses import dataclass

from leanrag_core.types.calls import NO_USAGE, CallMade, Usage


@dataclass(frozen=True)
class Mention:
    """An entity as a chunk mentions it.

    description: for a language model its own sentence; for the built-in extractor the source
    sentence of the mention.
    weight: how much that description says (used to choose among descriptions), 0 when unknown.
    surface: the form in the text, where the name is another one ("Curie" for "Marie Curie"); else empty.
    """

    name: str
    type: str
    description: str
    chunk_id: str
    weight: float = 0.0
    surface: str = ""


@dataclass(frozen=True)
class RelationMention:
    """A relation as a chunk states it. strength: 0-10. kind: e.g. verb, preposition, apposition,
    co-occurrence, or "stated" for a language model."""

    source: str
    target: str
    description: str
    chunk_id: str
    keywords: tuple[str, ...] = ()
    strength: float = 1.0
    kind: str = "stated"


@dataclass(frozen=True)
class Drop:
    """Something that was lost or left out on purpose; counted and listed in the build report.

    chunk: id of the chunk, when its whole reply was lost and not one item of it. by_builtin: the built-in writer wrote
    the item, since the language model could not.
    """

    stage: str
    item: str
    reason: str
    by_builtin: bool = False
    chunk: str = ""


@dataclass(frozen=True)
class Extraction:
    """The mentions and relations of a chunk, what was dropped there, and the model calls that read it."""

    chunk_id: str
    mentions: tuple[Mention, ...]
    relations: tuple[RelationMention, ...]
    drops: tuple[Drop, ...] = ()
    usage: Usage = NO_USAGE
    calls: tuple[CallMade, ...] = ()
