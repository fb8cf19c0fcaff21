"""Places of types: no box on another with two or forty types, and the folded ones counted."""

from itertools import combinations

import pytest

from leanrag_core.figures.schema_graph import FOLD, NARROW, WIDE, SchemaSize, schema_graph


@pytest.mark.parametrize("size", [WIDE, NARROW], ids=["wide", "narrow"])
@pytest.mark.parametrize("n", [1, 2, 3, 7, 8, 9, 12, 13, 14, 40])
def test_boxes_do_not_overlap_and_no_type_is_lost(n: int, size: SchemaSize) -> None:
    links = {(a, b): a + b for a, b in combinations(range(n), 2)}
    graph = schema_graph(list(range(n, 0, -1)), links, size)
    for place, other in combinations(graph.places, 2):
        assert abs(place.x - other.x) >= size.box_width or abs(place.y - other.y) >= size.box_height
    for place in graph.places:
        assert size.box_width / 2 <= place.x <= size.width - size.box_width / 2
        assert size.box_height / 2 <= place.y <= size.height - size.box_height / 2
    shown = [place.of for place in graph.places if place.of != FOLD]
    assert len(set(shown)) == len(shown) == n - graph.folded
    assert (FOLD in [place.of for place in graph.places]) == (graph.folded > 0)
    assert graph.folded != 1


def test_the_type_with_most_relations_is_in_the_middle_and_friends_are_neighbours() -> None:
    links = {(0, 1): 1, (1, 2): 50, (1, 3): 40, (2, 3): 1, (0, 3): 9}
    places = schema_graph([10, 5, 4, 3], links, WIDE).places
    assert (places[0].of, places[0].x, places[0].y) == (1, 350, 270)
    assert [place.of for place in places[1:]] == [0, 3, 2]
