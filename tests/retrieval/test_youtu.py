"""Youtu-GraphRAG on the small index (tests/small_index.py), worked out by hand, with a scripted model."""

import json
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from leanrag_core.answering.written import answer_messages
from leanrag_core.clustering.leiden import CommunityTree
from leanrag_core.indexing.communities.making import community_table
from leanrag_core.indexing.communities.reports import Report
from leanrag_core.retrieval.base import PromptingStrategy, Query, parts_needed, strategies, strategy
from leanrag_core.retrieval.youtu_routes import Routed, SubQuery, merged
from leanrag_core.types.communities import CLAIM_SCHEMA, Communities
from leanrag_core.types.index import Index
from leanrag_core.types.trace import Trace
from leanrag_core.types.youtu import ATTRIBUTE_SCHEMA, PROPOSAL_SCHEMA, TYPE_SCHEMA, KnowledgeTree, Schema
from leanrag_core.workbench.questions import _answer_task
from tests.retrieval.hand_communities import index_with_chunks_of_relations
from tests.retrieval.scripted_tools import Scripted
from tests.small_index import unit

QUEEN, MITES = unit([[1, 0, 0, 0], [0, 1, 0, 0]])
# Relations: queen - honey, honey - mite, honey - rape, rape - clover, mite - seed coat.
RELATION_VECTORS = unit([[1, 0, 0, 0], [0, 1, 1, 0], [0, 0, 1, 0], [0, 0, 0, 1], [0, 1, 0, 0]])
QUESTION = "What harms the queen?"
TYPES = (
    ("entity", "insect"),
    ("entity", "substance"),
    ("entity", "plant"),
    ("relation", "related to"),
    ("relation", "has attribute"),
    ("relation", "harms"),
    ("attribute", "kind"),
)
FIELDS = ("entity_types", "relation_types", "attribute_types")


def schema() -> Schema:
    """Return a schema in which the mite is a parasite: the only attribute, and triple 5."""
    rows = [(kind, name, 1) for kind, name in TYPES]
    attribute = {"entity": 2, "type": 0, "value": "parasite", "chunk": 1}
    return Schema(
        types=pa.table(dict(zip(TYPE_SCHEMA.names, zip(*rows, strict=True), strict=True)), schema=TYPE_SCHEMA),
        type_vectors=unit([[1, 0, 0, 0], [0, 0, 0, 1], [0, 0, 1, 0], *[[0, 0, 0, -1]] * 4]),
        entity_type=np.array([0, 1, 0, 2, 2, 2], dtype=np.int32),
        relation_type=np.array([0, 2, 0, 0, 2], dtype=np.int32),
        attributes=pa.Table.from_pylist([attribute], schema=ATTRIBUTE_SCHEMA),
        attribute_vectors=MITES[None],
        proposals=PROPOSAL_SCHEMA.empty_table(),
        by_model=True,
    )


def tree() -> KnowledgeTree:
    """Return a tree of Hive: queen, honey, mite below the keyword honey; and Fields: rape, clover, seed coat below
    clover."""
    halves = np.array([0, 0, 0, 1, 1, 1], dtype=np.int32)
    flat = CommunityTree(
        np.zeros(2, dtype=np.int32),
        np.full(2, -1, dtype=np.int32),
        np.array([0, 3, 6], dtype=np.int32),
        np.arange(6, dtype=np.int32),
    )
    reports = [Report(name, f"About the {name}.", 5.0, "", (), by_model=True) for name in ("hive", "fields")]
    vectors = unit([[1, 1, 0, 0], [0, 0, 1, 1]])
    communities = Communities(community_table(flat, reports), vectors, CLAIM_SCHEMA.empty_table(), 6)
    return KnowledgeTree(communities, halves, np.array([1, 4], dtype=np.int32), halves)


def planned(*questions: str, **types: list[str]) -> str:
    listed = [{"question": text, **{field: [] for field in FIELDS}, **types} for text in questions]
    return json.dumps({"questions": listed})


def reflection(enough: bool, question: str = "") -> str:
    return json.dumps({"enough": enough, "missing": "who it is" if question else "", "question": question})


def scripted(*replies: str, calls: int = 0) -> Scripted:
    parts = {"relation_vectors": RELATION_VECTORS, "schema": schema(), "youtu_tree": tree()}
    vectors = {"Who lays eggs?": QUEEN, "Who drinks?": MITES, "harms": MITES, "queen": QUEEN}
    return Scripted(vectors, replies or None, parts, calls=calls)


@pytest.fixture(scope="module")
def stated() -> Index:
    """Return the small index, its relations stated in chunks 0, 1, 1, 2 and 1."""
    return index_with_chunks_of_relations()


def trace_of(index: Index, tools: Scripted, **options: Any) -> Trace:
    return strategy("youtu", options).retrieve(Query(QUESTION, MITES), index, tools.tools)


def context_refs(trace: Trace, name: str) -> list[str]:
    return [item.ref for item in trace.context.section(name).items]


def test_four_routes_are_merged_and_bring_triples_and_chunks(stated: Index) -> None:
    trace = trace_of(stated, scripted(planned(QUESTION)), top_k=2, top_c=4)
    # Cosines of the triples: 0, .707, 0, 0, 1, and 1 of the attribute. Entities, triples and communities give 4 and 5.
    # The walk from the mite gives 4, then 1 (to honey).
    assert context_refs(trace, "relations") == ["rel-2-5-verb", "has-attribute-0"]
    # Both triples are stated in chunk 1. By vector: 1, 0, 2, 3.
    assert list(trace.ranked_chunks) == [1, 0, 2, 3]
    assert [item.name for item in trace.items if item.kind == "attribute"] == ["parasite"]
    assert {link.target for link in trace.relations if link.role == "has-attribute"} == {"attribute-0"}
    assert context_refs(trace, "communities") == ["community-0-0"]
    assert "mite (kind): parasite" in trace.context.text
    assert [step.name for step in trace.steps] == ["plan", "round-1", "chunks", "context"]
    assert trace.usage.calls == 1


def test_triples_are_merged_by_cosine_whatever_the_number_of_routes() -> None:
    parts = [
        Routed(SubQuery("one"), QUEEN, (), (), {1: 0.5, 2: 0.9, 4: 0.2}),
        Routed(SubQuery("two"), MITES, (), (), {1: 0.6, 3: 0.6, 4: 0.4}),
    ]
    assert merged(parts).tolist() == [2, 1, 3, 4]


def test_a_walk_goes_on_along_the_nearest_relations_up_to_its_depth(stated: Index) -> None:
    def walked(depth: int) -> list[str]:
        # Without attributes and with a triple for each route, only walks lead beyond the nearest triple.
        trace = trace_of(stated, scripted(planned(QUESTION)), top_k=10, depth=depth)
        return context_refs(trace, "relations")

    assert walked(1)[:3] == ["rel-2-5-verb", "has-attribute-0", "rel-1-2-verb"]
    # Walks from mite: 4 (mean 1), 1 (.707), 1-0 and 1-2 (.354), 1-2-3 (.236).
    assert walked(3)[0] == "rel-2-5-verb"
    assert set(walked(3)) >= {"rel-0-1-verb", "rel-1-3-verb", "rel-3-4-verb"}


def test_types_of_the_schema_restrict_the_entities_of_a_sub_question(stated: Index) -> None:
    asked = planned("Who lays eggs?", entity_types=["Plant", "stone"])
    trace = trace_of(stated, scripted(asked), top_k=3)
    matched = {link.target for link in trace.relations if link.role == "searched"}
    assert matched == {"id-rape", "id-clover", "id-seed coat"}
    assert "entity types: insect, substance, plant" in scripted_prompt(stated, asked)


def scripted_prompt(index: Index, reply: str) -> str:
    tools = scripted(reply)
    trace_of(index, tools)
    return tools.asked[0]


def test_at_most_so_many_sub_questions_are_asked(stated: Index) -> None:
    trace = trace_of(stated, scripted(planned("Who lays eggs?", "Who drinks?", QUESTION)), sub_questions=2)
    assert [item.name for item in trace.items if item.kind == "sub-question"] == ["Who lays eggs?", "Who drinks?"]


def test_without_a_model_the_question_and_its_phrases_are_asked_with_the_types_near_to_them(stated: Index) -> None:
    tools = scripted()
    trace = trace_of(stated, tools, agent=True)
    assert [item.name for item in trace.items if item.kind == "sub-question"] == [QUESTION, "harms", "queen"]
    assert [note.code for note in trace.notes] == ["strategy.note.built_in"] * 2  # neither split nor judged
    linked = {link.target for link in trace.relations if link.role == "searched" and link.source == "question-3"}
    assert linked == {"id-queen", "id-mite"}  # "queen" is near to the type insect, so that these two alone match
    assert [step.name for step in trace.steps] == ["plan", "round-1", "chunks", "context"]


def test_the_agent_asks_for_what_is_missing_until_it_is_enough(stated: Index) -> None:
    tools = scripted(planned(QUESTION), reflection(False, "Who lays eggs?"), reflection(True))
    trace = trace_of(stated, tools, agent=True)
    assert [item.name for item in trace.items if item.kind == "sub-question"] == [QUESTION, "Who lays eggs?"]
    assert [step.name for step in tools.steps] == ["plan", "round-1", "round-2"]
    assert trace.usage.calls == 3
    assert "mite (kind): parasite" in tools.asked[1]
    assert f"1. asked: {QUESTION}\n1. missing: who it is\n2. asked: Who lays eggs?" in tools.asked[2]


def test_the_agent_ends_after_its_rounds_and_at_a_question_that_was_asked(stated: Index) -> None:
    tools = scripted(planned(QUESTION), reflection(False, "Who lays eggs?"))
    assert trace_of(stated, tools, agent=True, rounds=2).usage.calls == 2
    again = scripted(planned(QUESTION), reflection(False, QUESTION.upper()))
    assert trace_of(stated, again, agent=True).usage.calls == 2


def test_a_spent_budget_ends_the_rounds_with_what_there_is(stated: Index) -> None:
    tools = scripted(planned(QUESTION), calls=1)
    trace = trace_of(stated, tools, agent=True)
    assert [note.code for note in trace.notes] == ["strategy.note.budget_spent"]
    assert trace.context.tokens > 0


def test_a_reply_that_cannot_be_used_twice_is_replaced_and_said(stated: Index) -> None:
    trace = trace_of(stated, scripted("no", "no"))
    assert [note.code for note in trace.notes] == ["strategy.note.reply_unusable"]
    assert len([item for item in trace.items if item.kind == "sub-question"]) == 3


def test_the_open_mode_has_a_prompt_of_its_own_and_reject_that_of_all_systems(stated: Index) -> None:
    trace = trace_of(stated, scripted(planned(QUESTION)))
    assert _answer_task(trace) == "answer"
    opened = trace_of(stated, scripted(planned(QUESTION)), mode="open")
    assert _answer_task(opened) == "answer_open"
    [asked], fingerprint = answer_messages(opened, None, _answer_task(opened))
    assert "what you know yourself" in asked["content"]
    assert fingerprint.startswith("answer_open.v1")
    assert not isinstance(strategy("leanrag", {}), PromptingStrategy)
    assert _answer_task(replace(trace, strategy="vector", parameters={})) == "answer"


def test_without_communities_the_route_from_them_is_left_out_and_the_tree_is_not_read(stated: Index) -> None:
    tools = scripted(planned(QUESTION))
    parts = {"relation_vectors": RELATION_VECTORS, "schema": schema()}
    tools.tools = replace(tools.tools, part=parts.__getitem__)
    trace = trace_of(stated, tools, communities=False, top_k=2, top_c=4)
    # The other three routes give the mite's triples too; no community is in the context or in the picture.
    assert context_refs(trace, "relations") == ["rel-2-5-verb", "has-attribute-0"]
    assert context_refs(trace, "communities") == []
    assert {item.kind for item in trace.items} == {"entity", "sub-question", "passage", "attribute"}


def test_without_a_schema_no_type_restricts_and_no_attribute_is_known(stated: Index) -> None:
    asked = planned("Who lays eggs?", entity_types=["plant"])
    tools = scripted(asked)
    parts = {"relation_vectors": RELATION_VECTORS, "youtu_plain_tree": tree()}
    tools.tools = replace(tools.tools, part=parts.__getitem__)
    trace = trace_of(stated, tools, schema=False, top_k=3)
    matched = {link.target for link in trace.relations if link.role == "searched"}
    assert "id-queen" in matched  # with the schema plants alone are matched
    assert [item for item in trace.items if item.kind == "attribute"] == []
    assert "entity types: (none)" in tools.asked[0]


def test_the_ablations_of_the_paper_need_the_parts_that_they_use() -> None:
    info = strategies().named("youtu")
    needed = {
        name: parts_needed("youtu", info.preset(name).options)
        for name in ("without-agent", "without-communities", "without-schema")
    }
    assert needed == {
        "without-agent": ("relation_vectors", "schema", "youtu_tree"),
        "without-communities": ("relation_vectors", "schema"),
        "without-schema": ("relation_vectors", "youtu_plain_tree"),
    }
