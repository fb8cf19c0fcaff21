"""A tree of texts over the documents, as the index parts of RAPTOR and E2GraphRAG hold it."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pyarrow as pa

from leanrag_core.types.index import Index
from leanrag_core.types.rows import Lists, Rows, numbers

NODE_SCHEMA = pa.schema(
    [
        ("layer", pa.int32()),  # 0 for the leaves
        ("chunk", pa.int32()),  # of a leaf: the chunk that holds it; -1 above
        ("start", pa.int32()),  # of a leaf: characters of its document; -1 above
        ("end", pa.int32()),
        ("text", pa.string()),  # above the leaves: the summary
        ("children", pa.list_(pa.int32())),  # rows of this table, in the layer below
        ("tokens", pa.int32()),
        ("by_model", pa.bool_()),
    ]
)


@dataclass(frozen=True, eq=False)
class TextTree(Rows):
    """A tree of texts; a node may have several parents.

    table: of NODE_SCHEMA, layer by layer. vectors: (n, d) float32 unit rows.
    """

    table: pa.Table
    vectors: np.ndarray

    @cached_property
    def layer(self) -> np.ndarray:
        """The layer of each node, (n,) int32."""
        return numbers(self.table["layer"])

    @cached_property
    def chunk(self) -> np.ndarray:
        """The chunk of each node, -1 above the leaves; (n,) int32."""
        return numbers(self.table["chunk"])

    @cached_property
    def children(self) -> Lists:
        """Rows of the children of each node."""
        return Lists(self.table["children"])

    @property
    def by_rule(self) -> bool:
        """Whether there are summaries, and no language model wrote any."""
        by_model = self.table["by_model"].to_numpy()[self.layer > 0]
        return bool(len(by_model)) and not by_model.any()

    @cached_property
    def roots(self) -> np.ndarray:
        """Rows of the nodes that have no parent, (k,) int64, ascending."""
        has_parent = np.zeros(len(self), dtype=bool)
        offsets, values = self.children.offsets, self.children.values
        has_parent[values[offsets[0] : offsets[-1]]] = True
        return np.flatnonzero(~has_parent)

    def text(self, index: Index, row: int) -> str:
        """Return the text of a node: its summary, or what the document says there."""
        chunk = int(self.chunk[row])
        if chunk < 0:
            return self.text_of_summary(row)
        holding_chunk = index.chunk(chunk)
        start, end = self.cells.value("start", row), self.cells.value("end", row)
        return holding_chunk.text[start - holding_chunk.start : end - holding_chunk.start]

    def text_of_summary(self, row: int) -> str:
        """Return the summary of a node above the leaves."""
        return str(self.cells.value("text", row))

    def leaves_below(self, row: int) -> list[int]:
        """Return the rows of the leaves below that node, itself if it is one; each once, in order."""
        rows = [row]
        while self.layer[rows[0]]:
            rows = list(dict.fromkeys(int(child) for node in rows for child in self.children[node]))
        return rows
