"""The index directory: the only place, with storage.ownership, that knows its file names.

manifest.json     format version, id, name, configuration, fingerprints, counts
documents.arrow   chunks.arrow
entities-L.arrow  relations-L.arrow  vectors-L.npy   one of each for layer L
hierarchy.arrow   layer, row, parent: the tree
vectors-chunks.npy  embeddings of the chunks
report.json       drops, clusters, usage
chroma/           rebuildable search index, never the only copy; search.json in it says how good it is

Tables are Arrow files, read by mapping them (storage.tables). Format 1 held the same tables as Parquet files, without
the columns that are counted when a table is written; it still opens, and these are then counted when they are needed.
No clock time is stored: the same build gives the same bytes. See storage.staging for how a directory takes its place.
"""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from leanrag_core.atomic import write_json
from leanrag_core.errors import IndexDamaged, IndexNotFound, IndexTooNew
from leanrag_core.storage import tables
from leanrag_core.storage.ownership import CHROMA as CHROMA
from leanrag_core.storage.ownership import MANIFEST as MANIFEST
from leanrag_core.storage.ownership import REPORT as REPORT
from leanrag_core.types.graph import Layer
from leanrag_core.types.index import Index
from leanrag_core.types.rows import numbers

FORMAT_VERSION = 2
SEARCH = f"{CHROMA}/search.json"  # beside what it speaks of, since Chroma's files are not the same from build to build


def write_index(directory: Path, index: Index) -> None:
    """All of the index but its search index stands in the directory, in the newest format."""

    def table(name: str, value: pa.Table) -> None:
        tables.write_table(directory / f"{name}.arrow", value)

    table("documents", index.documents)
    table("chunks", tables.chunks_with_places(index))
    tables.write_vectors(directory / "vectors-chunks.npy", index.chunk_vectors)
    tree: dict[str, list[np.ndarray]] = {"layer": [], "row": [], "parent": []}
    for layer in index.layers:
        table(f"entities-{layer.number}", tables.entities_with_tokens(layer))
        table(f"relations-{layer.number}", tables.relations_with_tokens(layer))
        tables.write_vectors(directory / f"vectors-{layer.number}.npy", layer.vectors)
        if len(layer.parent):
            tree["layer"].append(np.full(len(layer), layer.number, dtype=np.int32))
            tree["row"].append(np.arange(len(layer), dtype=np.int32))
            tree["parent"].append(layer.parent.astype(np.int32))
    empty = [np.zeros(0, dtype=np.int32)]
    table("hierarchy", pa.table({name: np.concatenate(parts or empty) for name, parts in tree.items()}))
    write_json(directory / REPORT, {name: held for name, held in index.report.items() if name != "search"})
    write_json(directory / MANIFEST, {**index.manifest, "format_version": FORMAT_VERSION})


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
    """The index in the directory, its tables and vectors memory-mapped; its report has "search", what is known of the
    search index, when there is one. Raises IndexNotFound, IndexDamaged or IndexTooNew."""
    manifest = read_manifest(directory)
    newest = int(manifest["format_version"]) >= 2

    def table(name: str) -> pa.Table:
        if newest:
            return tables.read_table(directory / f"{name}.arrow")
        return tables.read_parquet(directory / f"{name}.parquet")

    try:
        tree = table("hierarchy")
        owner, parent = numbers(tree["layer"]), numbers(tree["parent"])
        layers = tuple(
            Layer(
                entities=table(f"entities-{number}"),
                relations=table(f"relations-{number}"),
                number=number,
                vectors=tables.read_vectors(directory / f"vectors-{number}.npy"),
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
        report = json.loads((directory / REPORT).read_text(encoding="utf-8"))
        if (directory / SEARCH).is_file():
            report["search"] = json.loads((directory / SEARCH).read_text(encoding="utf-8"))
        return Index(
            manifest=manifest,
            documents=table("documents"),
            chunks=table("chunks"),
            layers=layers,
            chunk_vectors=tables.read_vectors(directory / "vectors-chunks.npy"),
            report=report,
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
