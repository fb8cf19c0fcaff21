"""Clusters of a changed layer: what the change does not touch keeps its members."""

import numpy as np

from leanrag_core.clustering.options import ClusterOptions
from leanrag_core.clustering.refit import PreviousClusters, refit

NO_ENDS = np.zeros((0, 2), dtype=np.int64)
OPTIONS = ClusterOptions(cluster_size=10)


def around(centres: np.ndarray, each: int, seed: int) -> np.ndarray:
    """Return unit rows near each centre in turn."""
    points = np.repeat(centres, each, axis=0)
    points = points + 0.05 * np.random.default_rng(seed).normal(size=points.shape)
    return (points / np.linalg.norm(points, axis=1, keepdims=True)).astype(np.float32)


CENTRES = np.random.default_rng(7).normal(size=(8, 24))
VECTORS = around(CENTRES[:6], 10, 1)
BEFORE = PreviousClusters(VECTORS, np.repeat(np.arange(6), 10))


def clusters(labels: np.ndarray) -> set[frozenset[int]]:
    return {frozenset(np.flatnonzero(labels == label).tolist()) for label in np.unique(labels)}


def test_without_a_change_every_cluster_is_as_before() -> None:
    labels = refit(VECTORS, BEFORE, np.arange(60), OPTIONS, NO_ENDS).labels
    assert clusters(labels) == clusters(BEFORE.labels)


def test_a_new_node_joins_the_component_it_is_nearest_to() -> None:
    new = around(CENTRES[2:3], 1, 5)
    rows = np.append(np.arange(60), -1)
    labels = refit(np.concatenate([VECTORS, new]), BEFORE, rows, OPTIONS, NO_ENDS).labels
    assert labels[60] == labels[20]
    assert np.array_equal(labels[:60], BEFORE.labels)


def test_new_nodes_far_from_all_make_a_cluster_of_their_own() -> None:
    vectors = np.concatenate([VECTORS, around(CENTRES[6:7], 9, 5), around(CENTRES[:1], 1, 6)])
    rows = np.append(np.arange(60), np.full(10, -1))
    labels = refit(vectors, BEFORE, rows, OPTIONS, NO_ENDS).labels
    assert clusters(labels[:60]) == clusters(BEFORE.labels)
    assert frozenset(range(60, 69)) in clusters(labels)
    assert labels[69] == labels[0]


def test_a_cluster_above_the_cap_is_cut_and_the_others_stay() -> None:
    vectors = np.concatenate([VECTORS, around(CENTRES[2:3], 15, 5)])
    rows = np.append(np.arange(60), np.full(15, -1))
    labels = refit(vectors, BEFORE, rows, ClusterOptions(cluster_size=10, neighbours=3), NO_ENDS).labels
    assert np.bincount(labels).max() <= 20
    untouched = {members for members in clusters(BEFORE.labels) if 20 not in members}
    assert untouched <= clusters(labels)


def test_there_are_never_more_clusters_than_m() -> None:
    kept = np.setdiff1d(np.arange(60), np.arange(0, 60, 3))  # a third of each cluster is gone
    clustering = refit(VECTORS[kept], BEFORE, kept, OPTIONS, NO_ENDS)
    assert len(kept) == 40
    assert clustering.facts.clusters == 4
    intact = [members for members in clusters(BEFORE.labels[kept]) if members in clusters(clustering.labels)]
    assert len(intact) >= 2, "only the cheapest pairs are joined"


def test_a_node_that_a_removal_leaves_alone_joins_another_cluster() -> None:
    kept = np.concatenate([np.arange(51)])  # of the last cluster one node is left
    vectors = VECTORS[kept].copy()
    vectors[50] = around(CENTRES[:1], 1, 9)[0]
    labels = refit(
        vectors, PreviousClusters(np.concatenate([vectors, VECTORS[51:]]), BEFORE.labels), kept, OPTIONS, NO_ENDS
    ).labels
    assert labels[50] == labels[0]


def test_a_node_that_was_alone_before_stays_alone() -> None:
    vectors = np.concatenate([VECTORS, around(CENTRES[:1], 1, 9)])  # near the first cluster, and kept apart from it
    before = PreviousClusters(vectors, np.append(BEFORE.labels, 6))
    labels = refit(vectors, before, np.arange(61), OPTIONS, NO_ENDS).labels
    assert clusters(labels) == clusters(before.labels)


def test_a_cluster_that_is_gone_makes_room_for_one_of_new_nodes() -> None:
    kept = np.arange(50)  # of the last cluster no node is left
    beside_the_first = CENTRES[:1] + CENTRES[6:7]
    vectors = np.concatenate([VECTORS[kept], around(beside_the_first, 10, 5)])
    labels = refit(vectors, BEFORE, np.append(kept, np.full(10, -1)), OPTIONS, NO_ENDS).labels
    assert clusters(labels) == {*clusters(BEFORE.labels[kept]), frozenset(range(50, 60))}
