"""Relations between clusters: one sorted pass over the pair keys, however many clusters there are."""

import time

import numpy as np

from benchmarks.memory import peak_gb, reset_peak
from leanrag_core.indexing.aggregation.relations import group_relations

TITLE = "Grouping relations between clusters (2 relations an entity, clusters of 20)"
SIZES = (100_000, 1_000_000)

_CLUSTER_SIZE = 20
_ROUNDS = 9


def measure(size: int) -> dict[str, float | int | str]:
    """Return the best and median time of the pass over 2 x size relations."""
    ends, weights, parent, n_parents = clustered_relations(size)
    reset_peak()
    times = []
    for _ in range(_ROUNDS):
        started = time.perf_counter()
        groups = group_relations(ends, weights, parent, n_parents)
        times.append(1000 * (time.perf_counter() - started))
    peak = peak_gb()
    return {
        "relations": len(ends),
        "clusters": n_parents,
        "pairs": len(groups),
        "inside": int(groups.inside.sum()),
        "best_ms": round(min(times), 1),
        "p50_ms": round(float(np.median(times)), 1),
        "peak_gb": round(peak, 3),
    }


def clustered_relations(n: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray, int]:
    """Return ends (2 n, 2) int32, weights (2 n,), parents (n,) int32 and their number; half of the relations are local.

    Members of a cluster lie anywhere among the entities, as after a clustering; both ends of a relation differ.
    """
    random = np.random.default_rng([seed, n])
    n_parents = -(-n // _CLUSTER_SIZE)
    place = random.permutation(n)  # an entity's place when entities are sorted by cluster
    at = np.argsort(place)
    parent = (place // _CLUSTER_SIZE).astype(np.int32)
    source = random.integers(0, n, 2 * n)
    near = at[(place[source] + random.integers(1, 3 * _CLUSTER_SIZE, 2 * n)) % n]
    far = (source + random.integers(1, n, 2 * n)) % n
    target = np.where(random.random(2 * n) < 0.5, near, far)
    target = np.where(target == source, (source + 1) % n, target)
    ends = np.stack([np.minimum(source, target), np.maximum(source, target)], axis=1).astype(np.int32)
    return ends, random.random(2 * n).astype(np.float32), parent, n_parents
