"""GraphML, which Gephi, yEd, Cytoscape and networkx open."""

from collections.abc import Iterable
from pathlib import Path

import pyarrow as pa

from leanrag_core.exporting.base import NOT_XML, REPLACEMENT
from leanrag_core.exporting.rows import StreamedGraph
from leanrag_core.messages.message import message
from leanrag_core.types.index import Index

_NOT_XML_RE2 = r"[\x{00}-\x{08}\x{0B}\x{0C}\x{0E}-\x{1F}\x{FFFE}\x{FFFF}]"


class Exporter:
    """See exporting.base."""

    name = "graphml"
    title = message("export.graphml.title")
    help = message("export.graphml.help")
    suffix = ".graphml"
    media_type = "application/graphml+xml"

    def write(self, index: Index, path: Path) -> int:
        """Write nodes and edges of all layers by networkx; returns how many characters XML could not hold."""
        import networkx

        with path.open("wb") as file:
            networkx.write_graphml_lxml(StreamedGraph(index, lambda text: NOT_XML.sub(REPLACEMENT, text)), file)
        return len(NOT_XML.findall(index.manifest.name)) + sum(map(_not_xml, _text_columns(index)))


def _text_columns(index: Index) -> Iterable[pa.ChunkedArray]:
    """Yield every column of texts, (rows,) each."""
    import pyarrow.compute as pc

    for layer in index.layers:
        yield from (layer.entities[name] for name in ("name", "type", "description"))
        yield from (layer.relations[name] for name in ("kind", "description"))
        yield pc.list_flatten(layer.relations["keywords"])


def _not_xml(column: pa.ChunkedArray) -> int:
    """Count the characters of a column, (rows,), that XML cannot hold."""
    import pyarrow.compute as pc

    return pc.sum(pc.count_substring_regex(column, _NOT_XML_RE2)).as_py() or 0
