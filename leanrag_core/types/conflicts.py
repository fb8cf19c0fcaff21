"""Statements of documents that do not fit together."""

from dataclasses import dataclass

VALUE, DENIED = "value", "denied"


@dataclass(frozen=True)
class Quote:
    """A sentence of a chunk. chunk: its row; start, end: characters of the chunk's text. document: its name. date: of
    the document, as YYYY[-MM[-DD]], empty where it is not known. value: what the sentence says."""

    text: str
    chunk: int
    start: int
    end: int
    document: str
    date: str
    value: str


@dataclass(frozen=True)
class Conflict:
    """Two quotes that contradict each other. kind: VALUE, one attribute of an entity with two values, or DENIED, of two
    entities the same is said and denied. entities: ids of base entities; names: theirs. what: the attribute, such as
    founded or height, or the words that are denied."""

    kind: str
    entities: tuple[str, ...]
    names: tuple[str, ...]
    what: str
    first: Quote
    second: Quote


@dataclass(frozen=True)
class ConflictReport:
    """What was looked for in an index. sentences: that were read; statements: of attributes or pairs among them."""

    conflicts: tuple[Conflict, ...]
    sentences: int
    statements: int
