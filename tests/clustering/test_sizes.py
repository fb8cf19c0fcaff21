import numpy as np

from leanrag_core.clustering.mixture import fit_of_partition
from leanrag_core.clustering.sizes import capped, filled, joined_singletons, split_and_joined


def line(*places: float) -> np.ndarray:
    return np.array(places, dtype=np.float32)[:, None]


def test_an_empty_component_takes_half_of_the_largest_cluster() -> None:
    labels = filled(np.array([0, 0, 0, 0, 2]), line(4, 1, 3, 2, 9), 3)
    assert labels[4] == 2
    assert set(labels[[1, 3]]) | set(labels[[0, 2]]) == {0, 1}
    assert labels[1] == labels[3]
    assert labels[0] == labels[2]


def test_all_components_are_filled_even_with_equal_points() -> None:
    labels = filled(np.zeros(9, dtype=np.int32), np.zeros((9, 2), dtype=np.float32), 5)
    assert sorted(np.bincount(labels, minlength=5).tolist()) == [1, 2, 2, 2, 2]


def test_a_lone_point_joins_the_cluster_beside_it_and_a_far_one_stays_alone() -> None:
    places = line(*np.linspace(0, 1, 20), *np.linspace(10, 11, 20), 1.1, 500.0)
    labels = np.array([0] * 20 + [1] * 20 + [2, 3])
    joined = joined_singletons(labels, places, 40)
    assert joined[40] == 0
    assert joined[41] == 3


def test_a_lone_point_does_not_join_a_full_cluster() -> None:
    places = line(*np.linspace(0, 1, 20), 1.05)
    labels = np.array([0] * 20 + [1])
    assert joined_singletons(labels, places, 20)[20] == 1


def test_a_cluster_above_the_cap_is_cut_and_the_cheapest_pair_joined() -> None:
    # Five in a heap, and at 20 and 21 two lone clusters that cost least to join.
    points = line(0.0, 0.1, 0.2, 0.3, 0.4, 20.0, 21.0, 90.0)
    labels = split_and_joined(np.array([0, 0, 0, 0, 0, 1, 2, 3]), points, 4, 4)
    assert labels[5] == labels[6]
    assert sorted(np.bincount(labels).tolist()) == [1, 1, 2, 4]


def test_two_clusters_that_fill_the_cap_together_are_joined() -> None:
    points = line(0.0, 0.1, 0.2, 0.3, 50.0, 90.0)
    assert split_and_joined(np.array([0, 0, 1, 1, 2, 3]), points, 4, 3).tolist() == [0, 0, 0, 0, 1, 2]


def test_two_smallest_are_joined_where_no_near_pair_fits() -> None:
    points = line(0.0, 0.1, 0.2, 0.3, 50.0, 50.1, 50.2, 50.3)
    labels = split_and_joined(np.repeat([0, 1], 4), points, 6, 2)
    assert np.bincount(labels).tolist() == [4, 4]


def test_capped_clusters_stay_below_the_cap_and_m() -> None:
    random = np.random.default_rng(0)
    truth = np.repeat([0, 1, 2, 3], [70, 4, 3, 3])
    points = (random.normal(size=(80, 4)) + 20 * np.eye(4)[truth]).astype(np.float32)
    points -= points.mean(axis=0)
    labels = capped(points, fit_of_partition(points, truth, 4), 40)
    assert np.bincount(labels).max() <= 40
    assert labels.max() < 4


def test_two_far_single_points_are_joined_before_two_near_heaps() -> None:
    # Ward: heaps of ten at 0 and 1 cost 10 x 10 / 20 x 1 = 5, points at 5 and 6.5 only 1 / 2 x 2.25.
    points = line(*[0.0] * 10, *[1.0] * 10, 5.0, 6.5)
    labels = split_and_joined(np.repeat([0, 1, 2, 3], [10, 10, 1, 1]), points, 20, 3)
    assert sorted(np.bincount(labels).tolist()) == [2, 10, 10]
