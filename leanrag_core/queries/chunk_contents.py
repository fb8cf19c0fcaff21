"""What a chunk says: the entities that it mentions, the relations that it states, and other forms of their names."""

from collections import defaultdict
from collections.abc import Mapping, Sequence

import numpy as np

from leanrag_core.types.index import Index
from leanrag_core.types.rows import Lists

_FORMS_AT_MOST = 40  # of one name


def entities_in(index: Index, chunk: int) -> np.ndarray:
    """Return the rows of the base entities that the chunk mentions, (k,), those with most relations first."""
    offsets, chunks = index.layers[0].mention_lists
    rows = _owners(offsets, chunks, chunk)
    return rows[np.lexsort((rows, -index.layers[0].degrees[rows]))]


def relations_in(index: Index, chunk: int) -> np.ndarray:
    """Return the rows of the base relations that the chunk states, (k,), those of most weight first."""
    layer = index.layers[0]
    lists = Lists(layer.relations["chunks"])
    rows = _owners(lists.offsets, lists.values, chunk)
    return rows[np.lexsort((rows, -layer.weights[rows]))]


def _owners(offsets: np.ndarray, values: np.ndarray, wanted: int) -> np.ndarray:
    """Return the rows of the lists that hold that value, (k,) int64; each list has it once at most.

    offsets: (n + 1,). values: those of all lists.
    """
    first = int(offsets[0])
    places = np.flatnonzero(values[first : int(offsets[-1])] == wanted) + first
    return np.searchsorted(offsets, places, side="right") - 1


def forms_by_name(aliases: Mapping[str, str]) -> dict[str, tuple[str, ...]]:
    """Group the other forms by the name that is shown. aliases: each form to the name that is shown, as a build report
    has them.
    """
    forms: dict[str, list[str]] = defaultdict(list)
    for form, shown in aliases.items():
        if len(forms[shown]) < _FORMS_AT_MOST:
            forms[shown].append(form)
    return {name: tuple(of_name) for name, of_name in forms.items()}


def with_forms(names: Sequence[str], forms: Mapping[str, Sequence[str]]) -> list[str]:
    """Return each of the names with its other forms."""
    return [form for name in names for form in (name, *forms.get(name, ()))]
