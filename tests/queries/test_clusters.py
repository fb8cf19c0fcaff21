"""Cohesion, conductance, stability and overlap of clusters, worked out by hand on the small index."""

from dataclasses import replace

import numpy as np
import pytest

from leanrag_core.clustering.options import ClusterOptions
from leanrag_core.queries.clusters import best_jaccard, cluster_overlap, cluster_quality, cluster_stability
from leanrag_core.types.graph import Layer
from leanrag_core.types.index import Index
from tests.small_index import entity, layer, unit


def test_cohesion_is_the_mean_cosine_to_the_mean_and_the_oddest_is_farthest(index: Index) -> None:
    quality = cluster_quality(index, 1)
    # queen (1, 0), honey (.8, .6), mite (0, 1): their sum is (1.8, 1.6) of length 2.408.
    cosines = [1.8 / 2.4083, (0.8 * 1.8 + 0.6 * 1.6) / 2.4083, 1.6 / 2.4083]
    assert quality.sizes.tolist() == [3, 3]
    assert quality.cohesion[0] == pytest.approx(np.mean(cosines), abs=1e-4)
    assert quality.oddest[0] == 2
    assert quality.oddest_cosine[0] == pytest.approx(cosines[2], abs=1e-4)


def test_conductance_is_what_leaves_by_the_smaller_volume(index: Index) -> None:
    quality = cluster_quality(index, 1)
    # bees: 0-1 and 1-2 inside, 1-3 and 2-5 leave: volume 6. fields: 3-4 inside, the same two leave: volume 4.
    assert quality.inside.tolist() == [2, 1]
    assert quality.leaving.tolist() == [2, 2]
    assert quality.conductance.tolist() == [0.5, 0.5]


def test_a_cluster_with_all_relations_has_no_conductance(index: Index) -> None:
    assert np.isnan(cluster_quality(index, 2).conductance[0])


def test_the_best_jaccard_is_that_of_the_cluster_most_alike() -> None:
    own, again = np.array([0, 0, 0, 1, 1]), np.array([5, 5, 2, 2, 2])
    # {0,1,2} with {0,1}: 2/3; {3,4} with {2,3,4}: 2/3; cluster 2 has no node.
    assert best_jaccard(own, again, 3) == pytest.approx([2 / 3, 2 / 3, 0])


def two_groups(n: int) -> Layer:
    """Return a layer of nodes of two directions, far apart, in clusters of their own."""
    rng = np.random.default_rng(0)
    centre = np.repeat([[1.0, 0, 0, 0], [0, 0, 1.0, 0]], n, axis=0)
    vectors = unit((centre + 0.05 * rng.normal(size=centre.shape)).tolist())
    return layer(0, [entity(f"e{row}", []) for row in range(2 * n)], [], vectors, [0] * n + [1] * n)


def test_clusters_far_apart_are_stable_and_cut_ones_are_not() -> None:
    options, seeds = ClusterOptions(cluster_size=20, smoothing=0), (1, 2)
    apart = cluster_stability(two_groups(20), 2, options, seeds=seeds)
    assert apart.agreement == (1.0, 1.0)
    assert apart.stability.tolist() == [1.0, 1.0]
    below = two_groups(20)
    mixed = replace(below, parent=np.arange(40, dtype=np.int32) % 2)
    assert max(cluster_stability(mixed, 2, options, seeds=seeds).agreement) < 0.2


def test_a_large_layer_is_sampled_by_whole_clusters() -> None:
    below = replace(two_groups(20), parent=np.repeat(np.arange(4), 10).astype(np.int32))
    stability = cluster_stability(below, 4, ClusterOptions(cluster_size=10, smoothing=0), seeds=(1,), most_nodes=20)
    assert (stability.n_nodes, stability.n_total) == (20, 40)
    assert int(np.isnan(stability.stability).sum()) == 2


def test_an_index_agrees_with_itself(index: Index) -> None:
    overlap = cluster_overlap(index, 1, index, 1)
    assert overlap is not None
    assert (overlap.common, overlap.only_here, overlap.by_name) == (6, 0, False)
    assert (overlap.adjusted_rand, overlap.mutual_information) == (1.0, pytest.approx(1.0))
    assert [(row.here, row.there, row.shared) for row in overlap.rows] == [(0, 0, 3), (1, 1, 3)]


def test_other_ids_are_matched_by_name_and_the_rest_is_counted(index: Index) -> None:
    # The other index has queen, honey and rape in one cluster and seed coat in another, under ids of its own.
    names = ("Queen", "honey", "rape", "seed coat", "barn")
    base = layer(
        0, [{**entity(name, []), "id": f"x-{name}"} for name in names], [], unit([[1.0, 0]] * 5), [0, 0, 0, 1, 1]
    )
    other = Index(index.manifest, index.documents, index.chunks, (base, *index.layers[1:]), base.vectors, index.report)
    overlap = cluster_overlap(index, 1, other, 1)
    assert overlap is not None
    assert (overlap.by_name, overlap.common, overlap.only_here, overlap.only_there) == (True, 4, 2, 1)
    rows = [(row.here, row.there, row.shared, row.n_here, row.n_there) for row in overlap.rows]
    assert rows == [(0, 0, 2, 2, 3), (1, 0, 1, 2, 3), (1, 1, 1, 2, 1)]


def test_indexes_without_a_common_entity_are_not_compared(index: Index) -> None:
    base = layer(0, [{**entity("barn", []), "id": "x"}], [], unit([[1.0, 0]]), [0])
    other = Index(index.manifest, index.documents, index.chunks, (base, *index.layers[2:]), base.vectors, index.report)
    assert cluster_overlap(index, 1, other, 1) is None
