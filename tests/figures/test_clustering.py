from dataclasses import replace

import pytest

from leanrag_core.errors import IndexDamaged
from leanrag_core.figures.stage_charts import cluster_facts
from leanrag_core.types.build_report import LayerClusters
from tests.small_index import EMPTY_REPORT

KEPT = LayerClusters(layer=1, smallest=2, median=3.5, largest=6, singletons=0, relations_below=40, relations_inside=10)


def test_relations_inside_clusters_are_a_share_of_those_below() -> None:
    [facts] = cluster_facts(replace(EMPTY_REPORT, clustering=(KEPT,)))
    assert facts.relations_inside == 0.25
    assert (facts.median, facts.neighbours_inside, facts.likelihood) == (3.5, None, None)
    [bare] = cluster_facts(replace(EMPTY_REPORT, clustering=(replace(KEPT, relations_below=0, relations_inside=0),)))
    assert bare.relations_inside is None


@pytest.mark.parametrize(
    "kept",
    [LayerClusters(), replace(KEPT, smallest=None), replace(KEPT, relations_below=None), replace(KEPT, layer=None)],
)
def test_a_report_that_does_not_say_it_is_shown_as_one(kept: LayerClusters) -> None:
    with pytest.raises(IndexDamaged, match="build the index again"):
        cluster_facts(replace(EMPTY_REPORT, clustering=(kept,)))
