"""A graph that was made elsewhere, as a build takes it over."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from leanrag_core.messages.message import Message
from leanrag_core.types.corpus import Chunk, Document
from leanrag_core.types.extraction import Drop
from leanrag_core.types.graph import Graph


@dataclass(frozen=True, eq=False)
class ImportedGraph:
    """The base graph with its sources. documents: in the order of a build. chunks: in the order of the documents.

    notes: what the person should know of the import as a whole. drops: rows that were left out or shortened, for the
    build report. aliases: other forms of a name, to the name that is shown.
    """

    documents: tuple[Document, ...]
    chunks: tuple[Chunk, ...]
    graph: Graph
    notes: tuple[Message, ...] = ()
    drops: tuple[Drop, ...] = ()
    aliases: Mapping[str, str] = field(default_factory=dict)
