"""LightRAG: a working folder with its graph, chunks and documents. See importing.working_folder for the files."""

from pathlib import Path

from leanrag_core.importing.formats.nano_graphrag import is_nano_graphrag
from leanrag_core.importing.working_folder import read_working_folder, working_folder
from leanrag_core.messages.message import message
from leanrag_core.types.imported import ImportedGraph


class Importer:
    """See importing.base."""

    name = "lightrag"
    title = message("import.lightrag.title")
    help = message("import.lightrag.help")

    def recognises(self, path: Path) -> bool:
        """Return whether there is a graph that nano-graphrag has not made."""
        folder = working_folder(path)
        return folder is not None and not is_nano_graphrag(folder)

    def read(self, path: Path) -> ImportedGraph:
        """Read the graph of the working folder."""
        return read_working_folder(path, self.name)
