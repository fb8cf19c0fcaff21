"""What must not change in the files of a search index, and whether it did.

Chroma counts in chroma.sqlite3 how often it was opened, and writes empty graphs of small layers again, so the hashes of
these files do not last. Instead, search.json records a hash of the database rows that searches use, and the hashes of
the graphs that Chroma has written completely.
"""

import contextlib
import hashlib
import sqlite3
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from leanrag_core.errors import IndexDamaged, SearchIndexFailed
from leanrag_core.messages.message import message
from leanrag_core.storage.digests import differing, digests_of
from leanrag_core.storage.json_files import read_object, require_seal
from leanrag_core.storage.schemas import require_schema

REMEDY = message("search.remedy")
DATABASE = "chroma.sqlite3"
SEARCH = "search.json"
_MAX_BYTES = 16_000_000  # of search.json
_TABLES = ("collections", "segments", "max_seq_id", "embeddings", "embeddings_queue")
_WRITTEN = "index_metadata.pickle"  # Chroma's own file beside a graph that it will not write again; never read here


@dataclass(frozen=True)
class LayerSearch:
    """How a layer is searched: this many candidates give that recall of the ten nearest."""

    layer: int
    rows: int
    candidates: int
    recall: float


def layer_searches(folder: Path) -> tuple[LayerSearch, ...]:
    """What search.json says of each layer; empty when there is no such file. Raises SearchIndexFailed when it does not
    read."""
    return tuple(LayerSearch(**row) for row in recorded(folder).get("layers", ()))


def recorded(folder: Path) -> dict[str, Any]:
    """The content of search.json; empty when there is no such file. Raises SearchIndexFailed when it does not read."""
    path = folder / SEARCH
    if not path.exists():
        return {}
    try:
        values = read_object(path, most_bytes=_MAX_BYTES)
        require_schema(values, "search", path)
        require_seal(values, path)
    except IndexDamaged as error:
        raise SearchIndexFailed("search.record_damaged", file=str(path), remedy=REMEDY) from error
    return values


def fingerprint(folder: Path) -> dict[str, Any]:
    """What search.json records of the other files: "files" by path below the folder, "rows" of the database."""
    graphs = [path.parent for path in sorted(folder.glob(f"*/{_WRITTEN}"))]
    names = [f"{graph.name}/{path.name}" for graph in graphs for path in sorted(graph.iterdir())]
    return {"files": digests_of(folder, names), "rows": _hash_of_rows(folder / DATABASE)}


def changed_file(folder: Path, values: Mapping[str, Any]) -> str:
    """The first file, below the folder, that is not as recorded; "" when all are, or nothing was recorded of them."""
    if not folder.joinpath(DATABASE).is_file() or "rows" not in values:
        return ""
    try:
        if _hash_of_rows(folder / DATABASE) != values["rows"]:
            return DATABASE
    except sqlite3.Error:
        return DATABASE
    return next((name for name, _ in differing(folder, values.get("files", {}))), "")


def _hash_of_rows(database: Path) -> str:
    """Hash of the rows that a search depends on."""
    digest = hashlib.sha256()
    with contextlib.closing(sqlite3.connect(f"{database.resolve().as_uri()}?mode=ro", uri=True)) as opened:
        opened.text_factory = bytes  # a changed letter may be no UTF-8
        for table in _TABLES:
            for row in opened.execute(f"SELECT * FROM {table} ORDER BY rowid"):
                digest.update(repr(row).encode())
    return digest.hexdigest()
