"""Communities as files of an index part: tables alone, vectors among them."""

from pathlib import Path

import numpy as np
import pyarrow as pa

from leanrag_core.errors import PartDamaged
from leanrag_core.storage.tables import read_table, require_columns, require_range, write_table
from leanrag_core.types.communities import CLAIM_SCHEMA, COMMUNITY_SCHEMA, Communities
from leanrag_core.types.rows import Lists, numbers

COMMUNITIES_FILE, CLAIMS_FILE = "communities.arrow", "claims.arrow"
VECTOR = "vector"


def with_vectors(table: pa.Table, vectors: np.ndarray) -> pa.Table:
    """Return the table with a column of vectors, where they have a dimension. vectors: (n, d) float32."""
    if not vectors.shape[1]:
        return table
    flat = pa.array(np.ascontiguousarray(vectors, dtype=np.float32).ravel())
    return table.append_column(VECTOR, pa.FixedSizeListArray.from_arrays(flat, vectors.shape[1]))


def vectors_in(table: pa.Table) -> np.ndarray:
    """Return the column of vectors, (n, d) float32; (n, 0) where there is none."""
    if VECTOR not in table.column_names:
        return np.zeros((table.num_rows, 0), dtype=np.float32)
    dimension = table.schema.field(VECTOR).type.list_size
    return numbers(table[VECTOR].combine_chunks().flatten()).reshape(-1, dimension)


def without_vectors(table: pa.Table) -> pa.Table:
    """Return the table without its column of vectors and without metadata."""
    return table.select([name for name in table.column_names if name != VECTOR]).replace_schema_metadata(None)


def require_parents(table: pa.Table, path: Path) -> None:
    """Raise IndexDamaged unless a parent comes before its parts, and -1 means none: so searches from the roots down
    end."""
    parent = numbers(table["parent"])
    require_range(np.where(parent < np.arange(len(parent)), parent + 1, -1), len(parent) + 1, path, "parent")


def write_communities(folder: Path, communities: Communities) -> None:
    """Write the two tables."""
    table = with_vectors(communities.table, communities.vectors)
    write_table(folder / COMMUNITIES_FILE, table.replace_schema_metadata({"n_nodes": str(communities.n_nodes)}))
    write_table(folder / CLAIMS_FILE, communities.claims)


def read_communities(folder: Path, *, n_nodes: int, dimension: int) -> Communities:
    """Return the communities of that folder. n_nodes: of the graph. dimension: of the reports' vectors.

    Raises IndexDamaged where a number leads outside, and PartDamaged for communities of another graph.
    """
    path, claims_path = folder / COMMUNITIES_FILE, folder / CLAIMS_FILE
    table, claims = read_table(path), read_table(claims_path)
    vectors = vectors_in(table)
    stored_nodes = (table.schema.metadata or {}).get(b"n_nodes")
    if stored_nodes != str(n_nodes).encode() or vectors.shape[1] != dimension:
        raise PartDamaged("part.of_another_index", part=folder.parent.name)
    require_columns(table, COMMUNITY_SCHEMA, path)
    require_columns(claims, CLAIM_SCHEMA, claims_path)
    require_range(Lists(table["nodes"]).values, n_nodes, path, "nodes")
    require_range(numbers(claims["entity"]), n_nodes, claims_path, "entity")
    require_parents(table, path)
    return Communities(without_vectors(table), vectors, claims, n_nodes)
