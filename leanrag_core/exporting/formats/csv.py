"""Tables for spreadsheets: entities.csv and relations.csv in a ZIP file."""

import csv
import io
import zipfile
from collections.abc import Iterable, Sequence
from operator import attrgetter
from pathlib import Path

from leanrag_core.exporting.base import zip_entry
from leanrag_core.exporting.rows import edges, nodes
from leanrag_core.figures.chart import spreadsheet_cell
from leanrag_core.messages.message import message
from leanrag_core.types.index import Index

_ENTITIES = ("id", "name", "type", "layer", "parent", "description")
_RELATIONS = ("id", "source", "target", "layer", "kind", "strength", "weight", "description")


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
            _write_table(archive, "entities.csv", _ENTITIES, map(attrgetter(*_ENTITIES), nodes(index)))
            cells_of = attrgetter(*_RELATIONS)
            relations = ((*cells_of(edge), "|".join(edge.keywords)) for edge in edges(index))
            _write_table(archive, "relations.csv", (*_RELATIONS, "keywords"), relations)
        return 0


def _write_table(archive: zipfile.ZipFile, name: str, head: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    # Excel takes a file for UTF-8 only when it begins with a byte order mark.
    with (
        archive.open(zip_entry(name, is_packed=True), "w") as raw,
        io.TextIOWrapper(raw, encoding="utf-8-sig", newline="") as file,
    ):
        writer = csv.writer(file)
        writer.writerow(head)
        writer.writerows([spreadsheet_cell(value) for value in row] for row in rows)
