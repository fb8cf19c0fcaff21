from dataclasses import asdict
from itertools import pairwise

import numpy as np
import pytest

from leanrag_core.figures.block_pictures import HEIGHT, icicle, sunburst, treemap
from leanrag_core.figures.blocks import Picture, folded_parent, shown_below
from leanrag_core.types.graph import Place
from leanrag_core.types.index import Index
from tests.figures.hierarchies import even, hierarchy, tree_of

SHAPES = (icicle, treemap, sunburst)


@pytest.fixture
def large(index: Index) -> Index:
    """Return an index of 1,200 entities in 60 clusters in 5."""
    return even(index, 1200, 60, 5)


def drawn_rows(picture: Picture, layer: int) -> set[int]:
    rows = {block.row for block in picture.blocks if block.layer == layer and not block.folded}
    return rows | {row for block in picture.blocks if block.layer == layer + 1 for row in block.cells}


def test_children_are_beside_their_parent_in_its_height(index: Index) -> None:
    picture = icicle(tree_of(index), Place(2, 0))
    farm, bees, fields = picture.blocks
    assert (farm.x, farm.y, farm.height) == (0, 0.0, HEIGHT)
    assert (bees.x, bees.y, fields.y + fields.height) == (1, 0.0, HEIGHT)
    assert bees.height == fields.height
    assert fields.y == bees.height + 3
    assert [len(block.cells) for block in picture.blocks] == [0, 3, 3]
    assert [(column.layer, column.named, column.total) for column in picture.columns] == [
        (2, 1, 1),
        (1, 2, 2),
        (0, 0, 6),
    ]


@pytest.mark.parametrize("focus", [Place(3, 0), Place(2, 1), Place(1, 7)])
@pytest.mark.parametrize("kept", [[], [Place(0, 3), Place(0, 700), Place(1, 59)]])
def test_counts_add_up_to_the_layer(large: Index, focus: Place, kept: list[Place]) -> None:
    tree = tree_of(large, kept)
    picture = icicle(tree, focus)
    last = picture.columns[-1].layer
    for column in picture.columns[:-1]:
        counted = sum(block.folded or 1 for block in picture.blocks if block.layer == column.layer)
        assert counted == column.total == tree.inside(focus.layer, [focus.row], column.layer)
    in_cells = sum(block.inner for block in picture.blocks if block.layer == last + 1)
    folded = sum(block.folded for block in picture.blocks if block.layer == last)
    assert in_cells + folded == picture.columns[-1].total
    assert all(len(block.cells) <= block.inner for block in picture.blocks)


@pytest.mark.parametrize("shape", [treemap, sunburst])
def test_children_of_an_open_block_add_up(large: Index, shape: object) -> None:
    picture = shape(tree_of(large), Place(3, 0))
    for block in picture.blocks:
        inside = [other for other in picture.blocks if other.parent == block.id]
        assert not inside or sum(other.folded or 1 for other in inside) == block.inner
        assert not inside or sum(other.below for other in inside) == block.below


@pytest.mark.parametrize("shape", SHAPES)
def test_hits_matches_and_the_selection_are_never_folded(large: Index, shape: object) -> None:
    hits = {Place(0, row): rank for rank, row in enumerate((5, 17, 18, 19, 601, 1199), start=1)}
    kept = [Place(0, 1000), Place(1, 33)]
    plain = shape(tree_of(large), Place(3, 0))
    marked = shape(tree_of(large, kept, hits), Place(3, 0))
    wanted = {place.row for place in [*hits, kept[0]]}
    assert not wanted <= drawn_rows(plain, 0)
    assert wanted <= drawn_rows(marked, 0)
    assert 33 in drawn_rows(marked, 1)


def test_an_icicle_grows_where_more_is_kept_than_it_has_room_for(large: Index) -> None:
    picture = icicle(tree_of(large, [Place(1, row) for row in range(60)]), Place(3, 0))
    assert picture.height > HEIGHT
    assert drawn_rows(picture, 1) == set(range(60))
    assert all(block.height >= 22.9 for block in picture.blocks)


@pytest.mark.parametrize("shape", SHAPES)
def test_the_same_index_gives_the_same_picture(large: Index, shape: object) -> None:
    kept = [Place(0, row) for row in (900, 3, 77)]
    again = [Place(0, row) for row in (77, 900, 3)]
    first, second = (shape(tree_of(large, places), Place(3, 0)) for places in (kept, again))
    assert asdict(first) == asdict(second)


def test_blocks_do_not_overlap_in_a_column(large: Index) -> None:
    picture = icicle(tree_of(large, [Place(0, row) for row in range(0, 1200, 60)]), Place(3, 0))
    for column in range(3):
        spans = sorted((block.y, block.y + block.height) for block in picture.blocks if block.x == column)
        assert all(end <= start + 1e-6 for (_, end), (start, _) in pairwise(spans))
        assert spans[-1][1] <= picture.height + 1e-6


def test_the_next_children_are_shown_when_the_first_are_skipped(index: Index) -> None:
    tree = tree_of(even(index, 900, 300))
    first = icicle(tree, Place(2, 0))
    following = icicle(tree, Place(2, 0), skip=first.columns[1].named)
    assert first.skippable
    assert drawn_rows(first, 1).isdisjoint(drawn_rows(following, 1))


def test_folded_blocks_name_their_parent(large: Index) -> None:
    picture = icicle(tree_of(large), Place(3, 0))
    ids = {block.id for block in picture.blocks}
    assert len(ids) == len(picture.blocks)
    assert {folded_parent(block.id) for block in picture.blocks if block.folded} <= ids
    assert folded_parent("id-n0-3") == folded_parent("more:x:id") == ""


def test_what_filters_leave_out_is_neither_drawn_nor_counted(large: Index) -> None:
    masks = [np.zeros(len(layer), dtype=bool) for layer in large.layers]
    masks[0][[2, 3, 700]] = True
    picture = icicle(tree_of(large, below=shown_below(large, masks)), Place(3, 0))
    assert [column.total for column in picture.columns] == [1, 2, 2, 3]
    assert picture.blocks[0].below == 3
    masks[0][:] = False
    masks[1][:2] = True  # clusters alone: all entities inside count
    picture = icicle(tree_of(large, below=shown_below(large, masks)), Place(3, 0))
    assert [(column.layer, column.total) for column in picture.columns] == [(3, 1), (2, 1), (1, 2)]
    assert picture.blocks[0].below == 40


def test_an_index_of_one_layer_is_a_single_block(index: Index) -> None:
    for shape in SHAPES:
        assert len(shape(tree_of(hierarchy(index)), Place(0, 0)).blocks) == 1
