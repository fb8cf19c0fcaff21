"""HyperGraphRAG on the small index (tests/small_index.py), worked out by hand, and on random facts by brute force."""

import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from leanrag_core.indexing.part_base import PartTools
from leanrag_core.indexing.parts.hyperedges import Config, Part
from leanrag_core.messages.catalog import sentence
from leanrag_core.retrieval.base import Query, strategy
from leanrag_core.retrieval.strategies.hypergraphrag import (
    chunks_of_entities,
    chunks_of_facts,
    entities_of_facts,
    facts_near,
    facts_of_entities,
)
from leanrag_core.types.index import Index
from leanrag_core.types.statements import STATEMENT_SCHEMA, Statements
from leanrag_core.types.trace import Trace
from tests.retrieval.scripted_tools import Scripted
from tests.small_index import unit

QUEEN, HONEY, MITE, RAPE, CLOVER, COAT = range(6)
TO_QUEEN, TO_MITE = unit([[1, 0, 0, 0], [0, 1, 0, 0]])
NAMED = json.dumps({"named": [], "generic": ["mite"]})
QUESTION = "What harms the queen?"


def statements(
    rows: Sequence[tuple[str, list[int], list[int]]], vectors: np.ndarray, size: tuple[int, int]
) -> Statements:
    columns = {name: [row[place] for row in rows] for place, name in enumerate(STATEMENT_SCHEMA.names)}
    return Statements(pa.table(columns, schema=STATEMENT_SCHEMA), vectors, size)


def facts() -> Statements:
    """Return statements in which the entities have these degrees: queen 1, honey 3, mite 2, rape 1, clover 1, seed coat
    1."""
    rows = [
        ("Queens eat honey.", [0], [QUEEN, HONEY]),
        ("Honey has mites.", [1], [HONEY, MITE]),
        ("Rape and clover give honey.", [2], [HONEY, RAPE, CLOVER]),
        ("Mites avoid the seed coat.", [1, 3], [MITE, COAT]),
    ]
    return statements(rows, np.eye(4, dtype=np.float32), (6, 4))


def retrieve(index: Index, reply: str = NAMED, question: str = QUESTION, **options: str | int | float) -> Trace:
    scripted = Scripted({"mite": TO_MITE}, [reply], {"hyperedges": facts()})
    return strategy("hypergraphrag", options).retrieve(Query(question, TO_QUEEN), index, scripted.tools)


def names(trace: Trace, section: str) -> list[str]:
    """Return what is in that section, in its order."""
    name_of = {item.id: item.name for item in trace.items}
    return [name_of[item.ref] for item in trace.context.section(section).items]


# The bipartite graph


def test_a_hub_comes_first_and_a_fact_of_more_entities_before_others() -> None:
    # Degree of the entity and of the fact: 3 + 2, 3 + 2 (the mite has 2 alone), 3 + 3, 2 + 2.
    assert facts_of_entities(facts(), [HONEY, MITE]).tolist() == [2, 0, 1, 3]


def test_of_equal_degrees_the_fact_that_more_chunks_state_comes_first() -> None:
    assert facts_of_entities(facts(), [MITE]).tolist() == [3, 1]
    near = facts_near(facts(), unit([[0, 1, 0, 1]])[0], 2, at_least=0.2, tools=Scripted().tools)
    assert near.rows.tolist() == [3, 1]


def test_facts_below_the_least_cosine_are_not_near() -> None:
    near = facts_near(facts(), unit([[0.8, 0.6, 0, 0]])[0], 4, at_least=0.7, tools=Scripted().tools)
    assert near.rows.tolist() == [0]


def test_each_entity_and_each_chunk_is_there_once_in_the_order_of_the_facts() -> None:
    assert entities_of_facts(facts(), [3, 1]) == [MITE, COAT, HONEY]
    assert chunks_of_facts(facts(), [3, 1, 0]) == [1, 3, 0]


def test_chunks_come_by_the_first_entity_then_by_the_facts_that_they_state(index: Index) -> None:
    # All of honey's; chunk 1 states a fact of honey and the mite, once for each, and one of the mite.
    assert chunks_of_entities(index, facts(), [HONEY, MITE]) == [1, 0, 2]
    assert chunks_of_entities(index, facts(), [QUEEN, HONEY]) == [0, 1, 2]


def test_nothing_leads_to_nothing(index: Index) -> None:
    none = statements([], np.zeros((0, 4), dtype=np.float32), (6, 4))
    assert len(facts_of_entities(none, [HONEY])) == len(facts_of_entities(facts(), [])) == 0
    assert len(facts_near(none, TO_QUEEN, 5, at_least=-1, tools=Scripted().tools).rows) == 0
    assert entities_of_facts(facts(), []) == chunks_of_facts(facts(), []) == []
    assert chunks_of_entities(index, facts(), []) == []
    assert chunks_of_entities(index, none, [HONEY]) == [0, 1, 2]


@pytest.mark.parametrize("seed", range(5))
def test_the_order_is_that_of_a_plain_loop(seed: int) -> None:
    random = np.random.default_rng(seed)
    held = [sorted(random.choice(30, random.integers(2, 6), replace=False).tolist()) for _ in range(60)]
    stated = [sorted(random.choice(8, random.integers(1, 4), replace=False).tolist()) for _ in range(60)]
    rows = [(f"Fact {row}.", chunks, entities) for row, (chunks, entities) in enumerate(zip(stated, held, strict=True))]
    many = statements(rows, np.zeros((60, 4), dtype=np.float32), (30, 8))
    entities = random.choice(30, 7, replace=False).tolist()
    degree = {entity: sum(entity in tied for tied in held) for entity in entities}
    expected = sorted(
        (row for row in range(60) if set(held[row]) & set(entities)),
        key=lambda row: (
            -max(degree[entity] for entity in held[row] if entity in degree) - len(held[row]),
            -len(stated[row]),
            row,
        ),
    )
    assert facts_of_entities(many, entities).tolist() == expected


# The strategy


def test_entities_lead_to_facts_and_facts_to_entities(index: Index) -> None:
    trace = retrieve(index)
    # The mite and honey (.6) are near to "mite"; the queen's fact alone is near to the question, and ties her.
    assert names(trace, "entities") == ["queen", "honey", "mite"]
    assert names(trace, "facts") == ["queen, honey", "honey, rape, clover", "honey, mite", "mite, seed coat"]
    score = {item.name: item.score for item in trace.items if item.kind in ("entity", "fact")}
    assert score["queen"] is None
    assert (score["mite"], score["honey"]) == pytest.approx((1.0, 0.6))
    assert (score["queen, honey"], score["mite, seed coat"]) == (1.0, None)
    assert trace.usage.calls == 1
    [line] = [item.text for item in trace.context.section("facts").items if "clover" in item.text]
    assert line == "honey, rape, clover: Rape and clover give honey."


def test_a_fact_is_drawn_with_all_of_its_entities_in_the_context(index: Index) -> None:
    trace = retrieve(index)
    name_of = {item.id: item.name for item in trace.items}
    ties = {(name_of[each.target], name_of[each.source]) for each in trace.relations if each.role == "ties"}
    assert ties == {
        ("queen, honey", "queen"),
        ("queen, honey", "honey"),
        ("honey, rape, clover", "honey"),
        ("honey, mite", "honey"),
        ("honey, mite", "mite"),
        ("mite, seed coat", "mite"),
    }


def test_chunks_are_the_nearest_or_those_of_facts_and_entities_or_none(index: Index) -> None:
    assert list(retrieve(index).ranked_chunks) == [0]  # .71; the others have a cosine of 0
    assert list(retrieve(index, least_cosine=0.0).ranked_chunks) == [0, 1, 2, 3]
    assert list(retrieve(index, chunk_source="stating").ranked_chunks) == [0, 1, 2]
    without = retrieve(index, chunk_source="none")
    assert (without.passages, without.context.section("chunks").text) == ((), "")


def test_either_direction_can_be_left_out(index: Index) -> None:
    by_facts = retrieve(index, mode="facts")
    assert names(by_facts, "entities") == ["queen", "honey"]
    assert names(by_facts, "facts") == ["queen, honey"]
    assert (by_facts.usage.calls, by_facts.notes) == (0, ())
    by_entities = retrieve(index, mode="entities")
    assert names(by_entities, "entities") == ["mite", "honey"]
    assert names(by_entities, "facts") == ["honey, rape, clover", "queen, honey", "honey, mite", "mite, seed coat"]


def test_half_of_the_budget_is_kept_for_the_facts_of_the_entities(index: Index) -> None:
    trace = retrieve(index, least_cosine=0.0, fact_tokens=6)  # every fact is near, of four tokens or more
    told = next(sentence(step.caption) for step in trace.steps if step.name == "expansion")
    assert told.startswith("With what they lead to on the other side: 2 facts, ")  # the nearest one, and the hub's


def test_a_question_without_entities_is_compared_itself(index: Index) -> None:
    trace = retrieve(index, json.dumps({"named": [], "generic": []}), least_cosine=0.7)
    assert names(trace, "entities") == ["queen", "honey"]  # 1 and .8
    assert not [item for item in trace.items if item.kind == "keyword"]


def test_without_a_model_the_names_and_phrases_of_the_question_are_its_entities(index: Index) -> None:
    scripted = Scripted({"Mite, harms": TO_MITE}, None, {"hyperedges": facts()})
    query = Query("What harms the Mite?", TO_QUEEN)
    trace = strategy("hypergraphrag", {}).retrieve(query, index, scripted.tools)
    assert names(trace, "entities") == ["queen", "honey", "mite"]
    assert [note.code for note in trace.notes] == ["strategy.note.built_in"]


# The part


def test_the_part_holds_sentences_that_name_two_entities_or_more(index: Index, tmp_path: Path) -> None:
    def embed(texts: Sequence[str]) -> np.ndarray:
        return np.array([unit([[1.0, len(text), 0, 0]])[0] for text in texts], dtype=np.float32)

    Part().build(index, tmp_path, Config(), PartTools(embed))
    read = Part().read(tmp_path, index)
    held = [(read.chunks[row].tolist(), read.entities[row].tolist()) for row in range(len(read))]
    assert held == [([1], [HONEY, MITE]), ([2], [HONEY, RAPE, CLOVER])]
    assert np.array_equal(read.vectors, embed(read.table["text"].to_pylist()))
