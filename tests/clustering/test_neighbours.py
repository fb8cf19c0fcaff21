import numpy as np
import pytest

from leanrag_core.clustering import neighbours as rooms
from leanrag_core.clustering.kmeans import cells_of, nearest_centre, order_along_axis
from leanrag_core.clustering.neighbours import largest, nearest_neighbours
from tests.clustering.vectors import unit


def by_sorting(vectors: np.ndarray, k: int) -> np.ndarray:
    distances = ((vectors[:, None].astype(np.float64) - vectors[None]) ** 2).sum(axis=2)
    np.fill_diagonal(distances, np.inf)
    return np.argsort(distances, axis=1)[:, :k]


@pytest.mark.parametrize(("n", "k"), [(2, 1), (13, 12), (60, 12), (700, 12), (700, 1)])
def test_neighbours_are_those_of_smallest_distance_nearest_first(n: int, k: int) -> None:
    vectors = np.random.default_rng(n).normal(size=(n, 10)).astype(np.float32)
    assert np.array_equal(nearest_neighbours(vectors, k), by_sorting(vectors, k))


def test_some_rows_alone_get_the_same_neighbours() -> None:
    vectors = np.random.default_rng(0).normal(size=(300, 8)).astype(np.float32)
    rows = np.array([3, 77, 299])
    assert np.array_equal(nearest_neighbours(vectors, 5, rows=rows), by_sorting(vectors, 5)[rows])


def test_search_in_cells_finds_nearly_all_neighbours(monkeypatch: pytest.MonkeyPatch) -> None:
    random = np.random.default_rng(0)
    centres = random.normal(size=(60, 24))
    vectors = unit(centres[random.integers(0, 60, 3000)] + random.normal(size=(3000, 24)))
    exact = nearest_neighbours(vectors, 12)
    monkeypatch.setattr(rooms, "_EXACT", 1000)
    monkeypatch.setattr(rooms, "_CELL", 50)
    neighbours = nearest_neighbours(vectors, 12)
    recall = np.mean([len(np.intersect1d(a, b)) / 12 for a, b in zip(neighbours, exact, strict=True)])
    assert recall > 0.95
    assert not (neighbours == np.arange(3000)[:, None]).any()
    assert all(len(set(row)) == 12 for row in neighbours.tolist())


def test_the_largest_of_each_row_come_in_falling_order() -> None:
    random = np.random.default_rng(0)
    scores = np.stack([random.permutation(1000) for _ in range(20)]).astype(np.float32)
    for k in (1, 12, 40, 999):
        assert np.array_equal(largest(scores, k), np.argsort(-scores, axis=1)[:, :k])


def test_rows_whose_cells_hold_too_few_are_searched_exactly(monkeypatch: pytest.MonkeyPatch) -> None:
    vectors = np.random.default_rng(0).normal(size=(200, 6)).astype(np.float32)
    monkeypatch.setattr(rooms, "_EXACT", 100)
    monkeypatch.setattr(rooms, "_CELL", 10)
    monkeypatch.setattr(rooms, "_SCANNED", 1)
    monkeypatch.setattr(rooms, "_PHASES", ((0, 1),))
    expected = by_sorting(vectors, 40)
    assert np.array_equal(nearest_neighbours(vectors, 40), expected)


def test_identical_vectors_have_each_other_as_neighbours(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rooms, "_EXACT", 100)
    neighbours = nearest_neighbours(np.ones((3000, 4), dtype=np.float32), 12)
    assert (neighbours >= 0).all()
    assert not (neighbours == np.arange(3000)[:, None]).any()


def test_more_neighbours_than_there_are_is_an_error() -> None:
    with pytest.raises(ValueError, match="3 neighbours of 3 vectors"):
        nearest_neighbours(np.eye(3, dtype=np.float32), 3)


def test_cells_hold_every_point_once_and_none_more_than_the_largest() -> None:
    random = np.random.default_rng(0)
    points = np.concatenate([np.zeros((500, 4)), random.normal(size=(500, 4))]).astype(np.float32)
    cell, centres = cells_of(points, 100, largest=150, seed=0)
    sizes = np.bincount(cell)
    assert sizes.sum() == 1000
    assert (sizes > 0).all()
    assert sizes.max() <= 150
    assert len(centres) == len(sizes)
    assert np.allclose(centres[cell[0]], points[cell == cell[0]].mean(axis=0))


def test_the_nearest_centre_is_the_first_of_equals() -> None:
    centres = np.array([[0.0], [2.0], [2.0]], dtype=np.float32)
    assert nearest_centre(np.array([[0.9], [1.0], [1.1], [5.0]], dtype=np.float32), centres).tolist() == [0, 0, 1, 1]


def test_order_along_the_longest_axis_keeps_duplicates_in_the_order_of_their_rows() -> None:
    points = np.array([[3.0, 0], [1.0, 0.1], [1.0, 0.1], [2.0, 0]])
    order = order_along_axis(points).tolist()
    assert order in ([1, 2, 3, 0], [0, 3, 1, 2])
