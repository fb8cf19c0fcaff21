"""What an index of an import holds beside its graph: two files that the manifest records like all others.

imported.json      format, communities with their reports, claims
foreign-ids.arrow  kind, id, foreign_id: what the other system called entities, relations, chunks and documents
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa

from leanrag_core.files.atomic import write_bytes
from leanrag_core.files.records import json_bytes, plain
from leanrag_core.storage.bounds import require_columns
from leanrag_core.storage.json_files import read_object, read_record
from leanrag_core.storage.ownership import FOREIGN_IDS, IMPORTED
from leanrag_core.storage.tables import read_table, unread, write_table
from leanrag_core.types.imported import NO_EXTRAS, ForeignId, ImportedClaim, ImportedCommunity, ImportedExtras

_MAX_BYTES = 1_000_000_000
_SCHEMA = pa.schema([("kind", pa.string()), ("id", pa.string()), ("foreign_id", pa.string())])


@dataclass(frozen=True)
class _Record:
    """imported.json."""

    format: str
    communities: tuple[ImportedCommunity, ...] = ()
    claims: tuple[ImportedClaim, ...] = ()


def write_imported(directory: Path, extras: ImportedExtras) -> tuple[str, ...]:
    """Writes the files that the extras need into the folder; returns their names."""
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
    record = read_record(_Record, path, read_object(path, max_bytes=_MAX_BYTES))
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
