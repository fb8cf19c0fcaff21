from itertools import pairwise

import pytest

from leanrag_core.figures.blocks import HEIGHT, Block, Blocks, icicle_blocks, squarified, treemap_blocks
from leanrag_core.figures.icicle import Cell, HierarchyView
from leanrag_core.types.index import Index
from tests.figures.test_icicle import hierarchy, view_of


def named(blocks: Blocks) -> dict[str, Block]:
    return {block.name: block for block in blocks.blocks}


def view(*cells: Cell, columns: tuple[tuple[int, int, int], ...] = ()) -> HierarchyView:
    return HierarchyView(cells[0].id, cells, columns, 0, 0)


def test_children_are_drawn_beside_their_parent_in_its_height(index: Index) -> None:
    blocks = icicle_blocks(view_of(index, 2))
    at = named(blocks)
    # three columns of widths 1/2, 1 and 1
    assert blocks.columns == pytest.approx((0.2, 0.4, 0.4))
    assert [(at[name].x, at[name].width) for name in ("farm", "bees", "honey")] == [(0.0, 0.2), (0.2, 0.4), (0.6, 0.4)]
    assert [(at[name].y, at[name].height) for name in ("farm", "bees", "fields")] == [
        (0.0, HEIGHT),
        (0.0, HEIGHT / 2),
        (HEIGHT / 2, HEIGHT / 2),
    ]
    lowest = [block for block in blocks.blocks if block.layer == 0]
    assert [block.height for block in lowest] == pytest.approx([HEIGHT / 6] * 6, abs=1e-4)
    assert all(low.y == pytest.approx(high.y + high.height, abs=1e-4) for high, low in pairwise(lowest))
    assert at["bees"].y <= at["queen"].y < at["bees"].y + at["bees"].height


def test_a_single_block_fills_the_icicle(index: Index) -> None:
    blocks = icicle_blocks(view_of(hierarchy(index), 0))
    assert blocks.columns == (1.0,)
    [only] = blocks.blocks
    assert (only.x, only.y, only.width, only.height) == (0.0, 0.0, 1.0, HEIGHT)
    assert [(block.x, block.width) for block in treemap_blocks(view_of(hierarchy(index), 0)).blocks] == [(0.0, 1.0)]


def test_children_of_a_treemap_lie_inside_their_parent_below_its_name(index: Index) -> None:
    blocks = treemap_blocks(view_of(index, 2))
    by_id = {block.id: block for block in blocks.blocks}
    assert [block.strip for block in blocks.blocks] == [True, True, True] + [False] * 6
    for block in blocks.blocks[1:]:
        outer = by_id[block.parent]
        assert outer.x <= block.x
        assert block.x + block.width <= outer.x + outer.width + 1e-4
        assert outer.y + 20 <= block.y
        assert block.y + block.height <= outer.y + outer.height + 1e-3


def test_a_treemap_has_three_levels(index: Index) -> None:
    made = hierarchy(index, [row // 2 for row in range(8)], [0, 0, 1, 1], [0, 0])
    assert sorted({block.layer for block in treemap_blocks(view_of(made, 3)).blocks}) == [1, 2, 3]


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


def test_a_block_says_what_it_is_and_keeps_its_name_unchanged() -> None:
    cells = (
        Cell("a", "", "<b>a & b</b>", 1, 1234, 3, weight=2.0),
        Cell("x", "a", "x", 0, 1, 0, weight=1.0),
        Cell("more:a", "a", "1,200 more", 0, 1200, 0, weight=1.0, folded=1200),
    )
    blocks = icicle_blocks(view(*cells, columns=((1, 1, 1), (0, 1, 1201))))
    assert [block.name for block in blocks.blocks] == ["<b>a & b</b>", "x", "1,200 more"]
    assert [block.about.split("\n")[1] for block in blocks.blocks] == [
        "Layer 1, 3 in the layer below, 1,234 entities in all",
        "Layer 0, entity",
        "They are in the list of children.",
    ]
    assert blocks.blocks[2].about.startswith("1,200 more nodes of layer 0\n")
    assert [block.folded for block in blocks.blocks] == [False, False, True]
