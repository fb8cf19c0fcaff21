"""A tree of texts as files of an index part."""

from pathlib import Path

from leanrag_core.indexing.communities.files import VECTOR, vectors_in, with_vectors
from leanrag_core.storage.tables import read_table, write_table
from leanrag_core.types.text_tree import TextTree

TREE_FILE = "tree.arrow"


def write_tree(folder: Path, tree: TextTree) -> None:
    """Writes the tree with its vectors."""
    write_table(folder / TREE_FILE, with_vectors(tree.table, tree.vectors))


def read_tree(folder: Path) -> TextTree:
    """The tree of that folder. Raises IndexDamaged."""
    table = read_table(folder / TREE_FILE)
    kept = [name for name in table.column_names if name != VECTOR]
    return TextTree(table.select(kept), vectors_in(table))
