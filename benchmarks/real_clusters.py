"""What are clusters of real entities worth? Ours with its options beside scikit-learn and the authors' route.

    python -m benchmarks.real_clusters INDEX... [--peers-env DIR] [--clustersize 20] [--out FILE.json]

Every route clusters the same vectors, those of each index's base layer. Three measures that no route optimises,
though ours and the authors' begin with nearest neighbours, so that the first is not as foreign to them as the others:
neighbours: share of an entity's 10 nearest (exact cosine, full space) that are in its cluster, mean over entities;
relations: share of relations with both ends in one cluster; cosine: mean cosine of an entity to the other members of
its cluster, mean over the entities that have any. Larger clusters hold more neighbours and relations whatever is in
them: `by chance` is the share that clusters of the same sizes hold when they are filled at random; `size-weighted` is
the mean size of the cluster in which an entity finds itself.

Seconds: the shortest of three runs where the first took less than five seconds, else of that one. The authors' route
runs once, in an environment of its own in --peers-env. scikit-learn's mixtures are many small products, up to ten times
slower on two threads than on one: it has one thread here, and one for linear algebra in the authors' route.
"""

import argparse
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.frame import answer_of, circumstances, keep, table
from benchmarks.peers.environments import PeerUnavailable, interpreter, peers
from leanrag_core.clustering.clusters import N_NEIGHBOURS, cluster, cluster_sizes, neighbours_inside, relations_inside
from leanrag_core.clustering.neighbours import nearest_neighbours
from leanrag_core.clustering.options import ClusterOptions, n_components
from leanrag_core.errors import InvalidConfig, LeanRAGError
from leanrag_core.storage.layout import read_index

HEADING = "Clusters of real entities"
OURS: dict[str, dict[str, Any]] = {
    "ours": {},
    "ours, no cap": {"cap": "none"},
    "ours, plain mixture": {"smoothing": 0},
    "ours, plain mixture, no cap": {"smoothing": 0, "cap": "none"},
}
SCIKIT_LEARN = "scikit-learn, PCA-32, tied"
AUTHORS = "umap_mixture"
_DIMENSIONS = 32
_ONE_BLAS_THREAD = {"OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1", "PYTHONWARNINGS": "ignore"}
_ROUNDS, _QUICK_SECONDS = 3, 5.0
_WARM_UP = 60  # rows clustered before the clock starts, so that imports are no part of the work

Clusterer = Callable[[np.ndarray, int], np.ndarray]


@dataclass(frozen=True, eq=False)
class Entities:
    """A base layer as the routes and measures need it. vectors: (n, d) float32, unit rows; ends: (r, 2) rows;
    neighbours: (n, k) the k = 10 nearest of each (n - 1 if there are fewer), exactly."""

    name: str
    vectors: np.ndarray
    ends: np.ndarray
    neighbours: np.ndarray


@dataclass(frozen=True, eq=False)
class Partition:
    """What a route made. labels: (n,) int; versions: of the libraries it used, None for those of this process."""

    route: str
    labels: np.ndarray
    seconds: float
    processor_seconds: float
    versions: dict[str, str] | None = None


def main(arguments: list[str] | None = None) -> int:
    """Print a table for each index; exit 1 when the authors' route was asked for and failed, 2 for a bad index."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("indexes", nargs="+", type=Path, metavar="INDEX", help="directory of an index")
    parser.add_argument("--peers-env", type=Path, help="folder of the other systems' environments; not run otherwise")
    parser.add_argument("--clustersize", type=int, default=20, help="wanted entities a cluster, default 20")
    parser.add_argument("--timeout", type=float, default=3600.0, help="seconds that the authors' route may take")
    parser.add_argument("--out", type=Path, help="JSON file to which the figures are added")
    options = parser.parse_args(arguments)
    size, failed = options.clustersize, False
    try:
        ClusterOptions(cluster_size=size)
    except InvalidConfig as error:
        print(f"--clustersize: {error}", file=sys.stderr)
        return 2
    about = circumstances(_command(options))
    for directory in options.indexes:
        try:
            given = entities_of(directory)
        except (LeanRAGError, ValueError) as error:
            print(f"{directory.resolve().name}: {error}", file=sys.stderr)
            return 2
        timings = [timed(name, route, given.vectors, size) for name, route in routes()]
        if options.peers_env:
            try:
                timings.append(authors_route(given.vectors, size, options.peers_env, options.timeout))
            except PeerUnavailable as error:
                print(f"{given.name}: {error}", file=sys.stderr, flush=True)
                failed = True
        figures = {timing.route: figures_of(timing, given) for timing in timings}
        print(f"\n{_heading(given)}\n\n{table({'route': name, **row} for name, row in figures.items())}", flush=True)
        if options.out:
            results = [
                {"index": given.name, "route": timing.route, "figures": figures[timing.route], **about}
                | ({"versions": timing.versions} if timing.versions else {})
                for timing in timings
            ]
            keep(options.out, {"section": "real_clusters", "title": HEADING}, results, ("index", "route"))
    return int(failed)


def entities_of(directory: Path) -> Entities:
    """Return the base layer of the index there. Raises LeanRAGError when unreadable, ValueError below two entities."""
    base = read_index(directory).layers[0]
    vectors = np.array(base.vectors, dtype=np.float32)
    if len(vectors) < 2:
        raise ValueError("the index has fewer than two entities: there is nothing to cluster")
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    k = min(N_NEIGHBOURS, len(vectors) - 1)
    # All rows are named, because above some thousand vectors only named rows are answered exactly.
    neighbours = nearest_neighbours(vectors, k, rows=np.arange(len(vectors)))
    return Entities(directory.resolve().name, vectors, base.ends, neighbours)


def routes() -> Iterator[tuple[str, Clusterer]]:
    """Yield the routes that run in this process, each with its name."""
    for name, chosen in OURS.items():
        yield name, partial(ours, **chosen)
    yield SCIKIT_LEARN, scikit_learn


def ours(vectors: np.ndarray, cluster_size: int, **chosen: Any) -> np.ndarray:
    """Return the labels of our clustering at its defaults but for what is chosen."""
    return cluster(vectors, ClusterOptions(cluster_size, **chosen)).labels


def scikit_learn(vectors: np.ndarray, cluster_size: int) -> np.ndarray:
    """Return labels of GaussianMixture with one covariance and our number of components, on 32 principal components.

    Its defaults else: one start from k-means (k-means++, one start of its own), at most 100 iterations, no cap.
    """
    from sklearn.decomposition import PCA
    from sklearn.mixture import GaussianMixture
    from threadpoolctl import threadpool_limits

    m = n_components(len(vectors), cluster_size)
    with threadpool_limits(1):
        points = PCA(min(_DIMENSIONS, *vectors.shape), random_state=0).fit_transform(vectors.astype(np.float64))
        labels: np.ndarray = GaussianMixture(m, covariance_type="tied", random_state=0).fit_predict(points)
    return labels


def timed(name: str, route: Clusterer, vectors: np.ndarray, cluster_size: int) -> Partition:
    """Run the route, and return its partition with the least of its times."""
    route(vectors[:_WARM_UP], cluster_size)
    walls, works = [], []
    for _ in range(_ROUNDS):
        started, worked = time.perf_counter(), time.process_time()
        labels = route(vectors, cluster_size)
        walls.append(time.perf_counter() - started)
        works.append(time.process_time() - worked)
        if walls[0] >= _QUICK_SECONDS:
            break
    return Partition(name, labels, min(walls), min(works))


def authors_route(vectors: np.ndarray, cluster_size: int, environments: Path, timeout_seconds: float) -> Partition:
    """Return the partition of UMAP, BIC scan and mixture. Raises PeerUnavailable if it cannot be installed or fails."""
    peer = next(peer for peer in peers("clustering") if peer.name == AUTHORS)
    python = interpreter(peer, environments)
    print(f"{peer.title}: {len(vectors):,} ...", file=sys.stderr, flush=True)
    with tempfile.TemporaryDirectory(prefix="leanrag-clusters-") as folder:
        # The script was made for planted vectors; here nothing was planted, so that all labels are equal.
        planted, out = Path(folder) / "planted.npz", Path(folder) / "figures.json"
        np.savez(planted, vectors=vectors, labels=np.zeros(len(vectors), dtype=np.int32), cluster_size=cluster_size)
        command = [str(python), "-m", peer.module, folder, str(out)]
        answer = answer_of(command, out, timeout_seconds=timeout_seconds, environment=_ONE_BLAS_THREAD)
        if "error" in answer:
            raise PeerUnavailable(f"{peer.title} failed: {answer['error']}")
        labels = np.load(Path(folder) / "assigned.npy")
    figures = answer["figures"]
    return Partition(peer.title, labels, figures["seconds"], figures["processor_seconds"], answer["versions"])


def figures_of(partition: Partition, given: Entities) -> dict[str, float | int | str]:
    """Return sizes, times and the three measures of a partition."""
    labels = np.unique(partition.labels, return_inverse=True)[1]
    n, sizes = len(labels), np.bincount(labels)
    counted = cluster_sizes(labels)
    inside = relations_inside(labels, given.ends)
    cosine = cosine_inside(labels, given.vectors)
    return {
        "clusters": counted.clusters,
        "mean size": round(n / len(sizes), 1),
        "size-weighted": round(float((sizes**2).sum() / n), 1),
        "largest": counted.largest,
        "singletons": counted.singletons,
        "seconds": round(partition.seconds, 3),
        "processor seconds": round(partition.processor_seconds, 3),
        "neighbours": round(neighbours_inside(labels, given.vectors, given.neighbours, 0), 4),
        "relations": "none" if inside is None else round(inside, 4),
        "by chance": round(by_chance(labels), 4),
        "cosine": "none" if cosine is None else round(cosine, 4),
    }


def cosine_inside(labels: np.ndarray, vectors: np.ndarray) -> float | None:
    """Return the mean cosine of a row to the other rows of its cluster, over rows; a cluster of one counts nothing.

    labels: (n,) int, 0 ... m-1; vectors: (n, d), unit rows. None when every cluster is a cluster of one.
    """
    sizes = np.bincount(labels)
    order = np.argsort(labels, kind="stable")
    sums = np.add.reduceat(vectors[order].astype(np.float64), np.cumsum(sizes) - sizes)
    several = sizes > 1
    if not several.any():
        return None
    # The squared length of a sum of unit rows is their number and twice the cosines of all pairs.
    pairs = (np.einsum("ij,ij->i", sums, sums) - sizes)[several]
    return float((pairs / (sizes[several] - 1)).sum() / sizes[several].sum())


def by_chance(labels: np.ndarray) -> float:
    """Return the share of all pairs of rows that are in one cluster: what a random partition of these sizes holds."""
    sizes = np.bincount(labels).astype(np.float64)
    return float((sizes * (sizes - 1)).sum() / (len(labels) * (len(labels) - 1)))


def _heading(given: Entities) -> str:
    n = len(given.vectors)
    anyone = cosine_inside(np.zeros(n, dtype=np.int32), given.vectors)
    return f"{given.name}: {n:,} entities, {len(given.ends):,} relations; mean cosine of any two entities {anyone:.3f}"


def _command(options: argparse.Namespace) -> list[str]:
    """Return the command without folders of this machine: an index is named by its own folder alone."""
    peers_asked = ["--peers-env", "DIR"] if options.peers_env else []
    names = [directory.resolve().name for directory in options.indexes]
    return ["python", "-m", "benchmarks.real_clusters", *names, *peers_asked, "--clustersize", str(options.clustersize)]


if __name__ == "__main__":
    sys.exit(main())
