"""The Chroma search index of an index directory: rebuildable, written by the one process that builds the index.

Chroma's files carry whatever lay in the unused memory of the process that wrote them. A process that holds secrets
therefore lets another one write them, which never held any.

One collection a layer, since a `where` filter costs many times a plain query; embeddings are always ours.
"""

import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from leanrag_core.errors import InvalidVectors, SearchIndexFailed
from leanrag_core.storage.layout import CHROMA, read_index
from leanrag_core.types.index import Index

_SECRET = re.compile(r"KEY|TOKEN|SECRET|PASSWORD|CREDENTIAL", re.I)


def require_unit_rows(vectors: np.ndarray, what: str) -> None:
    """Raises InvalidVectors when a row is NaN, zero, or not of length 1."""
    norms = np.linalg.norm(vectors, axis=1)
    bad = np.flatnonzero(~(np.abs(norms - 1.0) < 1e-3))
    if len(bad):
        raise InvalidVectors(f"{len(bad)} vectors of {what} are zero, NaN or not normalised (first: row {bad[0]})")


def holds_secrets() -> bool:
    """Whether the environment of this process has a variable that is named like a key or password."""
    return any(_SECRET.search(name) for name in os.environ)


def write_search_index_apart(directory: Path) -> None:
    """write_search_index() of the index that stands in the directory, by a process without this one's secrets."""
    clean = {name: value for name, value in os.environ.items() if not _SECRET.search(name)}
    here = str(Path(__file__).resolve().parents[2])
    clean["PYTHONPATH"] = os.pathsep.join(part for part in (here, clean.get("PYTHONPATH", "")) if part)
    done = subprocess.run(
        [sys.executable, "-m", __name__, str(directory)], env=clean, capture_output=True, text=True, check=False
    )
    if done.returncode != 0:
        raise SearchIndexFailed(f"the search index could not be written: {done.stderr.strip()[-300:]}")


def _client(directory: Path) -> Any:
    import chromadb
    from chromadb.config import Settings

    return chromadb.PersistentClient(path=str(directory / CHROMA), settings=Settings(anonymized_telemetry=False))


def _collection_name(layer: int) -> str:
    return f"entities-{layer}"


def write_search_index(directory: Path, index: Index, report: Callable[[int, int], None]) -> None:
    """Every layer's vectors are searchable; report(done, total) counts rows."""
    client = _client(directory)
    total, done = sum(map(len, index.layers)), 0
    for layer in index.layers:
        vectors = np.asarray(layer.vectors)
        require_unit_rows(vectors, f"layer {layer.number}")
        collection = client.create_collection(
            _collection_name(layer.number), embedding_function=None, configuration={"hnsw": {"space": "cosine"}}
        )
        ids = layer.entities["id"].to_pylist()
        step = min(client.get_max_batch_size(), 4096)
        for start in range(0, len(ids), step):
            collection.upsert(ids=ids[start : start + step], embeddings=vectors[start : start + step])
            done += len(ids[start : start + step])
            report(done, total)
    client._system.stop()  # the files are closed before the directory is renamed
    client.clear_system_cache()


def search(directory: Path, layer: int, vector: np.ndarray, n: int) -> list[str]:
    """Ids of about the n nearest entities of a layer, best first."""
    collection = _client(directory).get_collection(_collection_name(layer), embedding_function=None)
    found = collection.query(query_embeddings=[vector], n_results=min(n, collection.count()), include=[])
    return list(found["ids"][0])


if __name__ == "__main__":
    write_search_index(Path(sys.argv[1]), read_index(Path(sys.argv[1])), lambda done, total: None)
