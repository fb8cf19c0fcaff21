"""Communities as files of an index part: tables alone, vectors among them."""

from pathlib import Path

import numpy as np
import pyarrow as pa

from leanrag_core.storage.tables import read_table, write_table
from leanrag_core.types.communities import Communities
from leanrag_core.types.rows import numbers

COMMUNITIES_FILE, CLAIMS_FILE = "communities.arrow", "claims.arrow"
VECTOR = "vector"


def with_vectors(table: pa.Table, vectors: np.ndarray) -> pa.Table:
    """The table with a column of vectors, where they have a dimension. vectors: (n, d) float32."""
    if not vectors.shape[1]:
        return table
    flat = pa.array(np.ascontiguousarray(vectors, dtype=np.float32).ravel())
    return table.append_column(VECTOR, pa.FixedSizeListArray.from_arrays(flat, vectors.shape[1]))


def vectors_in(table: pa.Table) -> np.ndarray:
    """(n, d) float32, the column of vectors; (n, 0) where there is none."""
    if VECTOR not in table.column_names:
        return np.zeros((table.num_rows, 0), dtype=np.float32)
    dimension = table.schema.field(VECTOR).type.list_size
    return numbers(table[VECTOR].combine_chunks().flatten()).reshape(-1, dimension)


def write_communities(folder: Path, communities: Communities) -> None:
    """Writes the two tables."""
    table = with_vectors(communities.table, communities.vectors)
    write_table(folder / COMMUNITIES_FILE, table.replace_schema_metadata({"n_nodes": str(communities.n_nodes)}))
    write_table(folder / CLAIMS_FILE, communities.claims)


def read_communities(folder: Path) -> Communities:
    """The communities of that folder. Raises IndexDamaged."""
    table = read_table(folder / COMMUNITIES_FILE)
    n_nodes = int((table.schema.metadata or {})[b"n_nodes"])
    vectors = vectors_in(table)
    table = table.select([name for name in table.column_names if name != VECTOR]).replace_schema_metadata(None)
    return Communities(table, vectors, read_table(folder / CLAIMS_FILE), n_nodes)
