import math
from dataclasses import replace

import numpy as np
import pytest

from leanrag_core.figures.icicle import Cell, HierarchyView, hierarchy_view
from leanrag_core.types.graph import Place
from leanrag_core.types.index import Index
from tests.small_index import entity, layer


def hierarchy(index: Index, *parents: list[int], names: dict[tuple[int, int], str] | None = None) -> Index:
    """An index of the same texts with other layers: parents[i][row] is the parent of that row of layer i."""
    sizes = [*(len(rows) for rows in parents), 1]
    named = names or {}
    layers = [
        layer(
            number,
            [
                {**entity(f"n{number}-{row}", [0]), "name": named.get((number, row), f"n{number}-{row}")}
                for row in range(size)
            ],
            [],
            np.ones((size, 1), dtype=np.float32),
            parents[number] if number < len(parents) else [],
        )
        for number, size in enumerate(sizes)
    ]
    return replace(index, layers=tuple(layers))


def view_of(index: Index, layer_number: int, row: int = 0) -> HierarchyView:
    return hierarchy_view(index, Place(layer_number, row), index.leaf_counts)


def shown(view: HierarchyView, layer_number: int) -> list[Cell]:
    return [cell for cell in view.cells if cell.layer == layer_number]


def test_a_small_hierarchy_is_drawn_whole(index: Index) -> None:
    view = view_of(index, 2)
    assert [(cell.name, cell.parent, cell.below, cell.children) for cell in view.cells[:3]] == [
        ("farm", "", 6, 2),
        ("bees", "id-farm", 3, 3),
        ("fields", "id-farm", 3, 3),
    ]
    assert view.columns == ((2, 1, 1), (1, 2, 2), (0, 6, 6))
    assert (view.hidden, view.focus) == (0, "id-farm")


def test_the_focus_is_the_outermost_block(index: Index) -> None:
    view = view_of(index, 1, 1)
    assert [cell.name for cell in view.cells] == ["fields", "rape", "clover", "seed coat"]
    assert view.cells[0].parent == ""


def test_the_weights_of_children_add_up_to_their_parents(index: Index) -> None:
    made = hierarchy(index, [0, 0, 0, 1, 2, 2], [0, 0, 1], [0, 0])
    view = view_of(made, 3)
    inside: dict[str, float] = {}
    for cell in view.cells:
        inside[cell.parent] = inside.get(cell.parent, 0.0) + cell.weight
    for cell in view.cells:
        assert cell.weight > 0
        assert inside.get(cell.id, cell.weight) == pytest.approx(cell.weight)
    assert inside[""] == pytest.approx(6.0)  # six leaves of weight one


def test_a_cut_level_grows_with_the_root_of_what_is_below(index: Index) -> None:
    made = hierarchy(index, [row // 4 for row in range(36)], [0, 0, 0, 0, 0, 0, 0, 0, 0], [0], [0])
    view = view_of(made, 4)
    assert [number for number, _, _ in view.columns] == [4, 3, 2, 1]
    assert [cell.weight for cell in shown(view, 1)] == [2.0] * 9
    assert view.cells[0].weight == 18.0


def test_of_a_block_with_very_many_children_the_rest_folds_into_one_cell(index: Index) -> None:
    # cluster 0 has three leaves, the 129 others one each: 120 of 130 are drawn, the largest first
    made = hierarchy(index, [0, 0, *range(130)], [0] * 130)
    view = view_of(made, 2)
    first = shown(view, 1)
    assert [cell.below for cell in first[:2]] == [3, 1]
    assert (first[-1].name, first[-1].folded, first[-1].below, first[-1].id) == ("10 more", 10, 10, "more:id-n2-0")
    assert len(first) == 121
    assert view.columns == ((2, 1, 1), (1, 120, 130))
    assert first[-1].weight == pytest.approx(math.sqrt(10))


def test_a_level_too_fine_to_hit_is_left_out_and_reported(index: Index) -> None:
    made = hierarchy(index, [row // 61 for row in range(122)], [0, 0])
    view = view_of(made, 2)
    assert (view.hidden, view.hidden_layer) == (122, 0)
    assert shown(view, 0) == []
    whole = view_of(hierarchy(index, [row // 60 for row in range(120)], [0, 0]), 2)
    assert (whole.hidden, len(shown(whole, 0))) == (0, 120)


def test_a_fold_never_replaces_a_single_node(index: Index) -> None:
    view = view_of(hierarchy(index, list(range(121)), [0] * 121), 2)
    assert len(shown(view, 1)) == 121
    assert not any(cell.folded for cell in view.cells)
    split = view_of(hierarchy(index, [0] * 62 + [1] * 58, [0, 1], [0, 0]), 3)
    assert [cell.folded for cell in shown(split, 0) if cell.folded] == [2]


def test_ids_of_blocks_are_unique_and_every_parent_is_drawn(index: Index) -> None:
    view = view_of(hierarchy(index, [row // 2 for row in range(300)], [0] * 150), 2)
    ids = [cell.id for cell in view.cells]
    assert len(set(ids)) == len(ids)
    assert {cell.parent for cell in view.cells} <= {"", *ids}


def test_an_index_of_one_layer_is_a_single_block(index: Index) -> None:
    made = hierarchy(index)
    view = view_of(made, 0)
    assert len(view.cells) == 1
    assert view.cells[0].weight == 1.0
