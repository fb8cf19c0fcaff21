"""Places of the graph in layers: the same each time, nothing on top of anything else, every folded node counted."""

from itertools import combinations

import numpy as np
import pytest

from leanrag_core.figures.clouds import apart
from leanrag_core.figures.layer_graph import NARROW, WIDE, LayerGraph, Size, layer_graph
from leanrag_core.queries.layer_scene import SceneRequest, layer_scene
from leanrag_core.types.graph import Place
from leanrag_core.types.index import Index
from leanrag_core.types.layer_scene import Scene
from tests.large_index import large_index
from tests.small_index import small_index

FOCI = [Place(0, 17), Place(0, 0), Place(1, 30), Place(2, 3), Place(3, 0)]


@pytest.fixture(scope="module")
def large() -> Index:
    return large_index(4000)


@pytest.fixture(params=FOCI, ids=str)
def scene(large: Index, request: pytest.FixtureRequest) -> Scene:
    return layer_scene(large, SceneRequest(request.param))


@pytest.mark.parametrize("size", [WIDE, NARROW], ids=["wide", "narrow"])
def test_the_same_scene_has_the_same_places(scene: Scene, size: Size) -> None:
    assert layer_graph(scene, size) == layer_graph(scene, size)


@pytest.mark.parametrize("size", [WIDE, NARROW], ids=["wide", "narrow"])
def test_no_box_meets_another_and_all_is_inside(scene: Scene, size: Size) -> None:
    graph = layer_graph(scene, size)
    boxes = [(p.x - p.width / 2, p.y - p.height / 2, p.x + p.width / 2, p.y + p.height / 2) for p in graph.places]
    boxes += [(b.x - 20, b.y - 11, b.x + 20, b.y + 11) for b in graph.bubbles if b.of is None or b.closed]
    for (left, top, right, bottom), (left2, top2, right2, bottom2) in combinations(boxes, 2):
        assert left >= right2 or left2 >= right or top >= bottom2 or top2 >= bottom
    assert min(min(box) for box in boxes) >= 0
    assert all(right <= graph.width and bottom <= graph.height for _, _, right, bottom in boxes)


@pytest.mark.parametrize("size", [WIDE, NARROW], ids=["wide", "narrow"])
def test_entities_keep_their_distance_and_their_band(scene: Scene, size: Size) -> None:
    graph = layer_graph(scene, size)
    dots = [place for place in graph.places if not place.height]
    for dot, other in combinations(dots, 2):
        assert np.hypot(dot.x - other.x, dot.y - other.y) > 12
    base = graph.bands[-1]
    assert all(base.top < dot.y < base.bottom for dot in dots)


@pytest.mark.parametrize("size", [WIDE, NARROW], ids=["wide", "narrow"])
def test_bubbles_add_up_with_what_is_drawn(scene: Scene, size: Size) -> None:
    graph = layer_graph(scene, size)
    drawn = {place.node for place in graph.places}
    for number in range(1, len(scene.totals)):
        shown = sum(scene.nodes[at].layer == number for at in drawn)
        folded = sum(bubble.count for bubble in graph.bubbles if bubble.of is None and bubble.layer == number)
        assert shown + folded == scene.totals[number]
    for at in drawn:
        if scene.nodes[at].layer == 1:
            shown = sum(scene.nodes[node].parent == at for node in drawn)
            folded = sum(bubble.count for bubble in graph.bubbles if bubble.of == at)
            assert shown + folded == scene.nodes[at].children == 20


def test_a_narrow_layout_keeps_the_focus_and_what_is_above_it(scene: Scene) -> None:
    graph = layer_graph(scene, NARROW)
    drawn = {place.node for place in graph.places}
    assert {at for at, node in enumerate(scene.nodes) if node.above_focus} <= drawn
    assert len(drawn) < 45


def test_parents_are_above_their_children() -> None:
    scene = layer_scene(small_index(), SceneRequest(Place(0, 1)))
    graph = layer_graph(scene, WIDE)
    y = {place.node: place.y for place in graph.places}
    assert len(y) == 9
    assert all(y[node.parent] < y[at] for at, node in enumerate(scene.nodes) if node.parent is not None)
    assert not graph.bubbles


def test_an_index_of_one_entity_is_drawn() -> None:
    index = large_index(1)
    graph: LayerGraph = layer_graph(layer_scene(index, SceneRequest(Place(0, 0))), WIDE)
    assert len(graph.places) == 1


def test_open_clouds_have_colours_of_their_own(large: Index) -> None:
    opened = tuple(Place(1, row) for row in (6, 12, 18, 24))
    graph = layer_graph(layer_scene(large, SceneRequest(Place(1, 0), opened=opened)), WIDE)
    assert len({cloud.hue for cloud in graph.clouds}) == len(graph.clouds) == 5


def test_places_are_kept_apart_in_their_order() -> None:
    assert apart(np.array([10.0, 10.0, 90.0]), 20, 0, 100).tolist() == [0.0, 20.0, 90.0]
    assert apart(np.array([50.0, 40.0]), 20, 0, 100).tolist() == [35.0, 55.0]
