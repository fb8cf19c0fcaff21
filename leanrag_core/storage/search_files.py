"""What must not change in the files of a search index, and a look whether it has.

Chroma counts in chroma.sqlite3 how often it was opened and writes empty graphs of small layers anew, so these files
have no lasting hash. Of the database the rows that searches use are hashed instead, and the graphs of layers that it
has written to the end.
"""

import contextlib
import hashlib
import sqlite3
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from leanrag_core.errors import IndexDamaged, SearchIndexFailed
from leanrag_core.storage.digests import differing, digests_of
from leanrag_core.storage.layout import read_search
from leanrag_core.storage.ownership import CHROMA

REMEDY = "search exactly, or write it again with 'python -m leanrag_core.storage.search_index DIR'"
DATABASE = "chroma.sqlite3"
_TABLES = ("collections", "segments", "max_seq_id", "embeddings", "embeddings_queue")
_WRITTEN = "index_metadata.pickle"  # of Chroma's own; beside a graph that it will not write again, and never read here


@dataclass(frozen=True)
class LayerSearch:
    """How a layer is searched: so many candidates bring that recall of the ten nearest."""

    layer: int
    rows: int
    candidates: int
    recall: float


def layer_searches(directory: Path) -> tuple[LayerSearch, ...]:
    """What chroma/search.json says; nothing when it is not there. Raises SearchIndexFailed when it does not read."""
    return tuple(LayerSearch(**row) for row in recorded(directory).get("layers", ()))


def recorded(directory: Path) -> dict[str, Any]:
    """The content of chroma/search.json; empty when it is not there. Raises SearchIndexFailed when it does not read."""
    try:
        return read_search(directory) or {}
    except IndexDamaged as error:
        raise SearchIndexFailed(f"{str(error).partition(': ')[0]}: {REMEDY}") from error


def fingerprint(directory: Path) -> dict[str, Any]:
    """What chroma/search.json records of the files: "files" by path below chroma/, "rows" of the database."""
    folder = directory / CHROMA
    graphs = [path.parent for path in sorted(folder.glob(f"*/{_WRITTEN}"))]
    names = [f"{graph.name}/{path.name}" for graph in graphs for path in sorted(graph.iterdir())]
    return {"files": digests_of(folder, names), "rows": _rows(folder / DATABASE)}


def changed_file(directory: Path, values: dict[str, Any]) -> str:
    """The first file, below chroma/, that is not as recorded; "" when all are, or nothing was recorded of them."""
    folder = directory / CHROMA
    if not folder.joinpath(DATABASE).is_file() or "rows" not in values:
        return ""
    try:
        if _rows(folder / DATABASE) != values["rows"]:
            return DATABASE
    except sqlite3.Error:
        return DATABASE
    return next((name for name, _ in differing(folder, values.get("files", {}))), "")


def _rows(database: Path) -> str:
    """Hash of the rows that a search depends on."""
    found = hashlib.sha256()
    with contextlib.closing(sqlite3.connect(f"{database.resolve().as_uri()}?mode=ro", uri=True)) as opened:
        opened.text_factory = bytes  # a changed letter may be no UTF-8
        for table in _TABLES:
            for row in opened.execute(f"SELECT * FROM {table} ORDER BY rowid"):
                found.update(repr(row).encode())
    return found.hexdigest()
