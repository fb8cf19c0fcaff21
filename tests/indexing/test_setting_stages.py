"""Each setting of an index declares the stage of a build that it changes first; stages before it are as they were."""

from dataclasses import fields, replace

import numpy as np
import pytest

from leanrag_core.clustering.options import cluster_options
from leanrag_core.indexing.aggregation.builtin_writer import BuiltinWriter
from leanrag_core.indexing.aggregation.embedding import OnceEmbedder
from leanrag_core.indexing.aggregation.hierarchy import Hierarchy, Start, build_hierarchy
from leanrag_core.indexing.aggregation.rules import aggregation_rules
from leanrag_core.indexing.extraction.llm import LLMExtractor
from leanrag_core.jobs.kinds import BUILD
from leanrag_core.types.config import CHUNK, CLUSTER, EMBED, EXTRACT, RELATIONS, IndexConfig, settings_of_stages
from leanrag_core.types.graph import Graph
from tests.indexing.aggregation.conftest import ENTITIES, embed_words, make_graph
from tests.indexing.aggregation.conftest import RELATIONS as LINKS
from tests.indexing.extraction.test_llm import Scripted
from tests.other_values import other_value

SMALL = IndexConfig(cluster_size=4, tau=2)


def hierarchy(base: Graph, config: IndexConfig) -> Hierarchy:
    start = Start(OnceEmbedder(embed_words), BuiltinWriter())
    return build_hierarchy(base, start, cluster_options(config), aggregation_rules(config, heuristic=True))


def test_every_setting_declares_a_stage_of_a_build() -> None:
    stages = {stage.name for stage in BUILD.stages}
    assert {spec.metadata["stage"] for spec in fields(IndexConfig)} <= stages


@pytest.mark.parametrize("name", settings_of_stages(RELATIONS))
def test_a_setting_of_relations_leaves_the_clusters_of_the_base_graph(name: str) -> None:
    base = make_graph(ENTITIES, LINKS)
    changed = hierarchy(base, replace(SMALL, **{name: other_value(name)}))
    np.testing.assert_array_equal(changed.layers[0].parent, hierarchy(base, SMALL).layers[0].parent)


@pytest.mark.parametrize("name", settings_of_stages(CHUNK, EMBED, CLUSTER, RELATIONS))
def test_other_settings_leave_what_a_model_is_asked_of_a_chunk(name: str) -> None:
    changed = replace(SMALL, **{name: other_value(name)})
    fingerprints = {LLMExtractor.of(Scripted(), config).fingerprint for config in (SMALL, changed)}
    assert len(fingerprints) == 1


@pytest.mark.parametrize("name", ["gleaning_rounds", "entity_types"])
def test_settings_of_the_extraction_change_it(name: str) -> None:
    assert name in settings_of_stages(EXTRACT)
    changed = replace(SMALL, **{name: other_value(name)})
    assert LLMExtractor.of(Scripted(), changed).fingerprint != LLMExtractor.of(Scripted(), SMALL).fingerprint
