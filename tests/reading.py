"""What the program reads of files that people upload or import, in one go."""

from collections.abc import Iterable
from pathlib import Path

from leanrag_core.importing.base import graph_by, importer_for
from leanrag_core.indexing.parsing import ParsedUpload
from leanrag_core.indexing.parsing.confined import ConfinedParser
from leanrag_core.indexing.reading import each_upload
from leanrag_core.types.imported import ImportedGraph


def read_uploads(files: Iterable[tuple[str, bytes]], parser: ConfinedParser | None = None) -> ParsedUpload:
    """Return the documents and refusals of named contents."""
    parsed = [file.parsed for file in each_upload(files, parser)]
    documents = tuple(document for each in parsed for document in each.documents)
    return ParsedUpload(documents, tuple(refusal for each in parsed for refusal in each.refusals))


def read_graph(path: Path, format_name: str) -> ImportedGraph:
    """Return the graph at the path, by the importer of that format, or the one that recognises it."""
    return graph_by(importer_for(path, format_name), path)
