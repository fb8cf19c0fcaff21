"""Texts written by hand are taken where the members agree; the built-in writer writes the others, which is counted."""

from dataclasses import replace

import numpy as np
import pytest

from leanrag_core.clustering.options import ClusterOptions
from leanrag_core.indexing.aggregation.builtin_writer import BuiltinWriter
from leanrag_core.indexing.aggregation.embedding import OnceEmbedder
from leanrag_core.indexing.aggregation.hierarchy import Hierarchy, Start, build_hierarchy
from leanrag_core.indexing.aggregation.rules import AggregationRules, TauRule
from leanrag_core.indexing.reference.models import ReferenceWriter
from leanrag_core.indexing.reference.records import AggregatedSentence, AggregatedText, ReferenceGraph
from leanrag_core.types.graph import Finding, Graph
from tests.indexing.reference.hives import entity, relation
from tests.small_index import NAMES, small_index

GRAPH = ReferenceGraph(
    tuple(entity(name, name) for name in NAMES),
    (relation("honey", "rape", "honey"),),
    (
        AggregatedText(1, ("Queen", "honey", "mite"), "Life of the colony", "Bees and a mite.", (Finding("A", "B."),)),
        AggregatedText(1, ("clover", "rape", "seed coat"), "Plants that bees visit", "Crops.", ()),
        AggregatedText(2, NAMES, "Bees and crops", "All of it.", ()),
    ),
    (AggregatedSentence(1, "Plants that bees visit", "Life of the colony", "Plants feed colonies."),),
)
NEAR = {"queen": 0, "honey": 0, "mite": 0, "rape": 1, "clover": 1, "seed coat": 1}


def _embed(texts: list[str]) -> np.ndarray:
    """Return two groups of vectors, as the names of the small index are; those of aggregated texts lie between them."""
    rows = np.full((len(texts), 4), 0.01, dtype=np.float32)
    for row, text in enumerate(texts):
        group = NEAR.get(text.split(".")[0].strip(), 2)
        rows[row, group] = 1
        rows[row, 3] = 0.02 * len(text)
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def _hierarchy(graph: ReferenceGraph, *, by_builtin: bool = True) -> Hierarchy:
    base = small_index().layers[0]
    return build_hierarchy(
        Graph(base.entities, base.relations),
        Start(OnceEmbedder(_embed), ReferenceWriter(graph, BuiltinWriter(), by_builtin=by_builtin)),
        ClusterOptions(3),
        AggregationRules(TauRule((0,))),
    )


@pytest.fixture(scope="module")
def by_hand() -> Hierarchy:
    return _hierarchy(GRAPH)


def test_the_clusters_are_those_that_the_texts_were_written_for(by_hand: Hierarchy):
    assert by_hand.layers[0].parent.tolist() == small_index().layers[0].parent.tolist()


def test_every_text_is_taken_and_none_is_dropped(by_hand: Hierarchy):
    first, root = by_hand.layers[1], by_hand.layers[2]
    assert first.entities["name"].to_pylist() == ["Life of the colony", "Plants that bees visit"]
    assert first.entities["findings"].to_pylist()[0] == [{"summary": "A", "explanation": "B."}]
    assert root.entities["description"].to_pylist() == ["All of it."]
    assert first.relations["description"].to_pylist() == ["Plants feed colonies."]
    assert by_hand.drops == ()


def test_a_cluster_with_other_members_gets_the_builtin_text_and_is_counted():
    colony, plants, root = GRAPH.aggregated_entities
    hierarchy = _hierarchy(
        replace(GRAPH, aggregated_entities=(replace(colony, members=("queen", "honey")), plants, root))
    )
    names = hierarchy.layers[1].entities["name"].to_pylist()
    assert names[1] == "Plants that bees visit"
    assert names[0] != "Life of the colony"
    stages = [drop.stage for drop in hierarchy.drops]
    assert stages == ["aggregate entities", "aggregate relations"]  # the sentence was written for another end
    assert all(drop.by_builtin for drop in hierarchy.drops)


def test_a_language_model_that_writes_the_rest_is_not_the_builtin_writer():
    hierarchy = _hierarchy(replace(GRAPH, aggregated_entities=(), aggregated_relations=()), by_builtin=False)
    assert len(hierarchy.drops) == 4
    assert not any(drop.by_builtin for drop in hierarchy.drops)


def test_a_builtin_name_never_passes_for_one_that_was_written_by_hand(by_hand: Hierarchy):
    _, plants, root = GRAPH.aggregated_entities
    builtin = _hierarchy(replace(GRAPH, aggregated_entities=(plants, root))).layers[1].entities["name"][0].as_py()
    same = replace(plants, name=builtin)
    hierarchy = _hierarchy(replace(GRAPH, aggregated_entities=(same, root), aggregated_relations=()))
    assert hierarchy.layers[1].entities["name"].to_pylist() == [f"{builtin} (2)", builtin]
