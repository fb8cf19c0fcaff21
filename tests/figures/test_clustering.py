from typing import Any

import pytest

from leanrag_core.errors import IndexDamaged
from leanrag_core.figures.clustering import cluster_facts

KEPT: dict[str, Any] = {
    "layer": 1,
    "smallest": 2,
    "median": 3.5,
    "largest": 6,
    "singletons": 0,
    "relations_below": 40,
    "relations_inside": 10,
}


def test_relations_inside_clusters_are_a_share_of_those_below() -> None:
    [facts] = cluster_facts({"clustering": [KEPT]})
    assert facts.relations_inside == 0.25
    assert (facts.median, facts.neighbours_inside, facts.likelihood) == (3.5, None, None)
    [bare] = cluster_facts({"clustering": [{**KEPT, "relations_below": 0, "relations_inside": 0}]})
    assert bare.relations_inside is None


@pytest.mark.parametrize(
    "kept",
    [{}, {**KEPT, "smallest": None}, {**KEPT, "relations_below": {}}, {**KEPT, "median": "x"}, {**KEPT, "layer": []}],
)
def test_a_report_that_does_not_say_it_is_told_as_one(kept: dict[str, Any]) -> None:
    with pytest.raises(IndexDamaged, match="build the index again"):
        cluster_facts({"clustering": [kept]})
