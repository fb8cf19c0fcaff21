"""Which files a table of an index is stored in: one, or parts of so many rows, each of which is a table by itself.

    entities-0.arrow                                    up to PART_ROWS rows, as ever
    entities-0-00000.arrow  entities-0-00001.arrow ...  above; the manifest lists them like any other file

Documents, chunks, entities and relations go into parts. The tree and vectors are numbers that are used as one array,
and stay one file of any size. A part is a pure function of its rows, so that parts can be written side by side; one
whose bytes are those of the index before is taken over (storage.taking_over).
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa

from leanrag_core.messages.message import message
from leanrag_core.storage.digests import damaged
from leanrag_core.storage.ownership import TABLE_PART
from leanrag_core.storage.tables import read_table, require_columns, rows_into, table_into, unread
from leanrag_core.storage.taking_over import EarlierFiles, put
from leanrag_core.types.manifest import FileRecord

# About a gigabyte of entities or relations is written, hashed and replaced at a time.
PART_ROWS = 1 << 22


@dataclass(frozen=True)
class TablePart:
    """The rows of a table in one file."""

    file: str
    start: int
    n_rows: int


def parts_of(name: str, n_rows: int) -> tuple[TablePart, ...]:
    """Return the files that a table of so many rows is written to."""
    if n_rows <= PART_ROWS:
        return (TablePart(f"{name}.arrow", 0, n_rows),)
    starts = range(0, n_rows, PART_ROWS)
    return tuple(
        TablePart(part_file(name, number), start, min(PART_ROWS, n_rows - start)) for number, start in enumerate(starts)
    )


def part_file(name: str, number: int) -> str:
    """Return the file name of that part of the table."""
    return f"{name}-{number:05}.arrow"


def files_of(name: str, recorded: Iterable[str]) -> tuple[str, ...]:
    """Return the files of the table among those that a manifest records, in the order of their rows: from the first
    part to the last one that is recorded, also those between that are not."""
    numbers = [int(match[2]) for file in recorded if (match := TABLE_PART.fullmatch(file)) and match[1] == name]
    return tuple(part_file(name, number) for number in range(max(numbers) + 1)) if numbers else (f"{name}.arrow",)


def write_part(
    path: Path,
    rows: pa.Table,
    counted: Callable[[pa.Table, pa.Table | None], pa.Table],
    earlier: EarlierFiles,
) -> FileRecord:
    """Write the rows, with what is counted of them, and return the file's record. counted: adds columns to the rows,
    given those of the same previous file, or None."""
    table = counted(rows, earlier.table(path.name, rows.schema))
    into = rows_into if TABLE_PART.fullmatch(path.name) else table_into
    return put(path, lambda sink: into(sink, table), earlier)


@dataclass(frozen=True, eq=False)
class StoredTable:
    """A table as it is stored. paths, parts: (k,) each, its files and what they hold, mapped."""

    paths: tuple[Path, ...]
    parts: tuple[pa.Table, ...]

    @property
    def whole(self) -> pa.Table:
        """The rows of all parts as one table; nothing is copied."""
        return self.parts[0] if len(self.parts) == 1 else pa.concat_tables(self.parts)


def read_parts(paths: Iterable[Path], schema: pa.Schema, read: Callable[[Path], pa.Table] = read_table) -> StoredTable:
    """Return the table in those files. Raises IndexDamaged, naming the file, for one that does not hold the columns of
    the schema, or others than the first file."""
    files = tuple(paths)
    parts: list[pa.Table] = []
    for path in files:
        part = read(path)
        try:
            require_columns(part, schema, path)
        except (ValueError, LookupError, TypeError) as error:  # such as a column whose name is no UTF-8
            raise unread(path, error) from error
        if parts and not part.schema.equals(parts[0].schema):
            raise damaged(path, message("damage.other_columns", file=files[0].name))
        parts.append(part)
    return StoredTable(files, tuple(parts))
