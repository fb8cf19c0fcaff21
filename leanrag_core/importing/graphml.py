"""GraphML files of networkx, read without entities, links or document types."""

from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import ParseError

from leanrag_core.errors import ImportFailed
from leanrag_core.indexing.parsing.blocks import shown_name
from leanrag_core.text.plain_words import in_words

MAX_GRAPHML_BYTES = 1_000_000_000
_HEAD_BYTES = 20_000


@dataclass(frozen=True)
class GraphNode:
    """A node with its attributes by name."""

    id: str
    values: dict[str, str]


@dataclass(frozen=True)
class GraphEdge:
    """An edge with its attributes by name. id: empty where it has none."""

    id: str
    source: str
    target: str
    values: dict[str, str]


@dataclass(frozen=True)
class GraphFile:
    """Nodes and edges in the order of the file."""

    nodes: tuple[GraphNode, ...]
    edges: tuple[GraphEdge, ...]


def graphml_head(path: Path) -> str:
    """Read the beginning of the file, which declares the attributes."""
    with path.open("rb") as file:
        return file.read(_HEAD_BYTES).decode("utf-8", "replace")


def read_graphml(path: Path) -> GraphFile:
    """Read the nodes and edges of the file. Raises ImportFailed for a file that is too large, no XML, or declares a
    document type or entities."""
    from defusedxml.common import DefusedXmlException
    from defusedxml.ElementTree import iterparse

    nodes: list[GraphNode] = []
    edges: list[GraphEdge] = []
    names: dict[str, str] = {}
    try:
        if path.stat().st_size > MAX_GRAPHML_BYTES:
            raise ImportFailed("import.too_large", file=shown_name(path.name), limit=MAX_GRAPHML_BYTES)
        with path.open("rb") as file:
            for _, element in iterparse(file, events=("end",), forbid_dtd=True):
                kind = _local(element.tag)
                if kind == "key":
                    names[element.get("id", "")] = element.get("attr.name", "")
                elif kind == "node":
                    nodes.append(GraphNode(element.get("id", ""), _values(element, names)))
                    element.clear()
                elif kind == "edge":
                    ends = element.get("source", ""), element.get("target", "")
                    edges.append(GraphEdge(element.get("id", ""), *ends, _values(element, names)))
                    element.clear()
    except (OSError, ParseError, DefusedXmlException, ValueError) as error:
        reason = in_words(error)[:300]
        if isinstance(error, DefusedXmlException):
            reason = "it declares a document type or entities, which is not allowed"
        raise ImportFailed("import.unreadable", file=shown_name(path.name), reason=reason) from error
    return GraphFile(tuple(nodes), tuple(edges))


def _values(element: Any, names: dict[str, str]) -> dict[str, str]:
    values: dict[str, str] = {}
    for child in element:
        if _local(child.tag) == "data":
            key = child.get("key", "")
            values[names.get(key) or key] = child.text or ""
    return values


@lru_cache(maxsize=256)
def _local(tag: Any) -> str:
    return str(tag).rpartition("}")[2]
