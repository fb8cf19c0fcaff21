"""Writes the search index of an index: it can be made again at any time from the vectors.

search.json is written last: it says for each layer how many candidates Chroma must return so that the true ten nearest
are among them (recall), measured against exact search on vectors of the layer.
"""

import contextlib
import sqlite3
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np

from leanrag_core.atomic import write_json
from leanrag_core.environment import holds_secrets
from leanrag_core.errors import LeanRAGError
from leanrag_core.records import plain
from leanrag_core.storage.bounds import require_unit_rows
from leanrag_core.storage.json_files import sealed
from leanrag_core.storage.layout import read_index
from leanrag_core.storage.search_apart import exit_code_of, tell, write_search_index_apart, written_or_nothing
from leanrag_core.storage.search_connection import Connect, SearchPlace, connect_to_files
from leanrag_core.storage.search_files import fingerprinted, layer_searches
from leanrag_core.storage.search_recall import RECALL, measured_search
from leanrag_core.types.index import Index
from leanrag_core.types.manifest import LayerSearch, SearchRecord

_SYNC_AT_LEAST = 1000  # rows; fewer are read from Chroma's log when it is opened


def write_safely(
    place: SearchPlace,
    index: Index,
    report: Callable[[int, int], None],
    *,
    connect: Connect | None = None,
    recall: float = RECALL,
) -> tuple[LayerSearch, ...]:
    """write_search_index() that leaves no secret of this process in the files. connect: to a server; None for files.

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
    """Makes every layer's vectors searchable, in place of what was in the folder; report(done, total) counts rows.

    A store that has the folder open must close it before. Returns what was measured, which search.json also says. A
    server has no timeout here. On an error nothing half-written stays, and questions are searched exactly. Raises
    StorageFailed, SearchIndexFailed, and what report() raises.
    """
    with written_or_nothing(place.folder):
        return _write(place, index, report, connect, recall)


def _write(
    place: SearchPlace, index: Index, report: Callable[[int, int], None], connect: Connect, recall: float
) -> tuple[LayerSearch, ...]:
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
        sys.exit(exit_code_of(refusal))
