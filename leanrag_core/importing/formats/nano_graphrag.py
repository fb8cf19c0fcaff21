"""nano-graphrag: a working folder with its graph, communities and reports (importing.working_folder)."""

from pathlib import Path

from leanrag_core.importing.working_folder import GRAPH, REPORTS, graphml_head, read_working_folder, working_folder
from leanrag_core.messages.message import message
from leanrag_core.types.imported import ImportedGraph


class Importer:
    """See importing.base."""

    name = "nano-graphrag"
    title = message("import.nano_graphrag.title")
    help = message("import.nano_graphrag.help")

    def recognises(self, path: Path) -> bool:
        """Return whether there is a graph whose nodes name clusters, or a store of reports beside it."""
        folder = working_folder(path)
        return folder is not None and is_nano_graphrag(folder)

    def read(self, path: Path) -> ImportedGraph:
        """Read the graph of the working folder, with its communities and reports."""
        return read_working_folder(path, self.name)


def is_nano_graphrag(folder: Path) -> bool:
    """Return whether nano-graphrag made the working folder."""
    return (folder / REPORTS).is_file() or 'attr.name="clusters"' in graphml_head(folder / GRAPH)
