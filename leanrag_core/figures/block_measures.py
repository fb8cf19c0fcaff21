"""What blocks are coloured by: at most five steps, and the value that is written too."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from leanrag_core.types.index import Index

LAYER, QUESTION, SIZE, TYPE, CONNECTIVITY = "layer", "question", "size", "type", "connectivity"
N_TYPES = 4  # that have a colour of their own
_MOST_HITS = 3


@dataclass(frozen=True, eq=False)
class LayerMeasure:
    """Of one layer: steps (n,) int8, 0 for nothing; values (n,) int64, of types the place in `types`, -1 for others."""

    steps: np.ndarray
    values: np.ndarray


@dataclass(frozen=True, eq=False)
class Measure:
    """A measure of all layers. types: names of the types with a colour, the most frequent first; none but of TYPE."""

    name: str
    layers: tuple[LayerMeasure, ...]
    types: tuple[str, ...] = ()


def measure(index: Index, name: str) -> Measure:
    """Return the measure of that name: SIZE (base entities inside; of a base entity, chunks), CONNECTIVITY (relations)
    or TYPE (the most frequent one inside). The steps of the first two are quarters of the layer."""
    if name == TYPE:
        return _types(index)
    layers = []
    for layer, below in zip(index.layers, index.leaf_counts, strict=True):
        values = layer.degrees if name == CONNECTIVITY else below
        if name == SIZE and not layer.number:
            values = np.diff(layer.mention_lists[0])
        layers.append(LayerMeasure(_quarters(values), np.asarray(values, dtype=np.int64)))
    return Measure(name, tuple(layers))


def hit_step(n_hits: int) -> int:
    """Return the step of a block with that many hits of the last question: 0 to 3."""
    return min(n_hits, _MOST_HITS)


def hit_steps(hits: Mapping[int, int], layer: int, row: int) -> int:
    """Return the step of a node. hits: as of a ShownTree; in layer 0 its values are ranks."""
    count = hits.get(row, 0)
    return hit_step(1 if count and not layer else count)


def _quarters(values: np.ndarray) -> np.ndarray:
    """Return a step for each of (n,) values: 0 for none, 1 to 4 for the quarter of the positive ones."""
    steps = np.zeros(len(values), dtype=np.int8)
    positive = values > 0
    if positive.any():
        bounds = np.quantile(values[positive], [0.25, 0.5, 0.75])
        steps[positive] = 1 + np.searchsorted(bounds, values[positive], side="left")
    return steps


def _types(index: Index) -> Measure:
    import pyarrow.compute as pc

    column = index.layers[0].entities["type"]
    counted = sorted(pc.value_counts(column).to_pylist(), key=lambda cell: (-cell["counts"], cell["values"] or ""))
    names = tuple(str(cell["values"]) for cell in counted if cell["values"])[:N_TYPES]
    codes = np.full(len(index.layers[0]), -1, dtype=np.int64)
    for place, name in enumerate(names):
        codes[np.asarray(pc.equal(column, name).to_numpy(zero_copy_only=False), dtype=bool)] = place
    # One column for each type and one for the others, counted upwards.
    counts = (codes[:, None] == np.array([*range(len(names)), -1])[None, :]).astype(np.int64)
    layers = [LayerMeasure((codes + 1).astype(np.int8), codes)]
    for below, above in zip(index.layers, index.layers[1:], strict=False):
        summed = [np.bincount(below.parent, weights=part, minlength=len(above)) for part in counts.T]
        counts = np.stack(summed, axis=1).astype(np.int64)
        most = counts.argmax(axis=1)
        values = np.where(most == len(names), -1, most)
        layers.append(LayerMeasure((values + 1).astype(np.int8), values))
    return Measure(TYPE, tuple(layers), names)
