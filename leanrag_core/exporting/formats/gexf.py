"""GEXF 1.3, which Gephi opens with names, types and layers."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from leanrag_core.exporting.base import XmlCharacters
from leanrag_core.exporting.rows import PARENT, edges, nodes
from leanrag_core.messages.message import message
from leanrag_core.types.index import Index

_NAMESPACE = "http://gexf.net/1.3"
_NODE = (("layer", "integer"), ("type", "string"), ("description", "string"))
_EDGE = (
    ("kind", "string"),
    ("strength", "integer"),
    ("layer", "integer"),
    ("description", "string"),
    ("keywords", "string"),
)


class Exporter:
    """See exporting.base."""

    name = "gexf"
    title = message("export.gexf.title")
    help = message("export.gexf.help")
    suffix = ".gexf"
    media_type = "application/gexf+xml"

    def write(self, index: Index, path: Path) -> int:
        """Write nodes and edges of all layers; returns how many characters XML could not hold."""
        from lxml import etree

        text = XmlCharacters()
        with etree.xmlfile(str(path), encoding="utf-8") as file:
            file.write_declaration()
            with (
                file.element("gexf", nsmap={None: _NAMESPACE}, version="1.3"),
                file.element("graph", defaultedgetype="undirected", mode="static"),
            ):
                for kind, declared in (("node", _NODE), ("edge", _EDGE)):
                    with file.element("attributes", {"class": kind, "mode": "static"}):
                        for number, (title, type_) in enumerate(declared):
                            file.write(etree.Element("attribute", id=str(number), title=title, type=type_))
                with file.element("nodes"):
                    for element in _nodes(index, text):
                        file.write(element)
                with file.element("edges"):
                    for element in _edges(index, text):
                        file.write(element)
        return text.replaced


def _nodes(index: Index, text: XmlCharacters) -> Iterator[Any]:
    from lxml import etree

    for node in nodes(index):
        element = etree.Element("node", id=text(node.id), label=text(node.name))
        _add_values(element, (str(node.layer), text(node.type), text(node.description)))
        yield element


def _edges(index: Index, text: XmlCharacters) -> Iterator[Any]:
    from lxml import etree

    for node in nodes(index):
        if node.parent:
            ids = {"id": f"{PARENT}-{text(node.id)}", "source": text(node.id), "target": text(node.parent)}
            element = etree.Element("edge", ids, weight="1")
            _add_values(element, (PARENT,))
            yield element
    for edge in edges(index):
        ids = {"id": text(edge.id), "source": text(edge.source), "target": text(edge.target)}
        element = etree.Element("edge", ids, weight=repr(edge.weight))
        values = text(edge.kind), str(edge.strength), str(edge.layer), text(edge.description)
        _add_values(element, (*values, text(", ".join(edge.keywords))))
        yield element


def _add_values(element: Any, values: tuple[str, ...]) -> None:
    from lxml import etree

    holder = etree.SubElement(element, "attvalues")
    for number, value in enumerate(values):
        etree.SubElement(holder, "attvalue", {"for": str(number), "value": value})
