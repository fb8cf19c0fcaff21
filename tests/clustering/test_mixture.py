import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from threadpoolctl import threadpool_limits

from leanrag_core.clustering.capacity import assign_within_capacity
from leanrag_core.clustering.mixture import cluster_entities, fit_mixture, n_components, numbered_by_first_row
from leanrag_core.clustering.reduction import principal_components
from leanrag_core.errors import InvalidConfig, InvalidVectors, TooFewEntities


def unit(rows: np.ndarray) -> np.ndarray:
    rows = rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-12)
    return rows.astype(np.float32)


def bundles(sizes: list[int], d: int = 16, spread: float = 0.02, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Vectors close to one axis for each bundle, and which bundle each belongs to."""
    random = np.random.default_rng(seed)
    bundle = random.permutation(np.repeat(np.arange(len(sizes)), sizes))
    return unit(np.eye(d)[bundle] + spread * random.normal(size=(len(bundle), d))), bundle


@pytest.mark.parametrize(("n", "size", "m"), [(1, 20, 1), (20, 20, 1), (21, 20, 2), (40, 20, 2), (13702, 20, 686)])
def test_m_is_the_number_of_nodes_over_the_cluster_size_rounded_up(n: int, size: int, m: int) -> None:
    assert n_components(n, size) == m


def test_cluster_size_one_is_refused_because_layers_would_never_shrink() -> None:
    with pytest.raises(InvalidConfig, match="smallest value is 2"):
        n_components(10, 1)


def test_four_separate_bundles_of_ten_become_four_clusters() -> None:
    vectors, bundle = bundles([10, 10, 10, 10])
    labels = cluster_entities(vectors, cluster_size=10, size_cap=True, seed=0)
    assert np.array_equal(labels, numbered_by_first_row(bundle))


def test_labels_are_numbered_by_their_first_member() -> None:
    assert numbered_by_first_row(np.array([7, 2, 7, 0, 2])).tolist() == [0, 1, 0, 2, 1]


def test_a_layer_no_larger_than_a_cluster_is_one_cluster() -> None:
    assert cluster_entities(np.eye(5, dtype=np.float32), cluster_size=5).tolist() == [0] * 5


def test_a_bundle_above_the_cap_is_broken_up_and_without_the_cap_it_is_not() -> None:
    vectors, bundle = bundles([50, 5, 5], spread=0.001)
    free = cluster_entities(vectors, cluster_size=20, size_cap=False)
    capped = cluster_entities(vectors, cluster_size=20, size_cap=True)
    assert np.bincount(capped).max() <= 40
    assert np.bincount(free).max() >= np.bincount(bundle).max()


@pytest.mark.parametrize("cluster_size", [2, 3, 20])
@pytest.mark.parametrize(
    "vectors",
    [np.ones((50, 8)), np.repeat(np.eye(8), 10, axis=0), np.eye(30), np.eye(3)],
    ids=["all equal", "ten of each", "all at right angles", "three"],
)
def test_duplicates_and_few_points_keep_to_the_cap(vectors: np.ndarray, cluster_size: int) -> None:
    labels = cluster_entities(unit(vectors), cluster_size=cluster_size, size_cap=True)
    assert np.bincount(labels).max() <= 2 * cluster_size
    assert labels.max() + 1 <= n_components(len(vectors), cluster_size)


@settings(max_examples=40, deadline=None)
@given(st.integers(1, 90), st.integers(2, 40), st.integers(2, 12), st.booleans(), st.integers(0, 99))
def test_clusters_partition_within_cap_and_m_and_repeat_exactly(
    n: int, d: int, cluster_size: int, size_cap: bool, seed: int
) -> None:
    random = np.random.default_rng(seed)
    vectors = unit(random.normal(size=(n, d)))[random.integers(0, n, size=n)]  # some rows are duplicates
    labels = cluster_entities(vectors, cluster_size=cluster_size, size_cap=size_cap, seed=seed)
    sizes = np.bincount(labels)
    assert len(labels) == n
    assert (sizes > 0).all()
    assert len(sizes) <= n_components(n, cluster_size)
    assert not size_cap or sizes.max() <= 2 * cluster_size
    assert np.array_equal(labels, numbered_by_first_row(labels))
    assert np.array_equal(labels, cluster_entities(vectors, cluster_size=cluster_size, size_cap=size_cap, seed=seed))


def test_labels_do_not_depend_on_the_number_of_threads() -> None:
    vectors, _ = bundles([30] * 12, d=64, spread=0.4)
    found = []
    for threads in (1, 2):
        with threadpool_limits(limits=threads):
            found.append(cluster_entities(vectors, cluster_size=20, size_cap=True, seed=3))
    assert np.array_equal(*found)


def test_nan_and_nothing_are_refused() -> None:
    with pytest.raises(TooFewEntities, match="no entities"):
        cluster_entities(np.zeros((0, 4), dtype=np.float32), cluster_size=5)
    with pytest.raises(InvalidVectors, match="NaN"):
        cluster_entities(np.full((3, 4), np.nan, dtype=np.float32), cluster_size=2)


def test_the_mixture_recovers_two_gaussians_with_one_covariance() -> None:
    random = np.random.default_rng(1)
    noise = random.normal(size=(2000, 2)) * [2.0, 0.5]
    points = noise + np.where(np.arange(2000)[:, None] < 500, [0.0, 3.0], [0.0, -3.0])
    mixture = fit_mixture(points, 2, seed=0)
    order = np.argsort(-mixture.means[:, 1])
    assert np.allclose(mixture.means[order], [[0, 3], [0, -3]], atol=0.25)
    assert np.allclose(np.exp(mixture.log_weights[order]), [0.25, 0.75], atol=0.02)
    precision = mixture.whitening.T @ mixture.whitening
    # Shrunk by a tenth towards the mean variance (4 + 0.25) / 2.
    assert np.allclose(np.diag(np.linalg.inv(precision)), [0.9 * 4 + 0.2125, 0.9 * 0.25 + 0.2125], rtol=0.1)


def test_points_with_the_surest_choice_keep_it_when_a_component_is_full() -> None:
    scores = np.array([[0.0, -1.0], [0.0, -9.0], [0.0, -5.0], [-3.0, 0.0]])
    labels = assign_within_capacity(
        np.array([0, 0, 0, 1]), np.array([1.0, 9.0, 5.0, 3.0]), 2, 2, lambda row: scores[row]
    )
    assert labels.tolist() == [1, 0, 0, 1]


def test_points_without_any_room_form_new_components() -> None:
    labels = assign_within_capacity(np.zeros(5, dtype=int), np.arange(5.0), 2, 1, lambda row: np.zeros(1))
    assert labels.tolist() == [1, 1, 2, 0, 0]


def test_principal_components_keep_distances_of_points_in_a_plane() -> None:
    plane = np.array([[1.0, 0, 0, 0, 0], [0, 1.0, 0, 0, 0], [0, 0, 0, 0, 0], [1.0, 1.0, 0, 0, 0]])
    points = principal_components(plane, 4)
    assert points.shape == (4, 2)
    assert np.allclose(np.linalg.norm(points[0] - points[1]), np.sqrt(2))
    assert np.allclose(np.linalg.norm(points[2] - points[3]), np.sqrt(2))
