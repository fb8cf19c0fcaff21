"""The index directory: the only place that knows its file names.

manifest.json       format version, id, name, configuration, fingerprints, counts
documents.parquet   chunks.parquet
entities-L.parquet  relations-L.parquet  vectors-L.npy   one of each for layer L
hierarchy.parquet   layer, row, parent: the tree
vectors-chunks.npy  embeddings of the chunks
report.json         drops, clusters, usage
chroma/             rebuildable search index, never the only copy

No clock time is stored: the same build gives the same bytes. Directories are built beside and renamed into place.
"""

import contextlib
import json
import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from leanrag_core.atomic import write_json
from leanrag_core.errors import IndexDamaged, IndexNotFound, IndexTooNew
from leanrag_core.types.graph import Layer
from leanrag_core.types.index import Index

FORMAT_VERSION = 1
MANIFEST = "manifest.json"
REPORT = "report.json"
CHROMA = "chroma"
_STAGING = ".building-"
_RETIRED = ".retired-"


@contextlib.contextmanager
def staged(target: Path) -> Iterator[Path]:
    """A fresh directory beside target that takes its place when the block ends well, and vanishes otherwise."""
    target.parent.mkdir(parents=True, exist_ok=True)
    remove_stale_staging(target)
    staging = target.parent / f"{_STAGING}{target.name}-{os.getpid()}"
    staging.mkdir()
    try:
        yield staging
        retired = target.parent / f"{_RETIRED}{target.name}-{os.getpid()}"
        if target.exists():
            os.replace(target, retired)
        os.replace(staging, target)
        shutil.rmtree(retired, ignore_errors=True)
    finally:
        shutil.rmtree(staging, ignore_errors=True)


def remove_stale_staging(target: Path) -> None:
    """Half-made directories of processes that died while they built target are gone."""
    for prefix in (_STAGING, _RETIRED):
        for path in target.parent.glob(f"{prefix}{target.name}-*"):
            owner = path.name.rsplit("-", 1)[1]
            if owner == str(os.getpid()) or not _alive(int(owner) if owner.isdigit() else 0):
                if prefix == _RETIRED and not target.exists():
                    os.replace(path, target)  # died between the two renames: the old one comes back
                else:
                    shutil.rmtree(path, ignore_errors=True)


def _alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return pid > 0


def write_index(directory: Path, index: Index) -> None:
    """All of the index but its search index stands in the directory."""
    import pyarrow.parquet as pq

    def table(name: str, value: pa.Table) -> None:
        pq.write_table(value, directory / f"{name}.parquet", compression="zstd")

    table("documents", index.documents)
    table("chunks", index.chunks)
    np.save(directory / "vectors-chunks.npy", index.chunk_vectors)
    tree: dict[str, list[np.ndarray]] = {"layer": [], "row": [], "parent": []}
    for layer in index.layers:
        table(f"entities-{layer.number}", layer.entities)
        table(f"relations-{layer.number}", layer.relations)
        np.save(directory / f"vectors-{layer.number}.npy", np.ascontiguousarray(layer.vectors, dtype=np.float32))
        if len(layer.parent):
            tree["layer"].append(np.full(len(layer), layer.number, dtype=np.int32))
            tree["row"].append(np.arange(len(layer), dtype=np.int32))
            tree["parent"].append(layer.parent.astype(np.int32))
    empty = [np.zeros(0, dtype=np.int32)]
    table("hierarchy", pa.table({name: np.concatenate(parts or empty) for name, parts in tree.items()}))
    write_json(directory / REPORT, index.report)
    write_json(directory / MANIFEST, index.manifest)


def read_manifest(directory: Path) -> dict[str, Any]:
    """The manifest of the index there. Raises IndexNotFound, IndexDamaged or IndexTooNew."""
    path = directory / MANIFEST
    if not path.is_file():
        raise IndexNotFound(
            f"no index in {directory}: build it on the Build page or with 'python -m leanrag_core build PATH --out DIR'"
        )
    try:
        manifest = json.loads(path.read_text(encoding="utf-8"))
        version = int(manifest["format_version"])
    except (ValueError, KeyError, TypeError) as error:
        raise IndexDamaged(f"{path} is not a readable manifest ({error}): build the index again") from error
    if version > FORMAT_VERSION:
        raise IndexTooNew(
            f"{directory} has index format {version}, this program reads up to {FORMAT_VERSION}: update the program"
        )
    return dict(manifest)


def read_index(directory: Path) -> Index:
    """The index in the directory, its vectors memory-mapped. Raises IndexNotFound, IndexDamaged or IndexTooNew."""
    import pyarrow.parquet as pq

    manifest = read_manifest(directory)
    try:
        tree = pq.read_table(directory / "hierarchy.parquet")
        owner, parent = tree["layer"].to_numpy(), tree["parent"].to_numpy()
        layers = tuple(
            Layer(
                entities=pq.read_table(directory / f"entities-{number}.parquet").combine_chunks(),
                relations=pq.read_table(directory / f"relations-{number}.parquet").combine_chunks(),
                number=number,
                vectors=np.load(directory / f"vectors-{number}.npy", mmap_mode="r", allow_pickle=False),
                parent=parent[owner == number],
            )
            for number in range(int(manifest["counts"]["layers"]))
        )
        for layer in layers:
            if len(layer) != len(layer.vectors):
                raise IndexDamaged(
                    f"layer {layer.number} of {directory} has {len(layer)} entities but {len(layer.vectors)} vectors: "
                    "build the index again"
                )
        return Index(
            manifest=manifest,
            documents=pq.read_table(directory / "documents.parquet").combine_chunks(),
            chunks=pq.read_table(directory / "chunks.parquet").combine_chunks(),
            layers=layers,
            chunk_vectors=np.load(directory / "vectors-chunks.npy", mmap_mode="r", allow_pickle=False),
            report=json.loads((directory / REPORT).read_text(encoding="utf-8")),
            path=directory,
        )
    except (OSError, ValueError, KeyError, pa.ArrowException) as error:
        raise IndexDamaged(f"a file of the index in {directory} does not read ({error}): build it again") from error


def rename_index(directory: Path, name: str) -> None:
    """The index bears that name; its id and content stay."""
    manifest = read_manifest(directory)
    write_json(directory / MANIFEST, {**manifest, "name": name})


def size_bytes(directory: Path) -> int:
    """Bytes of all files of the index."""
    return sum(path.stat().st_size for path in directory.rglob("*") if path.is_file())


def delete_index(directory: Path) -> None:
    """The index is gone: first from sight, then from the disk. Raises IndexNotFound."""
    read_manifest(directory)
    retired = directory.parent / f"{_RETIRED}deleted-{directory.name}-{os.getpid()}"
    os.replace(directory, retired)
    shutil.rmtree(retired, ignore_errors=True)
