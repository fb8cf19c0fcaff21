"""What a person asks to see of the graph in layers."""

from dataclasses import dataclass

import numpy as np

from leanrag_core.types.graph import Place


@dataclass(frozen=True)
class SceneRequest:
    """hops: 0 to 2. opened: opened nodes, that used longest ago first. grown: the cluster of which more is to be drawn.
    allowed, allowed_relations: for each layer a mask of the rows that the filters let through, None where all pass."""

    focus: Place
    hops: int = 2
    opened: tuple[Place, ...] = ()
    grown: Place | None = None
    pinned: tuple[Place, ...] = ()
    allowed: tuple[np.ndarray | None, ...] = ()
    allowed_relations: tuple[np.ndarray | None, ...] = ()

    def allows(self, layer: int) -> np.ndarray | None:
        """Return the mask of that layer, (n,) bool; None where nothing is filtered."""
        return self.allowed[layer] if layer < len(self.allowed) else None

    def passing(self, layer: int, rows: np.ndarray) -> np.ndarray:
        """Return those of the entities, (k,) int rows, that the filters let through, in their order."""
        mask = self.allows(layer)
        return rows if mask is None else rows[mask[rows]]

    def passing_relations(self, layer: int, rows: np.ndarray) -> np.ndarray:
        """Return those of the relations, (k,) int rows, that the filters let through, in their order."""
        mask = self.allowed_relations[layer] if layer < len(self.allowed_relations) else None
        return rows if mask is None else rows[mask[rows]]
