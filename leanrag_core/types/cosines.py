"""What the cosines of an embedding model mean, and thresholds that fit every model.

Thresholds, bonuses and weights of the program are those of the built-in model. Another model's cosines are brought to
its scale: between texts that have nothing to do with each other, texts that belong together, and equal texts (1). What
a trace shows are the model's own cosines.
"""

from dataclasses import dataclass
from typing import Annotated, TypeVar

import numpy as np
from annotated_types import Interval

Cosine = Annotated[float, Interval(ge=-1, le=1)]
_Numbers = TypeVar("_Numbers", float, np.ndarray)


@dataclass(frozen=True)
class Medians:
    """Median cosines of pairs of texts: unrelated ones, and related ones."""

    unrelated: Cosine
    related: Cosine


@dataclass(frozen=True)
class Cosines:
    """Of a model: questions with passages that answer them or others, passages with passages that say the same or
    something else, and questions with passages in other languages. Measured by benchmarks/cosine_probe.py."""

    queries: Medians
    passages: Medians
    across: Medians


_QUERIES = Medians(0.0313, 0.5721)
# One language is all that the built-in model knows: with it no threshold is lower for others.
BUILTIN_COSINES = Cosines(_QUERIES, Medians(0.0354, 0.6485), _QUERIES)


@dataclass(frozen=True)
class CosineScale:
    """Brings cosines of one kind from a model to the built-in one and back; with the built-in one nothing is changed.

    Where the model does not tell related texts from others, nothing is changed either.
    """

    own: Medians
    builtin: Medians

    @property
    def is_same(self) -> bool:
        """Whether nothing is changed."""
        return self.own == self.builtin or not self.own.unrelated < self.own.related < 1

    def plain(self, cosines: _Numbers) -> _Numbers:
        """Return what the built-in model's cosines would be: a number, or an array of the same shape and type."""
        return cosines if self.is_same else _between(cosines, self.own, self.builtin)

    def own_of(self, plain: _Numbers) -> _Numbers:
        """Return the model's cosine that plain() makes that number of."""
        return plain if self.is_same else _between(plain, self.builtin, self.own)


def _between(values: _Numbers, source: Medians, target: Medians) -> _Numbers:
    """Return the values on the other scale: in two straight pieces, the first one also below `unrelated`."""
    lower = (target.related - target.unrelated) / (source.related - source.unrelated)
    upper = (1 - target.related) / (1 - source.related)
    numbers = np.asarray(values, dtype=np.float64) - source.related
    moved = target.related + np.where(numbers < 0, lower * numbers, upper * numbers)
    return moved.astype(values.dtype) if isinstance(values, np.ndarray) else float(moved)


def query_scale(cosines: Cosines) -> CosineScale:
    """Return the scale of cosines between a question and what it is compared with."""
    return CosineScale(cosines.queries, BUILTIN_COSINES.queries)


def across_scale(cosines: Cosines) -> CosineScale:
    """Return the scale of the least cosine to a question, which passages in another language must reach, too."""
    return CosineScale(cosines.across, BUILTIN_COSINES.queries)


def passage_scale(cosines: Cosines) -> CosineScale:
    """Return the scale of cosines between two texts of an index."""
    return CosineScale(cosines.passages, BUILTIN_COSINES.passages)


SAME_SCALE = query_scale(BUILTIN_COSINES)
