"""Writes the search index of an index: it can be made again at any time from the vectors.

search.json is written last: it says for each layer how many candidates Chroma must return so that the true ten nearest
are among them (recall), measured against exact search on vectors of the layer.
"""

import contextlib
import errno
import json
import os
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from leanrag_core.errors import LeanRAGError, SearchIndexFailed, StorageFailed
from leanrag_core.files.atomic import refused_by_the_disk, storage_failed, write_json
from leanrag_core.files.records import plain
from leanrag_core.messages.message import message
from leanrag_core.storage.cell_search import RECALL, queries_with_floors, recall_of
from leanrag_core.storage.digests import sealed
from leanrag_core.storage.layout import read_index
from leanrag_core.storage.search_connection import Connect, SearchPlace, connect_to_files, fingerprinted, layer_searches
from leanrag_core.storage.tables import require_unit_rows
from leanrag_core.system.environment import PACKAGES, holds_secrets, without_secrets
from leanrag_core.types.graph import Layer
from leanrag_core.types.index import Index
from leanrag_core.types.manifest import LayerSearch, SearchRecord

_WRITER = "leanrag_core.storage.search_writer"
_DISK_FULL = ("disk is full", "No space left on device")  # as SQLite and Chroma say it
_DISK_REFUSED = 3  # exit code of the writer, so that a full disk can be told from another failure


def write_search_index_apart(place: SearchPlace, report: Callable[[int, int], None], *, recall: float) -> None:
    """Run write_search_index() on the index in place.index, in a process without this one's secrets.

    The process ends with this one: what report() raises ends it, and so does a closed pipe.
    """
    environment = without_secrets()
    paths = (str(PACKAGES), environment.get("PYTHONPATH", ""))
    environment["PYTHONPATH"] = os.pathsep.join(path for path in paths if path)
    command = [sys.executable, "-m", _WRITER, str(place.index), str(place.folder), str(recall)]
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True) as writer:
        assert writer.stdout is not None
        reason = ""
        try:
            for line in writer.stdout:
                values = json.loads(line)
                if "error" in values:
                    reason = values["error"]
                else:
                    report(values["done"], values["total"])
        except BaseException:
            writer.kill()
            raise
    if writer.returncode == 0:
        return
    if not reason:
        raise SearchIndexFailed("search.writer_ended", code=writer.returncode)
    raise (StorageFailed if writer.returncode == _DISK_REFUSED else SearchIndexFailed)("search.writer", reason=reason)


def tell(**values: object) -> None:
    """Write a line for the process that started the writer."""
    print(json.dumps(values), flush=True)


@contextmanager
def written_or_nothing(folder: Path) -> Iterator[None]:
    """Delete the folder unless the block has written the search index in it: half of one would be searched.

    Raises StorageFailed when the disk takes no more, SearchIndexFailed for every other error of Chroma.
    """
    if folder.is_symlink():
        raise SearchIndexFailed("search.link", folder=str(folder))
    shutil.rmtree(folder, ignore_errors=True)
    try:
        yield
    except BaseException as error:
        by_chroma = isinstance(error, SearchIndexFailed) or not isinstance(error, LeanRAGError)
        refused = _disk_error(error, folder.parent) if by_chroma and isinstance(error, Exception) else None
        shutil.rmtree(folder, ignore_errors=True)  # after the look at the disk, since it makes room
        if refused is not None:
            raise storage_failed(message("what.search_index", folder=str(folder.parent)), refused) from error
        if isinstance(error, LeanRAGError) or not isinstance(error, Exception):
            raise
        raise SearchIndexFailed("search.not_written", folder=str(folder.parent), reason=str(error)) from error


def _disk_error(error: BaseException, folder: Path) -> OSError | None:
    """Return the error of the disk that caused this one, if there is one; Chroma and SQLite put it in words of their
    own."""
    if isinstance(error, OSError):
        return error
    if any(words in str(error) for words in _DISK_FULL):
        return OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    return refused_by_the_disk(folder)


_SYNC_AT_LEAST = 1000  # rows; fewer are read from Chroma's log when it is opened
_CANDIDATES = (64, 128, 256, 512, 1024)  # tried in this order


def write_safely(
    place: SearchPlace,
    index: Index,
    report: Callable[[int, int], None],
    *,
    connect: Connect | None = None,
    recall: float = RECALL,
) -> tuple[LayerSearch, ...]:
    """Run write_search_index() and leave no secret of this process in the files. connect: to a server; None for files.

    The index must be on disk.
    """
    if connect is None and holds_secrets():
        write_search_index_apart(place, report, recall=recall)
        return layer_searches(place.folder)
    return write_search_index(place, index, report, connect=connect or connect_to_files, recall=recall)


def write_search_index(
    place: SearchPlace,
    index: Index,
    report: Callable[[int, int], None],
    *,
    connect: Connect = connect_to_files,
    recall: float = RECALL,
) -> tuple[LayerSearch, ...]:
    """Make every layer's vectors searchable, in place of what was in the folder; report(done, total) counts rows.

    A store that has the folder open must close it before. Returns what was measured, which search.json also says. A
    server has no timeout here. On an error nothing half-written stays, and questions are searched exactly. Raises
    StorageFailed, SearchIndexFailed, and what report() raises.
    """
    with written_or_nothing(place.folder):
        connection = connect(place)
        client, total, done = connection.client, sum(map(len, index.layers)), 0
        step, measured = client.get_max_batch_size(), []
        try:
            for layer in index.layers:
                vectors = np.asarray(layer.vectors)
                require_unit_rows(vectors, f"layer {layer.number}")
                name = connection.collection_name(layer.number)
                if not connection.own and name in {collection.name for collection in client.list_collections()}:
                    client.delete_collection(name)
                # Chroma writes the whole graph again each time this many rows were added: once, at the end.
                hnsw = {"space": "cosine", "sync_threshold": max(len(vectors), _SYNC_AT_LEAST)}
                collection = client.create_collection(name, embedding_function=None, configuration={"hnsw": hnsw})
                for start in range(0, len(vectors), step):
                    rows = range(start, min(start + step, len(vectors)))
                    collection.upsert(ids=[str(row) for row in rows], embeddings=vectors[rows.start : rows.stop])
                    done += len(rows)
                    report(done, total)
                measured.append(measured_search(layer, collection, recall))
        finally:
            if connection.own:
                client.close()  # before the folder is renamed or deleted
        if connection.own:
            with contextlib.closing(sqlite3.connect(place.database)) as database:
                database.execute("VACUUM")  # the rows' log was emptied and would keep its size
        place.folder.mkdir(parents=True, exist_ok=True)
        layers = tuple(measured)
        record = fingerprinted(place.folder, layers) if connection.own else SearchRecord(layers)
        write_json(place.record, sealed(plain(record)))
        return layers


def measured_search(layer: Layer, collection: Any, wanted: float = RECALL) -> LayerSearch:
    """Return the smallest number of candidates that reaches the wanted recall, or the largest tried."""
    vectors = np.asarray(layer.vectors)
    measured_with = queries_with_floors(vectors)
    for n in _CANDIDATES:
        recall = min(_recall_of(collection, vectors, queries, floors, n) for queries, floors in measured_with)
        if recall >= wanted or n >= len(vectors):
            break
    return LayerSearch(layer.number, len(vectors), n, round(recall, 4))


def _recall_of(collection: Any, vectors: np.ndarray, queries: np.ndarray, floors: np.ndarray, n: int) -> float:
    """Return the recall of n candidates. vectors: (rows, d) of the layer; queries: (q, d); floors: (q,)."""
    reply = collection.query(query_embeddings=list(queries), n_results=min(n, len(vectors)), include=[])
    return recall_of([np.array(ids, dtype=int) for ids in reply["ids"]], vectors, queries, floors)


if __name__ == "__main__":
    directory, folder, wanted = sys.argv[1:]
    try:
        write_search_index(
            SearchPlace(Path(directory), Path(folder)),
            read_index(Path(directory)),
            lambda done, total: tell(done=done, total=total),
            recall=float(wanted),
        )
    except LeanRAGError as refusal:
        tell(error=str(refusal))
        sys.exit(_DISK_REFUSED if isinstance(refusal, StorageFailed) else 1)
