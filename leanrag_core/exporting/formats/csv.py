"""Tables for spreadsheets: entities.csv and relations.csv in a ZIP file."""

import csv
import io
import zipfile
from collections.abc import Iterable, Sequence
from pathlib import Path

from leanrag_core.exporting.rows import edges, nodes
from leanrag_core.messages.message import message
from leanrag_core.types.index import Index

_ENTITIES = ("id", "name", "type", "layer", "parent", "description")
_RELATIONS = ("id", "source", "target", "layer", "kind", "strength", "weight", "description", "keywords")
_FORMULA = tuple("=+-@\t\r＝＋－＠")  # also in the full-width forms, which spreadsheets in Chinese and Japanese take
_MADE = (1980, 1, 1, 0, 0, 0)  # no clock time: the same index gives the same bytes


class Exporter:
    """See exporting.base."""

    name = "csv"
    title = message("export.csv.title")
    help = message("export.csv.help")
    suffix = ".zip"
    media_type = "application/zip"

    def write(self, index: Index, path: Path) -> int:
        """Both tables. A text that a spreadsheet would take for a formula gets an apostrophe before it."""
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
    entry = zipfile.ZipInfo(name, _MADE)
    entry.compress_type, entry.external_attr = zipfile.ZIP_DEFLATED, 0o644 << 16
    # Excel takes a file for UTF-8 only when it begins with a byte order mark.
    with archive.open(entry, "w") as raw, io.TextIOWrapper(raw, encoding="utf-8-sig", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(head)
        writer.writerows([_cell(value) for value in row] for row in rows)


def _cell(value: object) -> object:
    """The value as a spreadsheet shows it and never computes it."""
    return f"'{value}" if isinstance(value, str) and value.startswith(_FORMULA) else value
