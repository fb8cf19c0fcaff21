"""A tree of texts as files of an index part."""

from pathlib import Path

import numpy as np

from leanrag_core.errors import PartDamaged
from leanrag_core.indexing.communities.files import VECTOR, vectors_in, with_vectors
from leanrag_core.storage.tables import read_table, require_columns, require_range, write_table
from leanrag_core.types.index import Index
from leanrag_core.types.rows import Lists, numbers
from leanrag_core.types.text_tree import NODE_SCHEMA, TextTree

TREE_FILE = "tree.arrow"


def write_tree(folder: Path, tree: TextTree) -> None:
    """Write the tree with its vectors."""
    write_table(folder / TREE_FILE, with_vectors(tree.table, tree.vectors))


def read_tree(folder: Path, index: Index) -> TextTree:
    """Return the tree of that folder, over chunks of the index.

    Raises IndexDamaged where a number leads outside, and PartDamaged for a tree of other vectors.
    """
    path = folder / TREE_FILE
    table = read_table(path)
    require_columns(table, NODE_SCHEMA, path)
    if vectors_in(table).shape[1] != index.chunk_vectors.shape[1]:
        raise PartDamaged("part.of_another_index", part=folder.parent.name)
    layer, chunk, children = numbers(table["layer"]), numbers(table["chunk"]), Lists(table["children"])
    require_range(layer, len(layer) + 1, path, "layer")
    require_range(chunk[layer == 0], index.chunks.num_rows, path, "chunk")
    require_range(children.values, len(layer), path, "children")
    # Children are in the layer below, and only leaves have none: searches from the top down end.
    n_children = np.diff(children.offsets)
    below = layer[children.values[children.offsets[0] : children.offsets[-1]]]
    if (below != np.repeat(layer, n_children) - 1).any() or ((n_children == 0) != (layer == 0)).any():
        raise PartDamaged("part.of_another_index", part=folder.parent.name)
    kept = [name for name in table.column_names if name != VECTOR]
    return TextTree(table.select(kept), vectors_in(table))
