"""The knowledge tree: representations, scores and fusion by hand on a few entities, names by a model."""

import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from scipy.sparse import csr_array

from leanrag_core.indexing.part_base import PartModels, PartTools, parts
from leanrag_core.indexing.part_building import build_part, read_part
from leanrag_core.indexing.youtu.fusion import (
    Perception,
    affinity,
    centres_of,
    divergence,
    first_count,
    fused_communities,
    keywords_of,
    perception,
)
from leanrag_core.models.pacing import Meter
from leanrag_core.types.youtu import ATTRIBUTE_SCHEMA, PROPOSAL_SCHEMA, TYPE_SCHEMA, KnowledgeTree, Schema
from tests.contract.indexes import stored
from tests.contract.test_parts import TOOLS
from tests.retrieval.scripted import ScriptedLanguage
from tests.small_index import unit

RELATION_TYPES = ("related to", "has attribute", "eats")


def schema(relation_type: list[int], attributes: list[dict[str, object]] | None = None) -> Schema:
    """Return a schema whose relation types have the axes 0, 1 and 2 of three dimensions; every attribute has axis 2."""
    attributes = attributes or []
    rows = [("entity", "animal", 0), *(("relation", name, 0) for name in RELATION_TYPES), ("attribute", "kind", 0)]
    return Schema(
        types=pa.table(dict(zip(TYPE_SCHEMA.names, zip(*rows, strict=True), strict=True)), schema=TYPE_SCHEMA),
        type_vectors=np.concatenate([np.eye(3)[:1], np.eye(3), np.eye(3)[:1]]).astype(np.float32),
        entity_type=np.zeros(3, dtype=np.int32),
        relation_type=np.array(relation_type, dtype=np.int32),
        attributes=pa.Table.from_pylist(attributes, schema=ATTRIBUTE_SCHEMA),
        attribute_vectors=np.repeat(np.eye(3, dtype=np.float32)[2:], len(attributes), axis=0),
        proposals=PROPOSAL_SCHEMA.empty_table(),
        by_model=False,
    )


def test_an_entity_is_the_mean_of_its_triples() -> None:
    vectors = np.array([[1, 0, 0], [0, 1, 0], [0.6, 0.8, 0]], dtype=np.float32)
    attribute = {"entity": 0, "type": 0, "value": "brown", "chunk": 0}
    seen = perception(vectors, np.array([[0, 1]]), schema([2], [attribute]), weight=1.0)
    # Entity 0: (e0, eats, e1) and (e0, has attribute, brown): the mean of (1 0 0 | 0 0 1 | 0 1 0) and (1 0 0 | 0 1 0 |
    # 0 0 1), of length sqrt(1 + .5 + .5). Entity 1: (e1, eats, e0). Entity 2 has no triple.
    expected = np.array(
        [[1, 0, 0, 0, 0.5, 0.5, 0, 0.5, 0.5], [0, 1, 0, 0, 0, 1, 1, 0, 0], [0.6, 0.8, 0, 0, 0, 0, 0, 0, 0]]
    )
    np.testing.assert_allclose(seen.points, expected / np.array([[2**0.5], [3**0.5], [1]]), atol=1e-6)
    assert seen.types.toarray().tolist() == [[0, 1, 1], [0, 0, 1], [0, 0, 0]]


# Two pairs of like entities, each with one or two relation types.
POINTS = unit([[1, 0, 0], [0.8, 0.6, 0], [0, 0, 1], [0, 0.6, 0.8]])
TYPES = np.array([[1, 0, 0], [1, 1, 0], [0, 0, 1], [0, 0, 1]], dtype=np.float32)
LABELS = np.array([0, 0, 1, 1])


def seen_by_hand(weight: float = 2.0) -> Perception:
    return Perception(POINTS, csr_array(TYPES), weight)


def test_an_affinity_is_the_overlap_of_types_and_the_weighted_cosine_to_the_centroid() -> None:
    # Both members of a pair have the cosine cos(half of the angle between them) = sqrt((1 + .8) / 2) to their centroid.
    cosine = 0.9**0.5
    assert affinity(seen_by_hand(), LABELS) == pytest.approx(
        [0.5 + 2 * cosine, 1 + 2 * cosine, 1 + 2 * cosine, 1 + 2 * cosine], abs=1e-5
    )
    assert centres_of(affinity(seen_by_hand(), LABELS), LABELS).tolist() == [1, 2]


def test_the_divergence_of_centres_is_what_their_score_lacks() -> None:
    apart = divergence(seen_by_hand(), np.array([1, 3]))
    # No type in common; the cosine of (.8 .6 0) and (0 .6 .8) is .36: 1 - (0 + 2 * .36) / 3.
    np.testing.assert_allclose(apart, [[0, 0.76], [0.76, 0]], atol=1e-6)


def test_communities_whose_centres_agree_are_joined_in_pairs_until_none_do() -> None:
    # Four groups of ten like points; groups 0 and 1 are near to each other, and so are 2 and 3. All have one type.
    centres = unit([[1, 0, 0, 0], [0.9, 0.1, 0, 0], [0, 0, 1, 0], [0, 0, 0.9, 0.1]])
    seen = Perception(np.repeat(centres, 10, axis=0), csr_array(np.ones((40, 1), dtype=np.float32)), 1.0)
    assert first_count(40) == 4
    expected = np.repeat([0, 1, 2, 3], 10)
    assert fused_communities(seen, epsilon=0.0, rounds=10).max() + 1 <= 4
    assert fused_communities(seen, epsilon=0.1, rounds=10).tolist() == (expected // 2).tolist()
    # Groups 1 and 2 have the cosine 0: (1 + 0) / 2 is a divergence of .5, so that all are joined above it.
    assert set(fused_communities(seen, epsilon=0.6, rounds=10).tolist()) == {0}
    assert len(set(fused_communities(seen, epsilon=0.6, rounds=0).tolist())) > 1


def test_the_first_clusters_are_a_tenth_of_the_entities_within_bounds() -> None:
    assert [first_count(n) for n in (1, 29, 30, 1999, 2000, 100_000)] == [2, 2, 3, 199, 200, 200]


def test_keywords_fit_their_community_best_and_hold_the_entities_near_to_them() -> None:
    keywords = keywords_of(seen_by_hand(), LABELS, 1)
    assert keywords.entities.tolist() == [1, 2]
    assert keywords.keyword_of.tolist() == [0, 0, 1, 1]
    both = keywords_of(seen_by_hand(), LABELS, 2)
    assert both.entities.tolist() == [1, 0, 2, 3]
    assert both.keyword_of.tolist() == [1, 0, 2, 3]  # a keyword is below itself


def tree(tmp_path: Path, model: ScriptedLanguage | None = None) -> KnowledgeTree:
    index, known = stored("tiny", tmp_path / "index"), parts()
    tools = PartTools(TOOLS.embed, model, part=lambda name: read_part(index, known.named(name)))
    tools = PartTools(tools.embed, model, part=tools.part, meter=model.meter if model else Meter())
    fingerprints: dict[str, str] = {}
    for name in ("schema", "youtu_tree"):
        info = known.named(name)
        language = model if name == "youtu_tree" else None
        models = PartModels(language, dict(fingerprints))
        own = tools if language else PartTools(TOOLS.embed, part=tools.part)
        fingerprints[name] = build_part(index, info, info.config(), models, own).fingerprint
    made: KnowledgeTree = read_part(index, known.named("youtu_tree"))
    return made


def test_the_tree_holds_every_entity_once_and_names_communities_by_keywords(tmp_path: Path) -> None:
    made = tree(tmp_path)
    members = sorted(row for community in range(len(made.communities)) for row in made.communities.nodes[community])
    assert members == list(range(6))
    assert made.communities.by_rule
    for community in range(len(made.communities)):
        own = made.keywords[made.keywords_in(community)]
        assert set(own.tolist()) <= set(made.communities.nodes[community].tolist())
    assert (made.community_of[made.keywords[made.keyword_of]] == made.community_of).all()


def test_a_model_names_the_communities_and_a_useless_reply_leaves_the_keywords(tmp_path: Path) -> None:
    named = ScriptedLanguage(lambda prompt: json.dumps({"name": "Hive", "description": "Bees at home."}))
    made = tree(tmp_path / "named", named)
    assert set(made.communities.table["title"].to_pylist()) == {"Hive"}
    assert len(named.prompts) == len(made.communities)
    assert "- " in named.prompts[0]
    useless = tree(tmp_path / "useless", ScriptedLanguage(lambda prompt: "no"))
    assert useless.communities.by_rule
