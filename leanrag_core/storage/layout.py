"""The index directory: the only place, with storage.ownership, that knows its file names.

manifest.json     format version, id, name, configuration, fingerprints, counts; size and sha256 of the files below,
                  and a hash of itself
documents.arrow   chunks.arrow
entities-L.arrow  relations-L.arrow  vectors-L.npy   one of each for layer L
hierarchy.arrow   layer, row, parent: the tree
vectors-chunks.npy  embeddings of the chunks
report.json       drops, clusters, usage
imported.json     foreign-ids.arrow: of an import alone (storage.layout)
edits.json        edits by hand, where there are any (types.updating)
calls.arrow       which call of a language model wrote what, where there was one (storage.layout)
parts/            what strategies need beside, each in NAME/FINGERPRINT/ with a record of its own (storage.part_store)
chroma/           search index of before there were parts; still searched

Tables are Arrow files, read by mapping them (storage.tables). Format 1 held the same tables as Parquet files, without
the columns that are counted when a table is written; it still opens, and these are then counted when they are needed.
No clock time is stored: the same build gives the same bytes. See storage.staging for how a directory takes its place.
"""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pyarrow as pa

from leanrag_core.errors import IndexNotFound, IndexTooNew
from leanrag_core.files.atomic import write_bytes, writing
from leanrag_core.files.records import json_bytes, plain
from leanrag_core.messages.message import message
from leanrag_core.storage import tables
from leanrag_core.storage.digests import (
    damaged,
    digests_of,
    read_object,
    read_record,
    require_same,
    require_seal,
    sealed,
)
from leanrag_core.storage.ownership import CALLS, EDITS, FOREIGN_IDS, IMPORTED
from leanrag_core.storage.ownership import CHROMA as CHROMA
from leanrag_core.storage.ownership import MANIFEST as MANIFEST
from leanrag_core.storage.ownership import REPORT as REPORT
from leanrag_core.storage.tables import read_table, require_columns, unread, write_table
from leanrag_core.types.build_report import BuildReport
from leanrag_core.types.calls import WrittenCall
from leanrag_core.types.graph import ENTITY_SCHEMA, RELATION_SCHEMA, Layer
from leanrag_core.types.imported import NO_EXTRAS, ForeignId, ImportedClaim, ImportedCommunity, ImportedExtras
from leanrag_core.types.index import CHUNK_SCHEMA, DOCUMENT_SCHEMA, Index
from leanrag_core.types.manifest import Manifest
from leanrag_core.types.rows import numbers
from leanrag_core.types.updating import NO_EDITS, EditLog

_MAX_IMPORTED_BYTES = 1_000_000_000
_SCHEMA = pa.schema([("kind", pa.string()), ("id", pa.string()), ("foreign_id", pa.string())])


@dataclass(frozen=True)
class _Record:
    """imported.json."""

    format: str
    communities: tuple[ImportedCommunity, ...] = ()
    claims: tuple[ImportedClaim, ...] = ()


def write_imported(directory: Path, extras: ImportedExtras) -> tuple[str, ...]:
    """Write the files that the extras need into the folder; returns their names."""
    if not extras:
        return ()
    record = _Record(extras.format, extras.communities, extras.claims)
    write_bytes(directory / IMPORTED, json_bytes(plain(record), indent=1))
    write_table(directory / FOREIGN_IDS, foreign_id_table(extras))
    return IMPORTED, FOREIGN_IDS


def foreign_id_table(extras: ImportedExtras) -> pa.Table:
    """Return the foreign ids, a row each."""
    columns = {name: [getattr(each, name) for each in extras.foreign_ids] for name in _SCHEMA.names}
    return pa.table(columns, schema=_SCHEMA)


def read_imported(directory: Path) -> ImportedExtras:
    """Return what the index in the folder keeps of an import; empty where it keeps nothing. Raises IndexDamaged."""
    path = directory / IMPORTED
    if not path.is_file():
        return NO_EXTRAS
    record = read_record(_Record, path, read_object(path, max_bytes=_MAX_IMPORTED_BYTES))
    return ImportedExtras(record.format, record.communities, record.claims, _foreign_ids(directory / FOREIGN_IDS))


def foreign_ids_of(directory: Path, kind: str) -> Mapping[str, tuple[str, ...]]:
    """Return the foreign ids of the things of that kind (entity, relation, chunk, document) by their ids in the
    index."""
    listed: dict[str, tuple[str, ...]] = {}
    path = directory / FOREIGN_IDS
    for each in _foreign_ids(path) if path.is_file() else ():
        if each.kind == kind:
            listed[each.id] = (*listed.get(each.id, ()), each.foreign_id)
    return listed


def _foreign_ids(path: Path) -> tuple[ForeignId, ...]:
    table = read_table(path)
    require_columns(table, _SCHEMA, path)
    try:
        return tuple(ForeignId(**row) for row in table.select(_SCHEMA.names).to_pylist())
    except UnicodeDecodeError as error:
        raise unread(path, error) from error


# One row a call, in the order in which a build uses the replies, so that a row's number is the number of the call.
# Seconds are not here: they differ from build to build, and the store of calls has them.
CALL_SCHEMA = pa.schema(
    [
        ("key", pa.string()),
        ("kind", pa.string()),
        ("layer", pa.int32()),
        ("target", pa.string()),
        ("prompt_tokens", pa.int32()),
        ("completion_tokens", pa.int32()),
        ("cost", pa.float64()),
    ]
)


def calls_table(calls: Sequence[WrittenCall]) -> pa.Table | None:
    """Return the table that an index keeps; None when no model was called, so that such an index has no such file."""
    if not calls:
        return None
    columns = {
        "key": [written.call.key for written in calls],
        "kind": [written.kind for written in calls],
        "layer": [written.layer for written in calls],
        "target": [written.target for written in calls],
        "prompt_tokens": [written.call.usage.prompt_tokens for written in calls],
        "completion_tokens": [written.call.usage.completion_tokens for written in calls],
        "cost": [written.call.usage.cost for written in calls],
    }
    return pa.table(columns, schema=CALL_SCHEMA)


FORMAT_VERSION = 2
CHUNKS = "chunks"
_MAX_BYTES = {MANIFEST: 16_000_000, REPORT: 500_000_000}
_TREE_SCHEMA = pa.schema([("layer", pa.int32()), ("row", pa.int32()), ("parent", pa.int32())])
_MAX_EDITS_BYTES = 256_000_000


def write_index(directory: Path, index: Index, extras: ImportedExtras = NO_EXTRAS, edits: EditLog = NO_EDITS) -> None:
    """Write all of the index but its parts, in the newest format. extras: what an import has beside its graph.
    edits: the log that its build has replayed."""

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
    write_bytes(directory / REPORT, json_bytes(plain(index.report), indent=1))
    beside = (*write_imported(directory, extras), *write_edits(directory, edits))
    if index.calls is not None:
        tables.write_table(directory / CALLS, index.calls)
        beside = (*beside, CALLS)
    files = digests_of(directory, (*file_names(FORMAT_VERSION, len(index.layers)), *beside))
    write_manifest(directory, replace(index.manifest, format_version=FORMAT_VERSION, files=files))


def file_names(version: int, n_layers: int) -> tuple[str, ...]:
    """Return the files of an index beside its manifest and its search index."""
    tables_of = [f"{kind}-{number}" for number in range(n_layers) for kind in ("entities", "relations")]
    vectors = [f"vectors-{part}.npy" for part in (*range(n_layers), "chunks")]
    return (
        *(_table_file(version, name) for name in ("documents", "chunks", "hierarchy", *tables_of)),
        *vectors,
        REPORT,
    )


def vectors_path(index: Index, part: int | str) -> Path:
    """Return the file of a layer's vectors (part: its number) or of the chunks' (part: CHUNKS)."""
    return (index.path or Path(index.id)) / f"vectors-{part}.npy"


def table_path(index: Index, name: str) -> Path:
    """Return the file of a table: documents, chunks, hierarchy, entities-L, relations-L."""
    return (index.path or Path(index.id)) / _table_file(index.manifest.format_version, name)


def _table_file(version: int, name: str) -> str:
    return f"{name}.arrow" if version >= 2 else f"{name}.parquet"


def write_manifest(directory: Path, manifest: Manifest) -> None:
    """Write the manifest, sealed by its own hash."""
    write_bytes(directory / MANIFEST, json_bytes(sealed(manifest.values()), indent=1))


def read_manifest(directory: Path) -> Manifest:
    """Return the manifest of the index there. Raises IndexNotFound, IndexDamaged or IndexTooNew."""
    return _read_manifest(directory)[0]


def _read_manifest(directory: Path) -> tuple[Manifest, dict[str, object]]:
    """Return the manifest, and its JSON values with those that only a newer version knows."""
    path = directory / MANIFEST
    if not path.is_file():
        raise IndexNotFound("index.not_in_folder", folder=str(directory))
    values = read_object(path, max_bytes=_MAX_BYTES[MANIFEST])
    version = values.get("format_version")
    if isinstance(version, int) and version > FORMAT_VERSION:
        raise IndexTooNew("index.too_new", folder=str(directory), version=version, newest=FORMAT_VERSION)
    manifest = read_record(Manifest, path, values)
    require_seal(values, path)
    counts = manifest.counts
    if not counts.layers == len(counts.entities) == len(counts.relations) == len(manifest.layers):
        raise damaged(path, message("damage.layers_miscounted"))
    return replace(manifest, config=manifest.config.noting(values["config"])), values


def read_index(directory: Path, *, hashes: bool = True) -> Index:
    """Return the index in the directory, its tables and vectors memory-mapped.

    Small files are compared with the hashes of the manifest, of large ones sizes, offsets and rows are checked, so that
    a damaged file is an error here and not later. hashes: False for a caller that compares them all. Raises
    IndexNotFound, IndexDamaged or IndexTooNew.
    """
    manifest = read_manifest(directory)
    version, n_layers, recorded = manifest.format_version, manifest.counts.layers, manifest.files
    missing = sorted(set(file_names(version, n_layers)) - set(recorded)) if recorded else ()
    if missing:
        raise damaged(directory / MANIFEST, message("damage.not_recorded", file=missing[0]))
    if hashes:
        require_same(directory, recorded)

    def table(name: str, schema: pa.Schema) -> pa.Table:
        path = directory / _table_file(version, name)
        return required(tables.read_table(path) if version >= 2 else tables.read_parquet(path), schema, path)

    def required(read: pa.Table, schema: pa.Schema, path: Path) -> pa.Table:
        try:
            tables.require_columns(read, schema, path)
        except (ValueError, LookupError, TypeError) as error:  # such as a column whose name is no UTF-8
            raise tables.unread(path, error) from error
        return read

    def vectors(name: str, rows: int) -> np.ndarray:
        """Return the (rows, dim) vectors of that name, mapped."""
        path = directory / f"vectors-{name}.npy"
        stored = tables.read_vectors(path)
        tables.require_vectors(stored, rows, manifest.embedding.dimension, path)
        return stored

    entities = [table(f"entities-{number}", ENTITY_SCHEMA) for number in range(n_layers)]
    relations = [table(f"relations-{number}", RELATION_SCHEMA) for number in range(n_layers)]
    documents, chunks = table("documents", DOCUMENT_SCHEMA), table("chunks", CHUNK_SCHEMA)
    tables.require_chunks(documents, chunks, directory / _table_file(version, "chunks"))
    tree = table("hierarchy", _TREE_SCHEMA)
    sizes = [table.num_rows for table in entities]
    tables.require_tree(tree, sizes, directory / _table_file(version, "hierarchy"))
    parents = np.split(numbers(tree["parent"]), np.cumsum(sizes[:-1]))
    layers: list[Layer] = []
    for number in range(n_layers):
        layer = Layer(entities[number], relations[number], number, vectors(str(number), sizes[number]), parents[number])
        places = [directory / _table_file(version, f"{kind}-{number}") for kind in ("entities", "relations")]
        tables.require_layer(layer, layers[-1] if layers else None, chunks.num_rows, *places)
        layers.append(layer)
    report = read_report(directory)
    return Index(
        manifest=manifest,
        documents=documents,
        chunks=chunks,
        layers=tuple(layers),
        chunk_vectors=vectors("chunks", chunks.num_rows),
        report=report,
        path=directory,
        calls=required(tables.read_table(directory / CALLS), CALL_SCHEMA, directory / CALLS)
        if CALLS in recorded
        else None,
    )


def read_report(directory: Path) -> BuildReport:
    """Return the report of the index in that directory. Raises IndexDamaged."""
    path = directory / REPORT
    return read_record(BuildReport, path, read_object(path, max_bytes=_MAX_BYTES[REPORT]))


def rename_index(directory: Path, name: str) -> None:
    """Rename the index; its id and content stay, and what a newer version wrote into its manifest."""
    values = _read_manifest(directory)[1]
    with writing(message("what.index_name", index=directory.name), message("kept.name")):
        write_bytes(directory / MANIFEST, json_bytes(sealed({**values, "name": name}), indent=1))


def size_bytes(directory: Path) -> int:
    """Return bytes of all files below the folder, such as that of an index; one that is deleted meanwhile counts
    nothing."""
    total = 0
    for path in directory.rglob("*"):
        with suppress(FileNotFoundError):
            total += path.stat().st_size if path.is_file() else 0
    return total


def write_edits(directory: Path, log: EditLog) -> tuple[str, ...]:
    """Write the log into the folder of an index; returns the names of the files, none for an empty log."""
    if not log.edits:
        return ()
    write_bytes(directory / EDITS, json_bytes(plain(log), indent=1))
    return (EDITS,)


def read_edits(directory: Path) -> EditLog:
    """Return the log of the index in the folder; empty where there is none. Raises IndexDamaged."""
    path = directory / EDITS
    if not path.is_file():
        return NO_EDITS
    return read_record(EditLog, path, read_object(path, max_bytes=_MAX_EDITS_BYTES))
