"""The files of a search index, and how it is reached: through them, or on a Chroma server."""

import contextlib
import hashlib
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from leanrag_core.errors import IndexDamaged, LeanRAGError, PartDamaged, SearchIndexFailed
from leanrag_core.messages.message import message
from leanrag_core.storage.digests import differing, digests_of
from leanrag_core.storage.json_files import read_object, read_record, require_seal
from leanrag_core.storage.ownership import CHROMA, PARTS
from leanrag_core.storage.part_store import PartStore, fits
from leanrag_core.text.plain_words import in_words
from leanrag_core.types.manifest import LayerSearch, SearchRecord

REMEDY = message("search.remedy")
DATABASE = "chroma.sqlite3"
SEARCH = "search.json"
_MAX_BYTES = 16_000_000  # of search.json
_TABLES = ("collections", "segments", "max_seq_id", "embeddings", "embeddings_queue")
_WRITTEN = "index_metadata.pickle"  # Chroma's own file beside a graph that it will not write again; never read here


def layer_searches(folder: Path) -> tuple[LayerSearch, ...]:
    """Return what search.json says of each layer; empty when there is no such file. Raises SearchIndexFailed when it
    does not read."""
    return recorded(folder).layers


def recorded(folder: Path) -> SearchRecord:
    """Return the content of search.json; empty when there is no such file. Raises SearchIndexFailed when it does not
    read."""
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
    """Return the record of the search index of those layers, with what must not change in its files."""
    graphs = [path.parent for path in sorted(folder.glob(f"*/{_WRITTEN}"))]
    names = [f"{graph.name}/{path.name}" for graph in graphs for path in sorted(graph.iterdir())]
    return SearchRecord(layers, digests_of(folder, names), _hash_of_rows(folder / DATABASE))


def changed_file(folder: Path, record: SearchRecord) -> str:
    """Return the first file, below the folder, that is missing or not as recorded; "" when all are as recorded, or
    nothing was recorded of them."""
    if record.rows is None:
        return ""
    try:
        if _hash_of_rows(folder / DATABASE) != record.rows:
            return DATABASE
    except sqlite3.Error:
        return DATABASE
    return next((name for name, _ in differing(folder, record.files or {})), "")


def _hash_of_rows(database: Path) -> str:
    """Return a hash of the rows that a search depends on."""
    digest = hashlib.sha256()
    with contextlib.closing(sqlite3.connect(f"{database.resolve().as_uri()}?mode=ro", uri=True)) as opened:
        opened.text_factory = bytes  # a changed letter may be no UTF-8
        for table in _TABLES:
            for row in opened.execute(f"SELECT * FROM {table} ORDER BY rowid"):
                digest.update(repr(row).encode())
    return digest.hexdigest()


@dataclass(frozen=True)
class SearchPlace:
    """Where a search index is. index: the directory of its index. folder: what holds the files of the search index."""

    index: Path
    folder: Path

    @property
    def database(self) -> Path:
        """Chroma's database, which is not there when the search index is on a server."""
        return self.folder / DATABASE

    @property
    def record(self) -> Path:
        """What is known of the search index; written last."""
        return self.folder / SEARCH


def place_in(directory: Path) -> SearchPlace | None:
    """Return where the search index of the index in that directory is; None when it has none.

    It is a part of the index; in indexes of before there were parts it has a folder of its own.
    """
    part = PartStore(directory).newest(CHROMA)
    place = SearchPlace(directory, part or directory / CHROMA)
    return place if place.record.is_file() or place.database.is_file() else None


def require_sound(place: SearchPlace) -> None:
    """Raises SearchIndexFailed when the search index is a part that is damaged, or was made of other vectors."""
    if place.folder.parent.parent != place.index / PARTS:
        return
    try:
        record = PartStore(place.index).read(CHROMA, place.folder.name)
    except PartDamaged as error:
        raise SearchIndexFailed("search.part_damaged", reason=error.message) from error
    if not fits(record, place.index):
        raise SearchIndexFailed("search.of_other_vectors", folder=str(place.folder), remedy=REMEDY)


@dataclass(frozen=True, eq=False)
class Connection:
    """A Chroma client and where an index's collections are in it.

    prefix: what their names begin with. own: whether the client serves this index alone and is closed after use.
    """

    client: Any
    prefix: str = ""
    own: bool = True

    def collection_name(self, layer: int) -> str:
        """Return the name of a layer's collection."""
        return f"{self.prefix}entities-{layer}"


Connect = Callable[[SearchPlace], Connection]


def connect_to_files(place: SearchPlace) -> Connection:
    """Return Chroma in this process, on the files of the folder.

    Raises SearchIndexFailed when they do not read, or are missing: Chroma would create empty ones in their place.
    """
    record = recorded(place.folder)
    if place.record.is_file() and record.rows is None and not place.database.is_file():
        raise SearchIndexFailed("search.no_files", remedy=REMEDY)
    changed = changed_file(place.folder, record)
    if changed:
        raise SearchIndexFailed("search.changed", file=str(place.folder / changed), remedy=REMEDY)
    import chromadb
    from chromadb.api.shared_system_client import SharedSystemClient
    from chromadb.config import Settings

    path = str(place.folder.resolve())
    with chroma_errors(place.database):
        try:
            return Connection(chromadb.PersistentClient(path=path, settings=Settings(anonymized_telemetry=False)))
        except BaseException:
            # Chroma keeps what did not start, as on a full disk, and would give it to the next client of this path.
            if path not in SharedSystemClient._identifier_to_refcount:
                SharedSystemClient._identifier_to_system.pop(path, None)
            raise


@contextmanager
def chroma_errors(database: Path | None) -> Iterator[None]:
    """Errors of Chroma in the block become SearchIndexFailed. database: None for a search index on a server."""
    try:
        yield
    except (LeanRAGError, TimeoutError):
        raise
    except Exception as error:  # chromadb raises errors of many types, some of them bare
        raise _no_answer(error, database) from error
    except BaseException as error:
        if type(error).__name__ != "PanicException":  # of Chroma's Rust code, which is no Exception
            raise
        raise _no_answer(error, database) from error


def _no_answer(error: BaseException, database: Path | None) -> SearchIndexFailed:
    if database is None:
        return SearchIndexFailed("search.no_answer", reason=in_words(error), remedy=REMEDY)
    return SearchIndexFailed("search.no_answer_in", database=str(database), reason=in_words(error), remedy=REMEDY)
