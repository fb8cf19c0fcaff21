"""What a picture of the graph in layers shows: few nodes, all others counted, filters held."""

from collections.abc import Iterable
from dataclasses import replace

import numpy as np
import pytest

from leanrag_core.queries.layer_scene import WIDE, SceneRequest, chosen_nodes, layer_scene, reach_of
from leanrag_core.types.graph import Place
from leanrag_core.types.index import Index
from leanrag_core.types.layer_scene import FARTHER, Scene
from tests.large_index import large_index
from tests.small_index import small_index


@pytest.fixture(scope="module")
def large() -> Index:
    return large_index(4000)


def ids_of(index: Index, places: Iterable[Place]) -> tuple[str, ...]:
    return tuple(index.layers[place.layer].entities["id"][place.row].as_py() for place in places)


def names(scene: Scene, hops: int) -> set[str]:
    return {node.name for node in scene.nodes if node.layer == scene.focus.layer and node.hops == hops}


def test_hops_are_counted_along_relations() -> None:
    scene = layer_scene(small_index(), SceneRequest(Place(0, 0)))  # queen - honey - mite, rape
    assert scene.focus.name == "queen"
    assert names(scene, 1) == {"honey"}
    assert names(scene, 2) == {"mite", "rape"}
    assert scene.within_reach == 3


def test_a_hub_is_drawn_with_its_strongest_neighbours_alone(large: Index) -> None:
    scene = layer_scene(large, SceneRequest(Place(0, 0)))
    assert large.layers[0].degrees[0] > 1000
    assert len(scene.nodes) <= 80
    assert 0 < len(names(scene, 1)) <= 12
    assert scene.within_reach > 1000


@pytest.mark.parametrize("focus", [Place(0, 17), Place(0, 0), Place(1, 30), Place(2, 3), Place(3, 0)])
def test_some_eighty_nodes_at_most_around_any_focus(large: Index, focus: Place) -> None:
    scene = layer_scene(large, SceneRequest(focus))
    assert len(scene.nodes) <= 80
    assert scene.totals == (4000, 200, 10, 1)
    assert all(scene.drawn(number) <= WIDE.boxes for number in (1, 2, 3))
    line = [node for node in scene.nodes if node.above_focus]
    assert [node.layer for node in line] == list(range(3, focus.layer - 1, -1))


def test_a_sixth_open_cluster_closes_the_one_used_longest_ago(large: Index) -> None:
    opened = tuple(Place(1, row) for row in (10, 20, 30, 40))
    scene = layer_scene(large, SceneRequest(Place(1, 50), opened=opened))
    open_rows = {node.row for node in scene.nodes if node.layer == 1 and node.is_open}
    assert open_rows == {10, 20, 30, 40, 50}
    assert scene.open_ids == ids_of(large, opened)
    scene = layer_scene(large, SceneRequest(Place(1, 50), opened=(*opened, Place(1, 60))))
    open_rows = {node.row for node in scene.nodes if node.layer == 1 and node.is_open}
    assert open_rows == {20, 30, 40, 50, 60}
    assert scene.open_ids == ids_of(large, [Place(1, row) for row in (20, 30, 40, 60)])
    request = SceneRequest(Place(1, 50), opened=opened, pinned=opened[:1])
    chosen = chosen_nodes(large, request, reach_of(large.layers[1], 50, request), replace(WIDE, clouds=2))
    assert opened[0] in {node.place for node in chosen.nodes}
    assert chosen.open_ids == ids_of(large, opened[-1:]), "the pinned one is drawn and closed"


def test_an_opened_box_shows_its_children(large: Index) -> None:
    opened = (Place(2, 3), Place(2, 7))
    allowed = np.arange(10) != 3
    scene = layer_scene(large, SceneRequest(Place(3, 0), opened=opened, allowed=(None, None, allowed)))
    below = [node for node in scene.nodes if node.layer == 1]
    assert {int(large.layers[1].parent[node.row]) for node in below} >= {7}
    assert scene.open_ids == ids_of(large, opened[1:]), "what a filter takes out is not open"
    assert {node.hops for node in scene.nodes if node.layer == 2} == {1}


def test_a_lone_entity_is_a_picture_of_one_node() -> None:
    index = small_index()
    scene = layer_scene(replace(index, layers=index.layers[:1]), SceneRequest(Place(0, 2)))
    assert [(node.name, node.hops) for node in scene.nodes] == [("mite", 0)]


def test_a_pinned_entity_stays_when_the_focus_is_elsewhere(large: Index) -> None:
    scene = layer_scene(large, SceneRequest(Place(0, 17), pinned=(Place(0, 3000),)))
    pinned = [node for node in scene.nodes if node.pinned]
    assert [node.row for node in pinned] == [3000]


def test_a_cluster_that_is_grown_shows_more_of_its_entities() -> None:
    index = large_index(4000)
    parents = np.zeros(4000, dtype=np.int32)
    parents[100:] = np.arange(3900) % 199 + 1
    index.layers[0].__dict__["parent"] = parents  # cluster 0 has a hundred entities
    before = layer_scene(index, SceneRequest(Place(1, 0), opened=(Place(1, 5), Place(1, 6))))
    after = layer_scene(index, SceneRequest(Place(1, 0), opened=(Place(1, 5), Place(1, 6)), grown=Place(1, 0)))
    count = [sum(node.layer == 0 and node.row < 100 for node in scene.nodes) for scene in (before, after)]
    assert count[0] < count[1] < 100


def test_filters_take_nodes_and_relations_out_of_picture_and_counts() -> None:
    index = small_index()
    without_honey = np.array([True, False, True, True, True, True])
    scene = layer_scene(index, SceneRequest(Place(0, 0), allowed=(without_honey, None, None)))
    assert "honey" not in {node.name for node in scene.nodes}
    assert scene.totals == (5, 2, 1)
    assert next(node for node in scene.nodes if node.name == "bees").children == 2
    strong = index.layers[0].weights >= 2
    scene = layer_scene(index, SceneRequest(Place(0, 0), allowed_relations=(strong, None, None)))
    assert names(scene, 1) == {"honey"}
    assert names(scene, 2) == set()
    assert {(link.source, link.target) for link in scene.links if link.layer == 0 and link.strength < 2} == set()


def test_links_at_the_focus_come_first_and_faint_ones_stay_within_a_cluster(large: Index) -> None:
    scene = layer_scene(large, SceneRequest(Place(0, 17)))
    base = [link for link in scene.links if link.layer == 0]
    assert [link.hops for link in base] == sorted(link.hops for link in base)
    for link in base:
        if link.hops == FARTHER:
            assert scene.nodes[link.source].parent == scene.nodes[link.target].parent
