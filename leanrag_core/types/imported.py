"""A graph that was made elsewhere, as a build takes it over, and a graph that was exported."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from leanrag_core.messages.message import Message
from leanrag_core.types.corpus import Chunk, Document
from leanrag_core.types.extraction import Drop
from leanrag_core.types.graph import Finding, Graph


@dataclass(frozen=True)
class ImportedReport:
    """What the other system wrote about a community. rating: None where it gave none."""

    title: str
    summary: str
    rating: float | None = None
    findings: tuple[Finding, ...] = ()


@dataclass(frozen=True)
class ImportedCommunity:
    """A community of the other system. level: as it counts them, 0 for the coarsest.

    parent: id of the community that holds it, else empty. entities: ids of entities of layer 0, sorted.
    """

    id: str
    level: int
    parent: str
    title: str
    entities: tuple[str, ...]
    report: ImportedReport | None = None


@dataclass(frozen=True)
class ImportedClaim:
    """A claim (covariate) of the other system. subject: id of an entity of layer 0. chunk: id of its source, or empty.

    object: what the claim is about, as the other system names it. start, end: dates as it writes them.
    """

    subject: str
    object: str
    type: str
    status: str
    description: str
    start: str = ""
    end: str = ""
    source_text: str = ""
    chunk: str = ""


@dataclass(frozen=True)
class ForeignId:
    """What the other system called a thing. kind: entity, relation, chunk or document. id: its id in the index."""

    kind: str
    id: str
    foreign_id: str


@dataclass(frozen=True)
class ImportedExtras:
    """What an index of an import holds beside its graph: see storage.layout."""

    format: str = ""
    communities: tuple[ImportedCommunity, ...] = ()
    claims: tuple[ImportedClaim, ...] = ()
    foreign_ids: tuple[ForeignId, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.communities or self.claims or self.foreign_ids)


NO_EXTRAS = ImportedExtras()


@dataclass(frozen=True)
class ImportCounts:
    """Rows of an import, and what became of them.

    entity_rows, relation_rows: as the files have them. duplicate_*: rows merged into an earlier one.
    other_spellings: names among them that differ from the one that is shown. dangling:
    relations with an end that is no entity. self_loops: relations of an entity with itself. unknown_chunks: rows that
    name chunks that are not there. left_out: rows of any kind that were left out, dangling ones and self-loops among
    them.
    """

    entity_rows: int = 0
    relation_rows: int = 0
    duplicate_entities: int = 0
    other_spellings: int = 0
    duplicate_relations: int = 0
    dangling: int = 0
    self_loops: int = 0
    empty_descriptions: int = 0
    unknown_chunks: int = 0
    left_out: int = 0


@dataclass(frozen=True, eq=False)
class ImportedGraph:
    """The base graph with its sources. documents: in the order of a build. chunks: in the order of the documents.

    notes: what the person should know of the import as a whole. drops: rows that were left out or shortened, then those
    that were merged or have no description, for the build report. aliases: other forms of a name, to the name that is
    shown. extras: what the index keeps beside the graph.
    """

    documents: tuple[Document, ...]
    chunks: tuple[Chunk, ...]
    graph: Graph
    notes: tuple[Message, ...] = ()
    drops: tuple[Drop, ...] = ()
    aliases: Mapping[str, str] = field(default_factory=dict)
    counts: ImportCounts = ImportCounts()
    extras: ImportedExtras = NO_EXTRAS


@dataclass(frozen=True)
class CarriedSetting:
    """A setting of an index that is imported whole, which is not as it is by default. usual: the default; empty for one
    that this version of the program does not know."""

    name: str
    value: str
    usual: str


@dataclass(frozen=True)
class OwnPrompt:
    """A prompt of an index's own, which goes to a language model in place of the program's for that task."""

    task: str
    text: str


@dataclass(frozen=True)
class ImportPreview:
    """What an import would make, without embedding or building anything.

    format: name of the importer. drops: the first of them; n_drops: all. settings, prompts: of an index that is
    imported whole.
    """

    format: str
    documents: int
    chunks: int
    entities: int
    relations: int
    communities: int = 0
    reports: int = 0
    claims: int = 0
    counts: ImportCounts = ImportCounts()
    notes: tuple[Message, ...] = ()
    drops: tuple[Drop, ...] = ()
    n_drops: int = 0
    settings: tuple[CarriedSetting, ...] = ()
    prompts: tuple[OwnPrompt, ...] = ()


@dataclass(frozen=True)
class Exported:
    """A file that was exported. replaced: characters that the format cannot hold, each replaced by U+FFFD."""

    path: Path
    format: str
    entities: int
    relations: int
    parent_links: int
    replaced: int
    bytes: int
