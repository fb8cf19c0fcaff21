"""The route of LeanRAG's authors: `python -m benchmarks.peers.run_umap_mixture FOLDER OUT`, in its own environment.

Their parameters, with the libraries that they call: UMAP to two dimensions (cosine, 15 neighbours, no seed), a scan
over 1 to 49 components by BIC that ends when it changes by less than a thousandth, then a Gaussian mixture with full
covariances, k-means++ and five starts, with the larger of the scan's number and n // 20 components.
"""

import json
import sys
import time
from pathlib import Path

import numpy as np

from benchmarks.memory import peak_gb, reset_peak
from benchmarks.peers.prepared import versions

TITLE = "UMAP, BIC scan, mixture"
SECTION = "clustering"
REQUIREMENTS = ("umap-learn",)

_CLUSTER_SIZE = 20
_MOST_SCANNED = 49
_LEAST_CHANGE = 1e-3


def fitted(points: np.ndarray, n_components: int) -> object:
    """Fit their mixture of that many components to the points, and return it."""
    from sklearn.mixture import GaussianMixture

    return GaussianMixture(n_components, random_state=0, n_init=5, init_params="k-means++").fit(points)


def scanned_components(points: np.ndarray) -> int:
    """Return the number of components with the lowest BIC among those that the scan reaches."""
    scores: list[float] = []
    for n_components in range(1, min(len(points) - 1, _MOST_SCANNED) + 1):
        scores.append(fitted(points, n_components).bic(points))  # type: ignore[attr-defined]
        if len(scores) > 1 and abs(scores[-2] - scores[-1]) < _LEAST_CHANGE * abs(scores[-2]):
            break
    return 1 + int(np.argmin(scores))


def main(folder: Path, out: Path) -> None:
    """Cluster the planted vectors and write seconds by step, memory and agreement with what was planted.

    The labels are left in the folder as assigned.npy.
    """
    import umap
    from sklearn.metrics import adjusted_rand_score

    with np.load(folder / "planted.npz") as arrays:
        vectors, labels = arrays["vectors"], arrays["labels"]
        cluster_size = int(arrays["cluster_size"]) if "cluster_size" in arrays else _CLUSTER_SIZE
    # Compiling is no part of the route: a small run first makes numba do it.
    umap.UMAP(n_neighbors=5, n_components=2, metric="cosine").fit_transform(vectors[:100])
    reset_peak()
    started, worked = time.perf_counter(), time.process_time()
    points = umap.UMAP(n_neighbors=15, n_components=2, metric="cosine").fit_transform(vectors)
    reduced = time.perf_counter()
    n_scanned = scanned_components(points)
    scan = time.perf_counter()
    assigned = fitted(points, max(len(vectors) // cluster_size, n_scanned)).predict(points)  # type: ignore[attr-defined]
    done, cpu = time.perf_counter(), time.process_time() - worked
    sizes = np.unique(assigned, return_counts=True)[1]
    figures = {
        "seconds": round(done - started, 2),
        "processor_seconds": round(cpu, 2),
        "umap_seconds": round(reduced - started, 2),
        "scan_seconds": round(scan - reduced, 2),
        "mixture_seconds": round(done - scan, 2),
        "ari": round(float(adjusted_rand_score(labels, assigned)), 3),
        "clusters": len(sizes),
        "largest": int(sizes.max()),
        "peak_gb": round(peak_gb(), 3),
    }
    np.save(folder / "assigned.npy", assigned)
    used = versions(("umap-learn", "scikit-learn", "numba", "numpy"))
    out.write_text(json.dumps({"figures": figures, "versions": used}), encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
