from itertools import pairwise

import numpy as np
import pyarrow as pa
import pytest

from leanrag_core.types.rows import Columns, Lists, RowOf, numbers

IDS = [f"id-{number:03}" for number in (7, 3, 9, 1, 0, 8)]


@pytest.mark.parametrize("rounds", [1, 20])
def test_every_id_has_its_row_while_scanning_and_after_sorting(rounds: int) -> None:
    rows = RowOf(pa.chunked_array([IDS[:2], IDS[2:]]))
    for _ in range(rounds):
        assert [rows[id_] for id_ in IDS] == [0, 1, 2, 3, 4, 5]


def test_an_unknown_id_is_missing_as_from_a_dictionary() -> None:
    rows = RowOf(pa.chunked_array([IDS]))
    for _ in range(30):
        assert rows.get("id-005") is None
        assert rows.get("id-999") is None
        assert rows.get("") is None
        assert "id-007" in rows
    with pytest.raises(KeyError, match="nobody"):
        rows["nobody"]


def test_it_compares_and_iterates_like_a_dictionary() -> None:
    assert RowOf(pa.chunked_array([IDS])) == {id_: row for row, id_ in enumerate(IDS)}
    assert list(RowOf(pa.chunked_array([IDS]))) == IDS


def test_of_an_id_that_occurs_twice_the_last_row_counts() -> None:
    rows = RowOf(pa.chunked_array([["a", "b", "a"]]))
    assert [rows["a"] for _ in range(40)] == [2] * 40


def test_no_rows_hold_no_id() -> None:
    rows = RowOf(pa.chunked_array([], pa.string()))
    assert len(rows) == 0
    assert [rows.get("a") for _ in range(30)] == [None] * 30


@pytest.mark.parametrize("pieces", [[[1, 2, 3]], [[1], [2, 3]], [[], [1, 2, 3]], [[1, 2, 3], []]])
def test_numbers_of_a_column_do_not_depend_on_its_pieces(pieces: list[list[int]]) -> None:
    assert numbers(pa.chunked_array(pieces, pa.int32())).tolist() == [1, 2, 3]


def test_numbers_of_a_part_are_those_of_the_part() -> None:
    column = pa.chunked_array([[5, 6, 7, 8]], pa.int32())
    assert numbers(column.slice(1, 2)).tolist() == [6, 7]
    assert numbers(pa.array([[1], [2, 3]])[1].values).tolist() == [2, 3]


def test_numbers_with_gaps_and_no_numbers_at_all_are_read_too() -> None:
    assert np.isnan(numbers(pa.chunked_array([[1.0, None]]))[1])
    assert numbers(pa.chunked_array([], pa.int32())).tolist() == []
    assert numbers(pa.array([], pa.int32())).tolist() == []


def test_lists_are_joined_in_the_order_of_the_rows() -> None:
    lists = Lists(pa.chunked_array([[[3, 1], [], None, [7], [2, 2]]], pa.list_(pa.int32())).slice(1))
    assert lists.joined(np.array([3, 0, 2, 3])).tolist() == [2, 2, 7, 2, 2]
    assert lists.joined(np.zeros(0, dtype=np.int64)).tolist() == []


@pytest.mark.parametrize("cuts", [[], [3], [0, 1, 1, 4]])
def test_cells_are_those_of_the_table_however_its_columns_are_cut(cuts: list[int]) -> None:
    names, lists = ["ä", "", "bee", "hive", "mite"], [[3, 1], [], [7], [2, 2, 2], []]
    bounds = list(pairwise([0, *cuts, 5]))
    table = pa.table(
        {
            "name": pa.chunked_array([names[a:b] for a, b in bounds], pa.string()),
            "list": pa.chunked_array([lists[a:b] for a, b in bounds], pa.list_(pa.int32())),
        }
    )
    assert [Columns(table)["name"][row].as_py() for row in range(5)] == names
    assert [Lists(table["list"])[row].tolist() for row in range(5)] == lists
    whole = Lists(table["list"])
    assert [whole.values[whole.offsets[row] : whole.offsets[row + 1]].tolist() for row in range(5)] == lists
    assert whole.joined(np.array([3, 4, 0, 3])).tolist() == [2, 2, 2, 3, 1, 2, 2, 2]
    later = table.slice(2)
    assert [Columns(later)["name"][row].as_py() for row in range(3)] == names[2:]
    assert [Lists(later["list"])[row].tolist() for row in range(3)] == lists[2:]


def test_a_list_that_is_null_is_empty_and_no_rows_have_no_lists() -> None:
    masked = pa.ListArray.from_arrays([0, 2, 3], [5, 6, 7], mask=pa.array([True, False]))
    cells = Lists(pa.chunked_array([masked]))
    assert [cells[0].tolist(), cells[1].tolist()] == [[], [7]]
    with pytest.raises(IndexError):
        Lists(pa.chunked_array([], pa.list_(pa.int32())))[0]
