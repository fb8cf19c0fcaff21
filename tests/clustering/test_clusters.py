import os
import pickle
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import adjusted_rand_score

from leanrag_core.clustering import blocks
from leanrag_core.clustering.clusters import cluster, neighbours_inside
from leanrag_core.clustering.options import ClusterOptions, n_components, numbered_by_first_row
from leanrag_core.errors import InvalidConfig, InvalidVectors, TooFewEntities
from leanrag_core.execution.executors import ThreadMap
from tests.clustering.vectors import bundles, planted, unit

PLAIN = {"smoothing": 0}


@pytest.mark.parametrize(("n", "size", "m"), [(1, 20, 1), (20, 20, 1), (21, 20, 2), (40, 20, 2), (13702, 20, 686)])
def test_m_is_the_number_of_nodes_over_the_cluster_size_rounded_up(n: int, size: int, m: int) -> None:
    assert n_components(n, size) == m


def test_cluster_size_one_is_refused_because_layers_would_never_shrink() -> None:
    with pytest.raises(InvalidConfig, match="smallest value is 2"):
        n_components(10, 1)
    with pytest.raises(InvalidConfig, match="smallest value is 2"):
        ClusterOptions(cluster_size=1)


@pytest.mark.parametrize(
    ("wrong", "expected_text"),
    [({"cap": "some"}, "capacity, split, none"), ({"smoothing": -1}, "plain mixture"), ({"neighbours": 0}, "is 1")],
)
def test_an_option_out_of_bounds_says_which_values_there_are(wrong: dict[str, object], expected_text: str) -> None:
    with pytest.raises(InvalidConfig, match=expected_text):
        ClusterOptions(**wrong)


@pytest.mark.parametrize("smoothing", [0, 1, 2])
@pytest.mark.parametrize("cap", ["capacity", "split", "none"])
def test_four_separate_bundles_of_ten_become_four_clusters(smoothing: int, cap: str) -> None:
    vectors, bundle = bundles([10, 10, 10, 10])
    clustering = cluster(vectors, ClusterOptions(10, cap, smoothing))
    assert np.array_equal(clustering.labels, numbered_by_first_row(bundle))


def test_labels_are_numbered_by_their_first_member() -> None:
    assert numbered_by_first_row(np.array([7, 2, 7, 0, 2])).tolist() == [0, 1, 0, 2, 1]


@pytest.mark.parametrize("n", [1, 2, 5])
def test_a_layer_no_larger_than_a_cluster_is_one_cluster(n: int) -> None:
    clustering = cluster(np.eye(5, dtype=np.float32)[:n], ClusterOptions(5))
    assert clustering.labels.tolist() == [0] * n
    assert clustering.facts.likelihood is None


def test_three_nodes_of_cluster_size_two_become_two_clusters() -> None:
    vectors = unit(np.array([[1.0, 0.1], [1.0, 0.0], [0.0, 1.0]]))
    assert cluster(vectors, ClusterOptions(2, smoothing=0)).labels.tolist() == [0, 0, 1]


@pytest.mark.parametrize("cap", ["capacity", "split"])
def test_a_bundle_above_the_cap_is_broken_up_and_without_the_cap_it_is_not(cap: str) -> None:
    vectors, bundle = bundles([50, 5, 5], spread=0.001)
    free = cluster(vectors, ClusterOptions(20, "none"))
    capped = cluster(vectors, ClusterOptions(20, cap))
    assert np.array_equal(free.labels, numbered_by_first_row(bundle))
    assert capped.facts.largest <= 40
    assert capped.facts.clusters == 3


@pytest.mark.parametrize("options", [{}, PLAIN, {"cap": "split"}, {"cap": "split", **PLAIN}])
@pytest.mark.parametrize("cluster_size", [2, 3, 20])
@pytest.mark.parametrize(
    "vectors",
    [np.ones((50, 8)), np.repeat(np.eye(8), 10, axis=0), np.eye(30), np.eye(3), np.tile(np.eye(2), (60, 1))],
    ids=["all equal", "ten of each", "all at right angles", "three", "sixty of each"],
)
def test_duplicates_and_few_points_keep_to_the_cap(
    vectors: np.ndarray, cluster_size: int, options: dict[str, object]
) -> None:
    labels = cluster(unit(vectors), ClusterOptions(cluster_size, **options)).labels
    assert np.bincount(labels).max() <= 2 * cluster_size
    assert labels.max() + 1 <= n_components(len(vectors), cluster_size)


@settings(max_examples=60)
@given(
    st.integers(1, 90),
    st.integers(1, 40),
    st.integers(2, 12),
    st.sampled_from(["capacity", "split", "none"]),
    st.integers(0, 2),
    st.booleans(),
    st.integers(0, 99),
)
def test_clusters_partition_within_cap_and_m_and_repeat_exactly(
    n: int, d: int, cluster_size: int, cap: str, smoothing: int, join: bool, seed: int
) -> None:
    random = np.random.default_rng(seed)
    vectors = unit(random.normal(size=(n, d)))[random.integers(0, n, size=n)]  # some rows are duplicates
    options = ClusterOptions(cluster_size, cap, smoothing, join_singletons=join, seed=seed)
    labels = cluster(vectors, options).labels
    sizes = np.bincount(labels)
    assert labels.dtype == np.int32
    assert len(labels) == n
    assert (sizes > 0).all()
    assert len(sizes) <= n_components(n, cluster_size)
    assert cap == "none" or sizes.max() <= 2 * cluster_size
    assert cap != "capacity" or len(sizes) == n_components(n, cluster_size)
    assert np.array_equal(labels, numbered_by_first_row(labels))
    assert np.array_equal(labels, cluster(vectors, options).labels)


@pytest.mark.parametrize("cap", ["capacity", "split"])
def test_three_thousand_identical_vectors_among_others_keep_to_the_cap(cap: str) -> None:
    random = np.random.default_rng(0)
    vectors = unit(np.concatenate([np.ones((3000, 12)), random.normal(size=(500, 12))]))
    clustering = cluster(vectors, ClusterOptions(20, cap))
    assert clustering.facts.largest <= 40
    assert clustering.facts.clusters <= 175


def test_a_cluster_size_above_what_a_group_holds_gives_few_clusters() -> None:
    random = np.random.default_rng(0)
    vectors = unit(random.normal(size=(4000, 6)))
    clustering = cluster(vectors, ClusterOptions(1500, "none", 0))
    assert clustering.facts.components == 3
    assert 1 <= clustering.facts.clusters <= 3


def test_nan_zero_and_nothing_are_refused_by_row() -> None:
    vectors = np.eye(4, dtype=np.float32)
    with pytest.raises(TooFewEntities, match="no entities"):
        cluster(vectors[:0])
    broken = vectors.copy()
    broken[2, 1] = np.nan
    with pytest.raises(InvalidVectors, match="row 2 holds NaN"):
        cluster(broken)
    broken[2] = 0
    with pytest.raises(InvalidVectors, match="row 2 is zero"):
        cluster(broken)
    with pytest.raises(InvalidVectors, match="one row for each entity"):
        cluster(vectors[0])


def test_vectors_of_another_length_are_clustered_by_their_direction() -> None:
    vectors, _ = bundles([10, 10, 10])
    lengths = np.random.default_rng(0).uniform(0.5, 3, size=(30, 1))
    assert np.array_equal(
        cluster(vectors * lengths, ClusterOptions(10)).labels, cluster(vectors, ClusterOptions(10)).labels
    )


def test_facts_count_sizes_neighbours_and_relations_inside() -> None:
    vectors, bundle = bundles([12, 12], spread=0.01)
    rows = [np.flatnonzero(bundle == label) for label in (0, 1)]
    ends = np.array([[rows[0][0], rows[0][1]], [rows[1][0], rows[1][1]], [rows[0][0], rows[1][0]]])
    facts = cluster(vectors, ClusterOptions(12), ends=ends).facts
    assert (facts.clusters, facts.smallest, facts.median, facts.largest) == (2, 12, 12.0, 12)
    assert facts.neighbours_inside == 1.0
    assert facts.relations_inside == round(2 / 3, 6)


def test_ten_neighbours_count_where_more_were_averaged() -> None:
    # Eleven nodes in one cluster, two in another: ten of the twelve neighbours of the eleven are in their own, and one
    # of each of the two.
    labels = np.repeat([0, 1], [11, 2])
    others = [[row for row in range(13) if row != own] for own in range(13)]
    nearest_first = np.array(
        [sorted(rows, key=lambda row: labels[row] != labels[own]) for own, rows in enumerate(others)]
    )
    share = neighbours_inside(labels, np.zeros((13, 2), dtype=np.float32), nearest_first, seed=0)
    assert share == pytest.approx((11 * 10 + 2 * 1) / 130)


def test_without_relations_their_share_is_unknown() -> None:
    vectors, _ = bundles([12, 12])
    empty = np.zeros((0, 2), dtype=np.int64)
    assert cluster(vectors, ClusterOptions(12), ends=empty).facts.relations_inside is None


def test_smoothing_finds_planted_clusters_better_than_the_plain_mixture() -> None:
    vectors, leaf = planted(2000)
    plain = adjusted_rand_score(leaf, cluster(vectors, ClusterOptions(cap="none", smoothing=0, space=32)).labels)
    smooth = adjusted_rand_score(leaf, cluster(vectors, ClusterOptions(cap="none", space=32)).labels)
    assert smooth > plain
    assert smooth > 0.8


@pytest.mark.parametrize("cores", [1, 3])
def test_labels_do_not_depend_on_the_number_of_cores_nor_on_who_applies(
    cores: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    vectors, _ = planted(3000)
    expected = cluster(vectors)
    monkeypatch.setattr(blocks, "available_cores", lambda: cores)
    clustering = cluster(vectors, apply=ThreadMap(cores))
    assert np.array_equal(clustering.labels, expected.labels)
    assert clustering.facts == expected.facts


def test_local_fits_may_travel_to_other_processes() -> None:
    vectors, _ = planted(2600)
    travelled = []

    def elsewhere(function: Callable[[Any], Any], items: Iterable[Any]) -> Iterator[Any]:
        for item in items:
            parcel = pickle.dumps((function, item))
            travelled.append(len(parcel))
            there, batch = pickle.loads(parcel)
            yield pickle.loads(pickle.dumps(there(batch)))

    assert np.array_equal(cluster(vectors, apply=elsewhere).labels, cluster(vectors).labels)
    assert len(travelled) >= 1


_LABELS_AND_FACTS = """
import json, sys
import numpy as np
from leanrag_core.clustering.clusters import cluster, neighbours_inside
from tests.clustering.vectors import planted
for n in map(int, sys.argv[1:]):
    found = cluster(planted(n)[0])
    print(found.labels.tobytes().hex(), json.dumps(vars(found.facts)))
"""
SIZES = (2600, 9000)  # without and with cells in which neighbours are searched


def lines_with_threads(threads: int) -> list[str]:
    """Return labels and facts of vectors of both sizes, a line each, from a process with so many threads."""
    names = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
    environment = {**os.environ, **{name: str(threads) for name in names}}
    command = [sys.executable, "-c", _LABELS_AND_FACTS, *map(str, SIZES)]
    return subprocess.run(command, env=environment, capture_output=True, check=True, text=True).stdout.splitlines()


@pytest.mark.slow
def test_the_same_bytes_come_from_one_blas_thread_and_from_two() -> None:
    with_one = lines_with_threads(1)
    assert [len(line) > 8 * n for line, n in zip(with_one, SIZES, strict=True)] == [True, True]
    assert with_one == lines_with_threads(2)
