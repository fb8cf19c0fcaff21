"""Communities of a graph that joins several layers of the hierarchy, as HiRAG has them."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from leanrag_core.types.communities import Communities

if TYPE_CHECKING:  # scipy takes a tenth of a second to import
    from scipy.sparse import csr_array


@dataclass(frozen=True, eq=False)
class LayeredCommunities:
    """Communities of the layers joined into one graph.

    communities: of the joined graph. starts: (layers + 1,) the first node of each layer; node starts[i] + r is row r of
    layer i. adjacency: (n, n) float32, symmetric: relations of all layers, and a link from each entity to its parent.
    """

    communities: Communities
    starts: np.ndarray
    adjacency: "csr_array"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, LayeredCommunities) and self.communities == other.communities

    def place(self, node: int) -> tuple[int, int]:
        """Return the layer and row of that node."""
        layer = int(np.searchsorted(self.starts, node, side="right")) - 1
        return layer, node - int(self.starts[layer])

    def node(self, layer: int, row: int) -> int:
        """Return the node of that row of the layer."""
        return int(self.starts[layer]) + row
