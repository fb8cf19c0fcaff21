"""Communities whose files lead astray, as those of a stranger's archive may."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from leanrag_core.errors import IndexDamaged, PartDamaged
from leanrag_core.indexing.communities.files import read_communities, write_communities
from leanrag_core.types.communities import COMMUNITY_SCHEMA, Communities
from tests.contract.same import assert_same
from tests.retrieval.hand_communities import hand_communities


def read(folder: Path, made: Communities) -> Communities:
    return read_communities(folder, n_nodes=made.n_nodes, dimension=made.vectors.shape[1])


def its_own_parent(rows: list[dict[str, Any]]) -> None:
    rows[1]["parent"] = 1


def outside_the_graph(rows: list[dict[str, Any]]) -> None:
    rows[0]["nodes"] = [0, 99]


def without_a_summary(rows: list[dict[str, Any]]) -> None:
    rows[0]["summary"] = None


def test_communities_come_back_as_they_were_written(tmp_path: Path) -> None:
    made = hand_communities([(2, 1, "Mites are said to harm.")])
    write_communities(tmp_path, made)
    assert_same(read(tmp_path, made), made)


@pytest.mark.parametrize("change", [its_own_parent, outside_the_graph, without_a_summary])
def test_communities_that_lead_astray_are_not_read(
    tmp_path: Path, change: Callable[[list[dict[str, Any]]], None]
) -> None:
    made = hand_communities()
    rows = made.table.to_pylist()
    change(rows)
    write_communities(tmp_path, replace(made, table=pa.Table.from_pylist(rows, schema=COMMUNITY_SCHEMA)))
    with pytest.raises(IndexDamaged):
        read(tmp_path, made)


def test_claims_on_no_entity_are_not_read(tmp_path: Path) -> None:
    made = hand_communities([(99, 1, "Nobody is said to harm.")])
    write_communities(tmp_path, made)
    with pytest.raises(IndexDamaged):
        read(tmp_path, made)


def test_communities_of_another_graph_are_not_read(tmp_path: Path) -> None:
    made = hand_communities()
    write_communities(tmp_path, made)
    with pytest.raises(PartDamaged):
        read_communities(tmp_path, n_nodes=made.n_nodes + 1, dimension=made.vectors.shape[1])
