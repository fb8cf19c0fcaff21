import numpy as np
import pytest

from leanrag_core.clustering import mixture
from leanrag_core.clustering.mixture import THRESHOLD


def soft_clusters(vectors: np.ndarray, *, seed: int, max_tokens: int = 10_000) -> list[np.ndarray]:
    """Return the clusters of rows with ten tokens each."""
    tokens = np.full(len(vectors), 10)
    return mixture.soft_clusters(vectors, tokens, max_tokens=max_tokens, seed=seed)


def blobs(centres: list[list[float]], n: int, spread: float, seed: int = 0) -> np.ndarray:
    random = np.random.default_rng(seed)
    points = np.concatenate([random.normal(centre, spread, (n, len(centre))) for centre in centres])
    return (points / np.linalg.norm(points, axis=1, keepdims=True)).astype(np.float32)


def test_well_parted_groups_are_the_clusters() -> None:
    centres = np.eye(8)[:4].tolist()
    clusters = soft_clusters(blobs(centres, 9, 0.01), seed=1)
    assert sorted(rows.tolist() for rows in clusters) == [list(range(start, start + 9)) for start in range(0, 36, 9)]


def test_a_row_between_two_groups_is_in_both() -> None:
    left, right = blobs([[1, 0.2, 0]], 40, 0.15), blobs([[0.2, 1, 0]], 40, 0.15, 1)
    between = blobs([[1, 1, 0]], 10, 0.05, 2)
    clusters = soft_clusters(np.concatenate([left, right, between]), seed=0)
    held = np.bincount(np.concatenate(clusters), minlength=90)
    assert held.min() == 1
    assert held.max() >= 2
    assert THRESHOLD == 0.1


def test_every_row_is_in_a_cluster_and_the_same_again() -> None:
    vectors = blobs(np.eye(12).tolist(), 30, 0.2)
    first, again = soft_clusters(vectors, seed=0), soft_clusters(vectors, seed=0)
    assert [rows.tolist() for rows in first] == [rows.tolist() for rows in again]
    assert set(np.concatenate(first).tolist()) == set(range(len(vectors)))
    assert 1 < len(first) < len(vectors)


def test_equal_rows_and_few_rows_make_one_cluster() -> None:
    same = np.tile(np.array([[1, 0, 0]], dtype=np.float32), (30, 1))
    assert np.concatenate(soft_clusters(same, seed=0)).max() == 29
    assert [rows.tolist() for rows in soft_clusters(same[:2], seed=0)] == [[0, 1]]


@pytest.mark.slow
def test_clusters_with_too_many_tokens_are_divided_again_where_they_can_be() -> None:
    vectors = blobs(np.eye(12).tolist(), 30, 0.2)
    large, small = soft_clusters(vectors, seed=0), soft_clusters(vectors, seed=0, max_tokens=150)
    assert max(map(len, small)) < max(map(len, large))
    assert set(np.concatenate(small).tolist()) == set(range(len(vectors)))


def test_many_rows_are_parted_into_cells_before_mixtures_are_fitted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mixture, "_AT_ONCE", 100)
    monkeypatch.setattr(mixture, "_CELL", 40)
    monkeypatch.setattr(mixture, "_LARGEST_CELL", 80)
    fitted: list[int] = []
    divided = mixture._divided
    monkeypatch.setattr(mixture, "_divided", lambda rows, *more: (fitted.append(len(rows)), divided(rows, *more))[1])
    vectors = blobs(np.eye(12).tolist(), 20, 0.2)
    clusters = soft_clusters(vectors, seed=0)
    assert max(fitted) <= 80
    assert set(np.concatenate(clusters).tolist()) == set(range(240))
    assert all((np.diff(rows) > 0).all() for rows in clusters)
    assert [rows.tolist() for rows in soft_clusters(vectors, seed=0)] == [rows.tolist() for rows in clusters]
    few = soft_clusters(vectors[:100], seed=0)
    monkeypatch.setattr(mixture, "_AT_ONCE", 4000)
    assert [rows.tolist() for rows in soft_clusters(vectors[:100], seed=0)] == [rows.tolist() for rows in few]
