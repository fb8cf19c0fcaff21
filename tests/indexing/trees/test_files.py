"""Trees of texts whose files lead astray, as those of a stranger's archive may."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from leanrag_core.errors import IndexDamaged, PartDamaged
from leanrag_core.indexing.text_trees import read_tree, write_tree
from leanrag_core.types.text_tree import NODE_SCHEMA
from tests.contract.same import assert_same
from tests.retrieval.test_raptor import tree
from tests.small_index import small_index

INDEX = small_index()


def changed(folder: Path, change: Callable[[list[dict[str, Any]]], None]) -> Path:
    made = tree()
    rows = made.table.to_pylist()
    change(rows)
    write_tree(folder, replace(made, table=pa.Table.from_pylist(rows, schema=NODE_SCHEMA)))
    return folder


def above_itself(rows: list[dict[str, Any]]) -> None:
    rows[6]["children"] = [6]


def without_children(rows: list[dict[str, Any]]) -> None:
    rows[4]["children"] = []


def outside_the_tree(rows: list[dict[str, Any]]) -> None:
    rows[4]["children"] = [0, 7]


def outside_the_chunks(rows: list[dict[str, Any]]) -> None:
    rows[0]["chunk"] = 99


def empty_text(rows: list[dict[str, Any]]) -> None:
    rows[5]["text"] = None


def test_a_tree_comes_back_as_it_was_written(tmp_path: Path) -> None:
    write_tree(tmp_path, tree())
    assert_same(read_tree(tmp_path, INDEX), tree())


@pytest.mark.parametrize("change", [above_itself, without_children, outside_the_tree, outside_the_chunks, empty_text])
def test_a_tree_that_leads_astray_is_not_read(tmp_path: Path, change: Callable[[list[dict[str, Any]]], None]) -> None:
    with pytest.raises((IndexDamaged, PartDamaged)):
        read_tree(changed(tmp_path, change), INDEX)
