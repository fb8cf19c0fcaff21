"""Two indexes of one corpus: how far their clusters agree on the entities that both have."""

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from leanrag_core.types.graph import Layer
from leanrag_core.types.index import Index


@dataclass(frozen=True)
class SharedCluster:
    """A cluster of the one index and one of the other with entities in common. here, there: rows of their layers;
    n_here, n_there: entities of each that both indexes have; shared: those in both clusters."""

    here: int
    there: int
    shared: int
    n_here: int
    n_there: int


@dataclass(frozen=True)
class ClusterOverlap:
    """Clusters of two indexes. common: base entities of both; only_here, only_there: of one alone. by_name: matched by
    name, since no id is shared. adjusted_rand: Hubert and Arabie (1985), 1 for equal clusters, about 0 for chance;
    mutual_information: normalised by the mean entropy. rows: pairs of clusters, most shared entities first."""

    common: int
    only_here: int
    only_there: int
    by_name: bool
    adjusted_rand: float
    mutual_information: float
    rows: tuple[SharedCluster, ...]
    n_pairs: int


def cluster_overlap(
    index: Index, number: int, other: Index, other_number: int, *, most_rows: int = 200
) -> ClusterOverlap | None:
    """Return the clusters of layer `number` of an index and of layer `other_number` of another one, both 1 or higher,
    as sets of base entities; None where the indexes have no entity in common. rows: the most_rows largest overlaps.
    """
    from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score

    by_name = False
    here, there = _matched(index.layers[0].entities["id"], other.layers[0].entities["id"])
    if not len(here):
        by_name = True
        here, there = _matched(index.layers[0].plain_names, other.layers[0].plain_names)
    if not len(here):
        return None
    ours = _lifted(index.layers, here, number)
    theirs = _lifted(other.layers, there, other_number)
    pairs, shared = np.unique(np.stack([ours, theirs], axis=1), axis=0, return_counts=True)
    n_ours, n_theirs = np.bincount(ours), np.bincount(theirs)
    order = np.lexsort((pairs[:, 1], pairs[:, 0], -shared))[:most_rows]
    return ClusterOverlap(
        common=len(here),
        only_here=len(index.layers[0]) - len(here),
        only_there=len(other.layers[0]) - len(there),
        by_name=by_name,
        adjusted_rand=float(adjusted_rand_score(ours, theirs)),
        mutual_information=float(normalized_mutual_info_score(ours, theirs)),
        rows=tuple(
            SharedCluster(int(a), int(b), int(n), int(n_ours[a]), int(n_theirs[b]))
            for (a, b), n in zip(pairs[order], shared[order], strict=True)
        ),
        n_pairs=len(pairs),
    )


def _matched(ours: pa.ChunkedArray, theirs: pa.ChunkedArray) -> tuple[np.ndarray, np.ndarray]:
    """Return the rows of equal values in both columns, two arrays of (k,) int64.

    Of a value that is twice in `theirs` or in `ours` the first row counts.
    """
    import pyarrow.compute as pc

    place = pc.fill_null(pc.index_in(ours, value_set=theirs.combine_chunks()), -1).to_numpy()
    here = np.flatnonzero(place >= 0)
    _, first = np.unique(place[here], return_index=True)
    here = here[np.sort(first)]
    return here, place[here]


def _lifted(layers: tuple[Layer, ...], rows: np.ndarray, number: int) -> np.ndarray:
    """Return the ancestors of those base entities in layer `number`, (k,) int. rows: (k,) of layer 0."""
    for layer in layers[:number]:
        rows = layer.parent[rows]
    return np.asarray(rows)
