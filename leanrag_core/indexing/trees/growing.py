"""A tree of texts while it grows, layer by layer."""

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from leanrag_core.indexing.part_base import PartTools
from leanrag_core.indexing.trees.leaves import Leaf
from leanrag_core.indexing.trees.summaries import Summary, summaries
from leanrag_core.text.tokens import count_many
from leanrag_core.types.job import Progress
from leanrag_core.types.text_tree import NODE_SCHEMA, TextTree

_TEXTS_AT_ONCE = 256


class GrowingTree:
    """A tree of texts that starts with its leaves; grow() adds a layer of summaries above.

    rows: (k,) int64, the nodes of the layer that was added last.
    """

    def __init__(self, leaves: Sequence[Leaf], vectors: np.ndarray, tools: PartTools) -> None:
        """Start with the leaves alone. vectors: (leaves, d) float32 unit rows."""
        self._tools = tools
        self._texts = [leaf.text for leaf in leaves]
        self._leaves = leaves
        self._summaries: list[Summary] = []
        self._children: list[list[int]] = [[] for _ in leaves]
        self._layers = [0] * len(leaves)
        self._vectors = [np.asarray(vectors, dtype=np.float32)]
        self.rows = np.arange(len(leaves))

    @property
    def last_vectors(self) -> np.ndarray:
        """(k, d), of the layer that was added last."""
        return self._vectors[-1]

    @property
    def last_tokens(self) -> np.ndarray:
        """(k,) tokens of the texts of that layer."""
        return count_many([self._texts[row] for row in self.rows])

    def grow(self, groups: Sequence[np.ndarray], *, max_tokens: int) -> None:
        """Add a node above each group. groups: places in the last layer, (q,) int each."""
        texts = [[self._texts[self.rows[place]] for place in group] for group in groups]
        vectors = [self.last_vectors[group] for group in groups]
        made = summaries(texts, vectors, self._tools, max_tokens=max_tokens, done=len(self._texts))
        first, layer = len(self._texts), self._layers[-1] + 1
        self._children += [self.rows[group].tolist() for group in groups]
        self._texts += [summary.text for summary in made]
        self._summaries += made
        self._layers += [layer] * len(groups)
        self._vectors.append(embedded([summary.text for summary in made], self.last_vectors.shape[1], self._tools))
        self.rows = np.arange(first, len(self._texts))

    def finished(self) -> TextTree:
        """Return the tree as it is stored."""
        n = len(self._leaves)
        above = len(self._texts) - n
        columns = {
            "layer": self._layers,
            "chunk": [leaf.chunk for leaf in self._leaves] + [-1] * above,
            "start": [leaf.start for leaf in self._leaves] + [-1] * above,
            "end": [leaf.end for leaf in self._leaves] + [-1] * above,
            "text": [""] * n + self._texts[n:],
            "children": self._children,
            "tokens": count_many(self._texts),
            "by_model": [False] * n + [summary.by_model for summary in self._summaries],
        }
        return TextTree(pa.table(columns, schema=NODE_SCHEMA), np.concatenate(self._vectors))


def embedded(texts: Sequence[str], dimension: int, tools: PartTools) -> np.ndarray:
    """Embed the texts, (n, d) float32 unit rows."""
    vectors = [np.zeros((0, dimension), dtype=np.float32)]
    for start in range(0, len(texts), _TEXTS_AT_ONCE):
        tools.report(Progress("make", start, len(texts), "vectors"))
        vectors.append(tools.embed(texts[start : start + _TEXTS_AT_ONCE]))
    return np.concatenate(vectors)
