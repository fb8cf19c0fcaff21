"""Cypher statements, which cypher-shell of Neo4j, Memgraph and others run. No APOC is needed.

Labels and types of relationships are fixed; everything from the index is a string literal or a number.
"""

from collections.abc import Iterable
from pathlib import Path

from leanrag_core.exporting.rows import batches, edges, nodes
from leanrag_core.messages.message import message
from leanrag_core.types.index import Index

_ROWS = 500  # of one statement
_ESCAPES = {"\\": "\\\\", "'": "\\'", "\n": "\\n", "\r": "\\r", "\t": "\\t"}
_ENTITIES = (
    "MERGE (e:Entity {id: row.id}) SET e.name = row.name, e.type = row.type, e.layer = row.layer, "
    "e.description = row.description"
)
_RELATIONS = (
    "MATCH (a:Entity {id: row.source}) MATCH (b:Entity {id: row.target}) MERGE (a)-[r:RELATED {id: row.id}]->(b) "
    "SET r.kind = row.kind, r.strength = row.strength, r.weight = row.weight, r.layer = row.layer, "
    "r.description = row.description, r.keywords = row.keywords"
)
_PARENTS = "MATCH (a:Entity {id: row.id}) MATCH (b:Entity {id: row.parent}) MERGE (a)-[:PARENT]->(b)"


class Exporter:
    """See exporting.base."""

    name = "cypher"
    title = message("export.cypher.title")
    help = message("export.cypher.help")
    suffix = ".cypher"
    media_type = "text/plain"

    def write(self, index: Index, path: Path) -> int:
        """Write a constraint, then entities, relations and parent links, some hundred a statement. Running it twice
        changes nothing."""
        with path.open("w", encoding="utf-8", newline="\n") as file:
            file.write("CREATE CONSTRAINT entity_id IF NOT EXISTS FOR (e:Entity) REQUIRE e.id IS UNIQUE;\n")
            entities = (
                _map(id=n.id, name=n.name, type=n.type, layer=n.layer, description=n.description) for n in nodes(index)
            )
            file.writelines(_statements(entities, _ENTITIES))
            relations = (
                _map(
                    id=edge.id,
                    source=edge.source,
                    target=edge.target,
                    kind=edge.kind,
                    strength=edge.strength,
                    weight=edge.weight,
                    layer=edge.layer,
                    description=edge.description,
                    keywords=edge.keywords,
                )
                for edge in edges(index)
            )
            file.writelines(_statements(relations, _RELATIONS))
            parents = (_map(id=node.id, parent=node.parent) for node in nodes(index) if node.parent)
            file.writelines(_statements(parents, _PARENTS))
        return 0


def _statements(rows: Iterable[str], action: str) -> Iterable[str]:
    for batch in batches(rows, _ROWS):
        statement_rows = ",\n".join(batch)
        yield f"UNWIND [\n{statement_rows}\n] AS row {action};\n"


def _map(**values: str | int | float | tuple[str, ...]) -> str:
    return "{" + ", ".join(f"{name}: {_literal(value)}" for name, value in values.items()) + "}"


def _literal(value: str | int | float | tuple[str, ...]) -> str:
    if isinstance(value, tuple):
        return f"[{', '.join(map(_text, value))}]"
    return _text(value) if isinstance(value, str) else repr(value)


def _text(text: str) -> str:
    """Return the text as a literal. Some versions read \\u0027 as a quote before they parse, so no backslash of a text
    stands before a "u"."""
    escaped = "".join(_ESCAPES.get(character, character) for character in text)
    return "'" + escaped.replace("\\\\u", "\\\\' + 'u") + "'"
