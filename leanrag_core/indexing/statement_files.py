"""Statements of an index part on disk: a table, and a vector for each row."""

from pathlib import Path

import numpy as np
import pyarrow as pa

from leanrag_core.storage.tables import mapped_vectors, read_table, require_columns, require_range, write_table
from leanrag_core.types.index import Index
from leanrag_core.types.rows import Lists
from leanrag_core.types.statements import STATEMENT_SCHEMA, Statements

_TABLE, _VECTORS = "statements.arrow", "statement_vectors.npy"


def write_statements(folder: Path, table: pa.Table, vectors: np.ndarray) -> None:
    """Write the statements. table: of STATEMENT_SCHEMA. vectors: (s, d) float32 unit rows."""
    write_table(folder / _TABLE, table)
    np.save(folder / _VECTORS, vectors, allow_pickle=False)


def read_statements(folder: Path, index: Index) -> Statements:
    """Return the statements, with vectors mapped from the disk. Raises IndexDamaged where a number leads outside, or a
    vector is missing.
    """
    path = folder / _TABLE
    table = read_table(path)
    require_columns(table, STATEMENT_SCHEMA, path)
    size = (len(index.layers[0]), index.chunks.num_rows)
    require_range(Lists(table["entities"]).values, size[0], path, "entities")
    require_range(Lists(table["chunks"]).values, size[1], path, "chunks")
    vectors = mapped_vectors(folder / _VECTORS, table.num_rows, int(index.layers[0].vectors.shape[1]))
    return Statements(table, vectors, size)
