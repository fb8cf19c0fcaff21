"""The index directory: the only place, with storage.ownership, that knows its file names.

manifest.json     format version, id, name, configuration, fingerprints, counts; size and sha256 of the files below,
                  and a hash of itself
documents.arrow   chunks.arrow
entities-L.arrow  relations-L.arrow  vectors-L.npy   one of each for layer L
                  above some millions of rows a table is in parts, entities-L-00000.arrow ... (storage.table_parts)
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

from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from leanrag_core.errors import IndexNotFound, IndexTooNew, LeanRAGError
from leanrag_core.files.atomic import write_bytes, writing
from leanrag_core.files.records import json_bytes, plain
from leanrag_core.messages.message import message
from leanrag_core.storage import tables
from leanrag_core.storage.counted_columns import chunks_with_places, entities_with_tokens, relations_with_tokens
from leanrag_core.storage.digests import (
    damaged,
    digests_of,
    read_object,
    read_record,
    require_same,
    require_seal,
    sealed,
)
from leanrag_core.storage.ownership import CALLS, EDITS, FOREIGN_IDS, IMPORTED, TABLE_PART, is_table_file
from leanrag_core.storage.ownership import CHROMA as CHROMA
from leanrag_core.storage.ownership import MANIFEST as MANIFEST
from leanrag_core.storage.ownership import REPORT as REPORT
from leanrag_core.storage.table_parts import StoredTable, files_of, parts_of, read_parts, write_part
from leanrag_core.storage.tables import read_table, require_columns, unread, write_table
from leanrag_core.storage.taking_over import NO_EARLIER, EarlierFiles, put
from leanrag_core.types.build_report import BuildReport
from leanrag_core.types.calls import WrittenCall
from leanrag_core.types.graph import ENTITY_SCHEMA, RELATION_SCHEMA, Layer
from leanrag_core.types.imported import NO_EXTRAS, ForeignId, ImportedClaim, ImportedCommunity, ImportedExtras
from leanrag_core.types.index import CHUNK_SCHEMA, DOCUMENT_SCHEMA, CorpusTables, Index
from leanrag_core.types.manifest import FileRecord, Manifest
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
PARTS_FORMAT = 3  # of an index that has a table in parts; the newest that is read
CHUNKS = "chunks"
_MAX_BYTES = {MANIFEST: 16_000_000, REPORT: 500_000_000}
_TREE_SCHEMA = pa.schema([("layer", pa.int32()), ("row", pa.int32()), ("parent", pa.int32())])
_MAX_EDITS_BYTES = 256_000_000
_WRITERS = 2  # files that are written and hashed at a time


def write_index(
    directory: Path,
    index: Index,
    extras: ImportedExtras = NO_EXTRAS,
    edits: EditLog = NO_EDITS,
    *,
    replaced: Path | None = None,
    writers: int = _WRITERS,
) -> None:
    """Write all of the index but its parts, in the oldest format that holds it. extras: what an import has beside its
    graph. edits: the log that its build has replayed. replaced: the folder of the index whose place it takes, if any:
    tables and vectors that stay the same are taken over from there. writers: how many files are written at a time; the
    bytes are the same."""
    earlier = _earlier_files(replaced)
    jobs = {file: partial(job, directory / file, earlier=earlier) for file, job in _files_to_write(index, earlier)}
    with ThreadPoolExecutor(writers) as pool:
        written = dict(zip(jobs, pool.map(lambda job: job(), jobs.values()), strict=True))
    write_bytes(directory / REPORT, json_bytes(plain(index.report), indent=1))
    beside = (REPORT, *write_imported(directory, extras), *write_edits(directory, edits))
    files = dict(sorted({**written, **digests_of(directory, beside)}.items()))
    has_parts = any(map(TABLE_PART.fullmatch, files))
    version = PARTS_FORMAT if has_parts else FORMAT_VERSION
    write_manifest(directory, replace(index.manifest, format_version=version, files=files))


def _files_to_write(index: Index, earlier: EarlierFiles) -> Iterable[tuple[str, Callable[..., FileRecord]]]:
    """Yield names of the files of tables and vectors, and what writes each: given its path and the earlier files, it
    returns the file's record."""
    documents_before = _earlier_documents(earlier)

    def places(chunks: pa.Table, before: pa.Table | None) -> pa.Table:
        known = before is not None and documents_before is not None
        return chunks_with_places(index.documents, chunks, CorpusTables(documents_before, before) if known else None)

    counted: list[tuple[str, pa.Table, Callable[[pa.Table, pa.Table | None], pa.Table]]] = [
        ("documents", index.documents, _as_it_is),
        ("chunks", index.chunks, places),
    ]
    for layer in index.layers:
        counted.append((f"entities-{layer.number}", layer.entities, entities_with_tokens))
        counted.append((f"relations-{layer.number}", layer.relations, relations_with_tokens))
    for name, table, columns in counted:
        for each in parts_of(name, table.num_rows):
            yield each.file, partial(write_part, rows=table.slice(each.start, each.n_rows), counted=columns)
    vectors = {CHUNKS: index.chunk_vectors, **{str(layer.number): layer.vectors for layer in index.layers}}
    for name, rows in vectors.items():
        yield f"vectors-{name}.npy", partial(put, fill=partial(tables.vectors_into, vectors=rows))
    alone = {"hierarchy.arrow": _tree(index.layers), **({CALLS: index.calls} if index.calls is not None else {})}
    for file, table in alone.items():
        yield file, partial(put, fill=partial(tables.table_into, table=table))


def _as_it_is(rows: pa.Table, before: pa.Table | None) -> pa.Table:
    return rows


def _tree(layers: Sequence[Layer]) -> pa.Table:
    columns: dict[str, list[np.ndarray]] = {name: [np.zeros(0, dtype=np.int32)] for name in _TREE_SCHEMA.names}
    for layer in layers:
        if len(layer.parent):
            columns["layer"].append(np.full(len(layer), layer.number, dtype=np.int32))
            columns["row"].append(np.arange(len(layer), dtype=np.int32))
            columns["parent"].append(layer.parent.astype(np.int32))
    return pa.table({name: np.concatenate(values) for name, values in columns.items()})


def _earlier_files(folder: Path | None) -> EarlierFiles:
    """Return what can be taken over from the index in the folder; nothing where it holds no readable index."""
    with suppress(LeanRAGError):
        return NO_EARLIER if folder is None else EarlierFiles(folder, read_manifest(folder).files)
    return NO_EARLIER


def _earlier_documents(earlier: EarlierFiles) -> pa.Table | None:
    with suppress(LeanRAGError):
        files = files_of("documents", earlier.recorded)
        if set(files) <= set(earlier.recorded):
            return read_parts([earlier.folder / file for file in files], DOCUMENT_SCHEMA).whole
    return None


def file_names(version: int, n_layers: int, recorded: Iterable[str] = ()) -> tuple[str, ...]:
    """Return the files of an index beside its manifest and its search index. recorded: those that its manifest
    records, which say what is in parts."""
    tables_of = [f"{kind}-{number}" for number in range(n_layers) for kind in ("entities", "relations")]
    vectors = [f"vectors-{part}.npy" for part in (*range(n_layers), "chunks")]
    names = ("documents", "chunks", "hierarchy", *tables_of)
    return (*(file for name in names for file in _table_files(version, name, recorded)), *vectors, REPORT)


def surplus_files(index: Index) -> list[str]:
    """Return files of the index's folder that look like its tables or vectors, but that it does not read."""
    if index.path is None:
        return []
    manifest = index.manifest
    index_files = {*file_names(manifest.format_version, manifest.counts.layers, manifest.files), CALLS, FOREIGN_IDS}
    return sorted(
        path.name for path in index.path.iterdir() if is_table_file(path.name) and path.name not in index_files
    )


def located(index: Index, name: str, row: int) -> tuple[str, int]:
    """Return the file of a row of a table, and the row in that file. name: of the file, as table_path says."""
    if not name.endswith(_ANY_PART):
        return name, row
    start = 0
    for file in files_of(name.removesuffix(_ANY_PART), index.manifest.files):
        n_rows = read_table((index.path or Path(index.id)) / file).num_rows
        if row < start + n_rows:
            return file, row - start
        start += n_rows
    return name, row


def vectors_path(index: Index, part: int | str) -> Path:
    """Return the file of a layer's vectors (part: its number) or of the chunks' (part: CHUNKS)."""
    return (index.path or Path(index.id)) / f"vectors-{part}.npy"


def table_path(index: Index, name: str) -> Path:
    """Return the file of a table: documents, chunks, hierarchy, entities-L, relations-L; of one in parts the name that
    they have in common, with a star (see located)."""
    files = _table_files(index.manifest.format_version, name, index.manifest.files)
    return (index.path or Path(index.id)) / (files[0] if len(files) == 1 else f"{name}{_ANY_PART}")


_ANY_PART = "-*.arrow"


def _table_files(version: int, name: str, recorded: Iterable[str]) -> tuple[str, ...]:
    if version < 2:
        return (f"{name}.parquet",)
    return files_of(name, recorded) if version >= PARTS_FORMAT else (f"{name}.arrow",)


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
    if isinstance(version, int) and version > PARTS_FORMAT:
        raise IndexTooNew("index.too_new", folder=str(directory), version=version, newest=PARTS_FORMAT)
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
    missing = sorted(set(file_names(version, n_layers, recorded)) - set(recorded)) if recorded else ()
    if missing:
        raise damaged(directory / MANIFEST, message("damage.not_recorded", file=missing[0]))
    if hashes:
        require_same(directory, recorded)

    def table(name: str, schema: pa.Schema) -> StoredTable:
        paths = [directory / file for file in _table_files(version, name, recorded)]
        return read_parts(paths, schema, tables.read_table if version >= 2 else tables.read_parquet)

    def vectors(name: str, rows: int) -> np.ndarray:
        """Return the (rows, dim) vectors of that name, mapped."""
        path = directory / f"vectors-{name}.npy"
        stored = tables.read_vectors(path)
        tables.require_vectors(stored, rows, manifest.embedding.dimension, path)
        return stored

    stored = [
        (table(f"entities-{n}", ENTITY_SCHEMA), table(f"relations-{n}", RELATION_SCHEMA)) for n in range(n_layers)
    ]
    documents, chunks = table("documents", DOCUMENT_SCHEMA).whole, table("chunks", CHUNK_SCHEMA)
    for part, path in zip(chunks.parts, chunks.paths, strict=True):
        tables.require_chunks(documents, part, path)
    tree, n_chunks = table("hierarchy", _TREE_SCHEMA), chunks.whole.num_rows
    wholes = [(entities.whole, relations.whole) for entities, relations in stored]
    sizes = [entities.num_rows for entities, _ in wholes]
    tables.require_tree(tree.whole, sizes, tree.paths[0])
    parents = np.split(numbers(tree.whole["parent"]), np.cumsum(sizes[:-1]))
    layers: list[Layer] = []
    for number, (entities, relations) in enumerate(stored):
        for part, path in zip(entities.parts, entities.paths, strict=True):
            tables.require_entities(part, n_chunks, path)
        n_below = wholes[number - 1][1].num_rows if number else 0
        for part, path in zip(relations.parts, relations.paths, strict=True):
            tables.require_relations(part, sizes[number], n_below, n_chunks, path)
        layers.append(Layer(*wholes[number], number, vectors(str(number), sizes[number]), parents[number]))
    report = read_report(directory)
    return Index(
        manifest=manifest,
        documents=documents,
        chunks=chunks.whole,
        layers=tuple(layers),
        chunk_vectors=vectors("chunks", n_chunks),
        report=report,
        path=directory,
        calls=read_parts([directory / CALLS], CALL_SCHEMA).whole if CALLS in recorded else None,
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


def rename_corpus(directory: Path, name: str) -> None:
    """Write the new name of the index's corpus; the rest as rename_index()."""
    values: dict[str, Any] = {**_read_manifest(directory)[1]}
    with writing(message("what.index_name", index=directory.name), message("kept.name")):
        renamed = {**values, "corpus": {**values["corpus"], "name": name}}
        write_bytes(directory / MANIFEST, json_bytes(sealed(renamed), indent=1))


def size_bytes(directory: Path) -> int:
    """Return bytes of all files below the folder, such as that of an index; one that is deleted meanwhile does not
    count."""
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
