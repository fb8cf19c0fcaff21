"""Clusters on the map, and what each frame of their formation holds."""

import numpy as np

from leanrag_core.figures.embedding_map import MapPlaces
from leanrag_core.queries.map_picture import formation, layer_clusters
from leanrag_core.types.index import Index

PLACES = np.array([[0, 0], [0.1, 0], [0, 0.1], [0.9, 0.9], [1, 0.9], [0.9, 1]], dtype=np.float32)


def test_a_point_is_in_the_cluster_of_its_ancestor(index: Index) -> None:
    assert index.lifted(np.array([0, 5]), 0, 1).tolist() == [0, 1]
    assert index.lifted(np.array([0, 5]), 0, 2).tolist() == [0, 0]


def test_clusters_beyond_the_hues_are_counted(index: Index) -> None:
    shown = MapPlaces(np.arange(6), PLACES)
    clusters = layer_clusters(index, 0, 1, shown, most=1)
    assert (clusters.names, clusters.cluster_of.tolist()) == (("bees",), [0, 0, 0, -1, -1, -1])
    assert (clusters.n_others, clusters.others_size) == (1, 3)


def test_a_sample_counts_the_entities_that_it_leaves_out(index: Index) -> None:
    shown = MapPlaces(np.array([0, 3]), PLACES[[0, 3]])
    clusters = layer_clusters(index, 0, 1, shown, most=5)
    assert [cluster.size for cluster in clusters.clusters] == [3, 3]


def test_each_layer_forms_from_the_one_below(index: Index) -> None:
    first, second = formation(index, MapPlaces(np.array([0, 3, 4]), PLACES[[0, 3, 4]]))
    assert (first.below, first.clusters, first.largest, first.singletons) == (6, 2, 3, 0)
    assert first.cluster_of.tolist() == [0, 1, 1]
    assert (first.summarised, first.joined) == (0, 1)
    assert (second.clusters, second.largest_name) == (1, "farm")
    assert [cluster.name for cluster in second.named] == ["farm"]
