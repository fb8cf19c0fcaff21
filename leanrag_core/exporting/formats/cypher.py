"""Cypher statements, which cypher-shell of Neo4j, Memgraph and others run. No APOC is needed.

Labels and types of relationships are fixed; everything from the index is a string literal or a number.
"""

from collections.abc import Iterable, Sequence
from pathlib import Path

from leanrag_core.exporting.rows import Edge, Node, batches, edges, nodes
from leanrag_core.messages.message import message
from leanrag_core.types.index import Index

_ROWS = 500  # of one statement
_ESCAPES = {"\\": "\\\\", "'": "\\'", "\n": "\\n", "\r": "\\r", "\t": "\\t"}
_ENTITY = ("id", "name", "type", "layer", "description")
_RELATION = ("id", "source", "target", "kind", "strength", "weight", "layer", "description", "keywords")
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
            file.writelines(_statements(nodes(index), _ENTITY, _ENTITIES))
            file.writelines(_statements(edges(index), _RELATION, _RELATIONS))
            file.writelines(_statements((node for node in nodes(index) if node.parent), ("id", "parent"), _PARENTS))
        return 0


def _statements(rows: Iterable[Node | Edge], names: Sequence[str], action: str) -> Iterable[str]:
    """Yield statements that do the action with some hundred rows each. names: the attributes of a row that it takes."""
    for batch in batches(rows, _ROWS):
        maps = (", ".join(f"{name}: {_literal(getattr(row, name))}" for name in names) for row in batch)
        statement_rows = ",\n".join(f"{{{literals}}}" for literals in maps)
        yield f"UNWIND [\n{statement_rows}\n] AS row {action};\n"


def _literal(value: str | int | float | tuple[str, ...]) -> str:
    if isinstance(value, tuple):
        return f"[{', '.join(map(_text, value))}]"
    return _text(value) if isinstance(value, str) else repr(value)


def _text(text: str) -> str:
    """Return the text as a literal. Some versions read \\u0027 as a quote before they parse, so no backslash of a text
    stands before a "u"."""
    escaped = "".join(_ESCAPES.get(character, character) for character in text)
    return "'" + escaped.replace("\\\\u", "\\\\' + 'u") + "'"
