import pytest

from leanrag_core.figures.block_pictures import squarified, treemap
from leanrag_core.types.graph import Place
from leanrag_core.types.index import Index
from tests.figures.hierarchies import hierarchy, tree_of


def test_children_lie_inside_their_parent_below_its_name(index: Index) -> None:
    picture = treemap(tree_of(index), Place(2, 0))
    by_id = {block.id: block for block in picture.blocks}
    assert [block.strip for block in picture.blocks] == [True, True, True] + [False] * 6
    for block in picture.blocks[1:]:
        outer = by_id[block.parent]
        assert outer.x <= block.x
        assert block.x + block.width <= outer.x + outer.width + 1e-4
        assert outer.y + 20 <= block.y
        assert block.y + block.height <= outer.y + outer.height + 1e-3


def test_a_single_block_fills_the_treemap(index: Index) -> None:
    [only] = treemap(tree_of(hierarchy(index)), Place(0, 0)).blocks
    assert (only.x, only.y, only.width, only.strip) == (0.0, 0.0, 1.0, False)


@pytest.mark.parametrize("weights", [[6, 6, 4, 3, 2, 2, 1], [1.0] * 37, [1000, 1, 1], [5]])
def test_boxes_have_the_areas_of_their_weights_and_do_not_overlap(weights: list[float]) -> None:
    boxes = squarified(weights, 10, 20, 600, 400)
    for weight, (_, _, width, height) in zip(weights, boxes, strict=True):
        assert width * height == pytest.approx(weight / sum(weights) * 600 * 400)
    for place, (x, y, width, height) in enumerate(boxes):
        assert x >= 10 - 1e-6
        assert y >= 20 - 1e-6
        assert x + width <= 610 + 1e-6
        assert y + height <= 420 + 1e-6
        for left, top, wide, high in boxes[place + 1 :]:
            apart_x = x + width <= left + 1e-6 or left + wide <= x + 1e-6
            apart_y = y + height <= top + 1e-6 or top + high <= y + 1e-6
            assert apart_x or apart_y


def test_boxes_are_squarified_as_in_the_paper() -> None:
    # the example of Bruls, Huizing and van Wijk: areas 6 6 4 3 2 2 1 in a box of 6 x 4
    boxes = squarified([6, 6, 4, 3, 2, 2, 1], 0, 0, 6, 4)
    assert boxes[:2] == [(0, 0, 3, 2), (0, 2, 3, 2)]
    assert boxes[2] == pytest.approx((3, 0, 12 / 7, 7 / 3))
    assert boxes[3] == pytest.approx((3 + 12 / 7, 0, 9 / 7, 7 / 3))
    assert boxes[4] == pytest.approx((3, 7 / 3, 1.2, 5 / 3))


def test_no_weights_make_no_boxes() -> None:
    assert squarified([], 0, 0, 6, 4) == []
    assert squarified([1, 1], 0, 0, 0, 0) == [(0, 0, 0.0, 0.0)] * 2
