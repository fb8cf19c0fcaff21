import numpy as np

from leanrag_core.clustering.clusters import averaging, smoothed, spread_within
from leanrag_core.clustering.reduction import principal_axes, second_moment
from tests.clustering.vectors import unit


def test_an_average_weighs_mutual_neighbours_1_and_one_sided_ones_three_tenths() -> None:
    # 0 and 1 name each other, 2 names 0.
    weights = averaging(np.array([[1], [0], [0]], dtype=np.int32)).toarray()
    assert np.allclose(weights[0], np.array([1, 1, 0.3]) / 2.3)
    assert np.allclose(weights[1], [0.5, 0.5, 0])
    assert np.allclose(weights[2], np.array([0.3, 0, 1]) / 1.3)


def test_averaging_leaves_neighbours_nearest_first() -> None:
    nearest_first = np.array([[2, 1], [0, 2], [1, 0]], dtype=np.int32)
    given = nearest_first.copy()
    averaging(given)
    assert (given == nearest_first).all()


def test_projecting_first_gives_what_averaging_first_would() -> None:
    random = np.random.default_rng(0)
    vectors = unit(random.normal(size=(40, 6)))
    average = averaging(random.integers(0, 40, size=(40, 3)).astype(np.int32))
    dense = average.toarray()
    expected = dense @ dense @ vectors
    expected = expected - expected.mean(axis=0)
    points = smoothed(vectors, average, 2, 6, seed=0)
    assert np.allclose(points @ points.T, expected @ expected.T, atol=1e-5)


def test_the_spread_within_is_half_the_mean_square_of_differences_of_mutual_neighbours() -> None:
    points = np.array([[0.0, 0], [2.0, 0], [9.0, 9.0]], dtype=np.float32)
    average = averaging(np.array([[1], [0], [0]], dtype=np.int32))
    assert np.allclose(spread_within(points, average), [[2.0, 0], [0, 0]])


def test_principal_axes_keep_distances_of_points_in_a_plane() -> None:
    plane = np.array([[1.0, 0, 0, 0, 0], [0, 1.0, 0, 0, 0], [0, 0, 0, 0, 0], [1.0, 1.0, 0, 0, 0]], dtype=np.float32)
    axes = principal_axes(plane, 4)
    assert axes.shape == (5, 2)
    points = plane @ axes
    assert np.allclose(np.linalg.norm(points[0] - points[1]), np.sqrt(2), atol=1e-6)
    assert np.allclose(np.linalg.norm(points[2] - points[3]), np.sqrt(2), atol=1e-6)


def test_equal_rows_have_one_axis() -> None:
    assert principal_axes(np.ones((7, 3), dtype=np.float32), 2).tolist() == [[1.0], [0.0], [0.0]]


def test_the_second_moment_is_about_the_mean_given() -> None:
    points = np.array([[1.0, 2.0], [3.0, 4.0]], dtype=np.float32)
    assert second_moment(points, np.array([2.0, 3.0])).tolist() == [[2.0, 2.0], [2.0, 2.0]]
