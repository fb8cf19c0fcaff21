"""What must not change in the files of a search index, and whether it did.

Chroma counts in chroma.sqlite3 how often it was opened, and writes empty graphs of small layers again, so the hashes of
these files do not last. Instead, search.json records a hash of the database rows that searches use, and the hashes of
the graphs that Chroma has written completely.
"""

import contextlib
import hashlib
import sqlite3
from pathlib import Path

from leanrag_core.errors import IndexDamaged, SearchIndexFailed
from leanrag_core.messages.message import message
from leanrag_core.storage.digests import differing, digests_of
from leanrag_core.storage.json_files import read_object, read_record, require_seal
from leanrag_core.types.manifest import LayerSearch, SearchRecord

REMEDY = message("search.remedy")
DATABASE = "chroma.sqlite3"
SEARCH = "search.json"
_MAX_BYTES = 16_000_000  # of search.json
_TABLES = ("collections", "segments", "max_seq_id", "embeddings", "embeddings_queue")
_WRITTEN = "index_metadata.pickle"  # Chroma's own file beside a graph that it will not write again; never read here


def layer_searches(folder: Path) -> tuple[LayerSearch, ...]:
    """What search.json says of each layer; empty when there is no such file. Raises SearchIndexFailed when it does not
    read."""
    return recorded(folder).layers


def recorded(folder: Path) -> SearchRecord:
    """The content of search.json; empty when there is no such file. Raises SearchIndexFailed when it does not read."""
    path = folder / SEARCH
    if not path.exists():
        return SearchRecord(())
    try:
        values = read_object(path, max_bytes=_MAX_BYTES)
        record = read_record(SearchRecord, path, values)
        require_seal(values, path)
    except IndexDamaged as error:
        raise SearchIndexFailed("search.record_damaged", file=str(path), remedy=REMEDY) from error
    return record


def fingerprinted(folder: Path, layers: tuple[LayerSearch, ...]) -> SearchRecord:
    """The record of the search index of those layers, with what must not change in its files."""
    graphs = [path.parent for path in sorted(folder.glob(f"*/{_WRITTEN}"))]
    names = [f"{graph.name}/{path.name}" for graph in graphs for path in sorted(graph.iterdir())]
    return SearchRecord(layers, digests_of(folder, names), _hash_of_rows(folder / DATABASE))


def changed_file(folder: Path, record: SearchRecord) -> str:
    """The first file, below the folder, that is missing or not as recorded; "" when all are as recorded, or nothing was
    recorded of them."""
    if record.rows is None:
        return ""
    try:
        if _hash_of_rows(folder / DATABASE) != record.rows:
            return DATABASE
    except sqlite3.Error:
        return DATABASE
    return next((name for name, _ in differing(folder, record.files or {})), "")


def _hash_of_rows(database: Path) -> str:
    """Hash of the rows that a search depends on."""
    digest = hashlib.sha256()
    with contextlib.closing(sqlite3.connect(f"{database.resolve().as_uri()}?mode=ro", uri=True)) as opened:
        opened.text_factory = bytes  # a changed letter may be no UTF-8
        for table in _TABLES:
            for row in opened.execute(f"SELECT * FROM {table} ORDER BY rowid"):
                digest.update(repr(row).encode())
    return digest.hexdigest()
