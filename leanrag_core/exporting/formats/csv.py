"""Tables for spreadsheets: entities.csv and relations.csv in a ZIP file."""

import csv
import io
import zipfile
from collections.abc import Iterable, Sequence
from pathlib import Path

from leanrag_core.exporting.base import packed_entry
from leanrag_core.exporting.rows import edges, nodes
from leanrag_core.figures.chart import spreadsheet_cell
from leanrag_core.messages.message import message
from leanrag_core.types.index import Index

_ENTITIES = ("id", "name", "type", "layer", "parent", "description")
_RELATIONS = ("id", "source", "target", "layer", "kind", "strength", "weight", "description", "keywords")


class Exporter:
    """See exporting.base."""

    name = "csv"
    title = message("export.csv.title")
    help = message("export.csv.help")
    suffix = ".zip"
    media_type = "application/zip"

    def write(self, index: Index, path: Path) -> int:
        """Write both tables. A text that a spreadsheet would take for a formula gets an apostrophe before it."""
        with zipfile.ZipFile(path, "w") as archive:
            entities = (
                (node.id, node.name, node.type, node.layer, node.parent, node.description) for node in nodes(index)
            )
            _write_table(archive, "entities.csv", _ENTITIES, entities)
            relations = (
                (
                    edge.id,
                    edge.source,
                    edge.target,
                    edge.layer,
                    edge.kind,
                    edge.strength,
                    edge.weight,
                    edge.description,
                    "|".join(edge.keywords),
                )
                for edge in edges(index)
            )
            _write_table(archive, "relations.csv", _RELATIONS, relations)
        return 0


def _write_table(archive: zipfile.ZipFile, name: str, head: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    # Excel takes a file for UTF-8 only when it begins with a byte order mark.
    with archive.open(packed_entry(name), "w") as raw, io.TextIOWrapper(raw, encoding="utf-8-sig", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(head)
        writer.writerows([spreadsheet_cell(value) for value in row] for row in rows)
