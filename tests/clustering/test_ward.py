import numpy as np

from leanrag_core.clustering.options import numbered_by_first_row
from leanrag_core.clustering.ward import merges_of, started


def test_the_closest_points_merge_first_at_their_distance() -> None:
    [merges] = merges_of([np.array([[0.0], [1.0], [10.0]], dtype=np.float32)])
    assert merges.pairs.tolist() == [[0, 1], [2, 3]]
    # Ward: sqrt(2 |A| |B| / (|A| + |B|)) times the distance 9.5 of the means.
    assert np.allclose(merges.heights, [1.0, np.sqrt(2 * 2 / 3) * 9.5])


def test_a_lone_point_has_no_merges() -> None:
    [merges] = merges_of([np.zeros((1, 2), dtype=np.float32)])
    assert merges.pairs.shape == (0, 2)


def test_exactly_m_components_remain() -> None:
    points = np.random.default_rng(0).normal(size=(120, 3)).astype(np.float32)
    for m in (2, 6, 119):
        labels = started(points, points, m, seed=0, apply=map)
        assert np.array_equal(np.unique(labels), np.arange(m))


def test_groups_share_their_components_by_one_height() -> None:
    random = np.random.default_rng(0)
    tight = random.normal(size=(2000, 2)) * 0.001
    pairs = np.repeat(np.arange(500.0)[:, None] * [20.0, 0] + [1000.0, 0], 2, axis=0)
    pairs += random.normal(size=(1000, 2)) * 0.001
    points = np.concatenate([tight, pairs]).astype(np.float32)
    labels = started(points, points, 501, seed=0, apply=map)
    assert labels.max() + 1 == 501
    # Nearly all components go where distances are: to the pairs, not to the tight heap with most of the points.
    assert len(np.unique(labels[2000:])) >= 490


def test_bundles_are_found_whole() -> None:
    truth = np.arange(60) % 3
    points = (truth[:, None] * 10 + np.random.default_rng(0).normal(size=(60, 2))).astype(np.float32)
    labels = started(points, points, 3, seed=0, apply=map)
    assert np.array_equal(numbered_by_first_row(labels), truth)
