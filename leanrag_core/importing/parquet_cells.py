"""Rows of a Parquet file, some hundred at a time, so that a file that unpacks to far more than it holds stays small."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa

from leanrag_core.errors import ImportFailed
from leanrag_core.indexing.parsing.blocks import shown_name
from leanrag_core.text.plain_words import in_words

MAX_ROWS = 10_000_000
MAX_UNPACKED_BYTES = 4_000_000_000  # of the columns that are read, as the file says
MAX_COLUMNS = 1000
_BATCH_ROWS = 512
_BATCH_BYTES = 500_000_000  # that the cells of a batch may have, were each as large as all that its column holds
_VECTORS = ("embedding", "vector")  # ends of names of columns that nothing here uses


def parquet_cells(path: Path) -> Iterator[dict[str, Any]]:
    """Yield each row's cells, columns in lower case, without columns of vectors.

    Raises ImportFailed for a file that is no Parquet, damaged, or too large.
    """
    import pyarrow.parquet as pq

    name = shown_name(path.name)
    try:
        with pq.ParquetFile(path, thrift_string_size_limit=100_000_000) as file:
            columns = [column for column in file.schema_arrow.names if not column.lower().endswith(_VECTORS)]
            _require_bounded(file.metadata, name)
            lowered = [column.strip().lower() for column in columns]
            if len(set(lowered)) < len(lowered):
                twice = next(column for column in lowered if lowered.count(column) > 1)
                raise ImportFailed("import.column_twice", file=name, column=twice)
            unpacked = 0
            batches = file.iter_batches(batch_size=_batch_rows(file.metadata, name), columns=columns, use_threads=False)
            for batch in batches:
                unpacked += batch.nbytes  # a cell that all rows share is one on the disk
                if unpacked > MAX_UNPACKED_BYTES:
                    raise ImportFailed("import.too_large", file=name, limit=MAX_UNPACKED_BYTES)
                for cells in batch.to_pylist():
                    yield dict(zip(lowered, cells.values(), strict=True))
    except (OSError, pa.ArrowException, ValueError) as error:
        raise ImportFailed("import.unreadable", file=name, reason=in_words(error)[:300]) from error


def _require_bounded(metadata: Any, name: str) -> None:
    if metadata.num_columns > MAX_COLUMNS:
        raise ImportFailed("import.too_many_columns", file=name, limit=MAX_COLUMNS)
    if metadata.num_rows > MAX_ROWS:
        raise ImportFailed("import.too_many_rows", file=name, limit=MAX_ROWS)
    unpacked = 0
    for group in range(metadata.num_row_groups):
        for place in range(metadata.num_columns):
            column = metadata.row_group(group).column(place)
            if not _is_vector(column):
                unpacked += column.total_uncompressed_size
    if unpacked > MAX_UNPACKED_BYTES:
        raise ImportFailed("import.too_large", file=name, limit=MAX_UNPACKED_BYTES)


def _batch_rows(metadata: Any, name: str) -> int:
    """Return how many rows are read at a time: few where a single cell may be large. Raises ImportFailed for a
    single cell that is too large."""
    chunks = (
        metadata.row_group(group).column(place)
        for group in range(metadata.num_row_groups)
        for place in range(metadata.num_columns)
    )
    largest = max((chunk.total_uncompressed_size for chunk in chunks if not _is_vector(chunk)), default=0)
    if largest > _BATCH_BYTES:
        raise ImportFailed("import.column_too_large", file=name, limit=_BATCH_BYTES)
    return max(1, min(_BATCH_ROWS, _BATCH_BYTES // max(1, largest)))


def _is_vector(chunk: Any) -> bool:
    return bool(chunk.path_in_schema.split(".")[0].lower().endswith(_VECTORS))
