"""Taking things out on the small index: scores to QUEEN are queen 1, honey .8, all others 0."""

from dataclasses import replace
from typing import Any

import pytest

from leanrag_core.comparing.without import (
    CHUNK,
    RELATION,
    SEED,
    Moved,
    answer_changes,
    ids_of,
    removables,
    sent_without,
)
from leanrag_core.errors import InvalidConfig
from leanrag_core.retrieval.base import Query, strategies, strategy
from leanrag_core.text.tokens import count_tokens
from leanrag_core.types.index import Index
from leanrag_core.types.trace import Answer, AnswerPart, Trace
from tests.comparing.test_lost_evidence import QUEEN, run
from tests.retrieval.tools import TOOLS


def run_without(index: Index, name: str, *ids: str, **options: Any) -> Trace:
    tools = replace(TOOLS, without=frozenset(ids))
    return strategy(name, options).retrieve(Query("the queen", QUEEN), index, tools)


def seeds(trace: Trace) -> list[tuple[str, int | None]]:
    return [(seed.name, seed.rank) for seed in trace.with_role("seed")]


def test_the_next_best_entity_takes_the_place_of_a_seed(index: Index) -> None:
    assert seeds(run(index, "leanrag", top_n=2)) == [("queen", 1), ("honey", 2)]
    # Mite, rape, clover and seed coat all score 0; mite has the lowest row.
    assert seeds(run_without(index, "leanrag", "id-queen", top_n=2)) == [("honey", 1), ("mite", 2)]


def test_the_next_chunk_takes_the_place_of_one(index: Index) -> None:
    first, second = run(index, "leanrag", top_n=2, top_c=2).passages
    without = run_without(index, "leanrag", first.id, top_n=2, top_c=2)
    assert first.id not in {passage.id for passage in without.passages}
    assert (without.passages[0].id, len(without.passages)) == (second.id, 2)
    assert without.passages[0].rank == 1
    nearest = run_without(index, "vector", "chunk-0", top_c=1, least_cosine=0.0)
    assert [passage.row for passage in nearest.passages] == [1]


def test_a_relation_that_is_taken_out_is_in_no_section(index: Index) -> None:
    whole = run(index, "leanrag", top_n=2)
    assert any(relation.id == "rel-0-1-verb" for relation in whole.relations)
    without = run_without(index, "leanrag", "rel-0-1-verb", top_n=2)
    assert all(relation.id != "rel-0-1-verb" for relation in without.relations)
    assert seeds(without) == seeds(whole)
    assert without.context.tokens < whole.context.tokens


def test_no_retrieval_is_left_without_any_seed(index: Index) -> None:
    everything = [f"id-{name}" for name in ("queen", "honey", "mite", "rape", "clover", "seed coat")]
    with pytest.raises(InvalidConfig, match="nothing is left that could be a seed"):
        run_without(index, "leanrag", *everything, top_n=2)


def test_what_can_be_taken_out_are_seeds_relations_and_chunks(index: Index) -> None:
    trace, info = run(index, "leanrag", top_n=2, top_c=1), strategies().named("leanrag")
    listed = {each.id: (each.kind, each.mark) for each in removables(trace, info)}
    assert listed["id-queen"] == (SEED, "E1")
    assert listed["rel-0-1-verb"] == (RELATION, "R1")
    assert listed[trace.passages[0].id] == (CHUNK, "C1")
    assert "id-bees" not in listed, "the tree above the seeds cannot lack a node"
    assert ids_of(trace, ["C1", "id-queen", "E1"]) == (trace.passages[0].id, "id-queen")
    with pytest.raises(InvalidConfig, match="C9"):
        ids_of(trace, ["C9"])


def test_a_context_is_sent_without_a_line_and_its_other_marks_stay(index: Index) -> None:
    trace = run(index, "leanrag", top_n=2)
    first, *rest = trace.context.section("chunks").items
    cut = sent_without(trace, frozenset({first.ref}))
    assert [item.mark for item in cut.context.section("chunks").items] == [item.mark for item in rest]
    assert first.text not in cut.context.text
    assert rest[0].text in cut.context.text
    assert cut.context.tokens == count_tokens(cut.context.text) < trace.context.tokens
    assert [section.text for section in cut.context.sections[:3]] == [
        section.text for section in trace.context.sections[:3]
    ]
    with pytest.raises(InvalidConfig, match="holds nothing"):
        sent_without(trace, frozenset({"id-clover"}))


def answer(trace: Trace, *parts: tuple[str, tuple[str, ...]]) -> Answer:
    made = tuple(AnswerPart(text, marks) for text, marks in parts)
    return Answer("", made, (), True, extractive=False, model="m", trace=trace)


def test_sentences_that_are_gone_new_and_moved_are_told_apart(index: Index) -> None:
    whole = run(index, "leanrag", top_n=2, top_c=2)
    without = run_without(index, "leanrag", whole.passages[0].id, top_n=2, top_c=2)
    gone_name, kept = whole.passages[0], whole.passages[1]
    before = answer(
        whole, ("The queen lays eggs.", ("C1",)), ("Mites drink from bees.", ("C2",)), ("Honey is sweet.", ("E2",))
    )
    after = answer(
        without, ("Mites drink from the bees.", ("C1",)), ("Clover gives honey.", ("C2",)), ("Honey is sweet.", ("C1",))
    )
    changed = answer_changes(before, after)
    assert changed.gone == ("The queen lays eggs.",)
    assert changed.new == ("Clover gives honey.",)
    # C1 of the second context is C2 of the first: the same chunk, so that nothing has moved there.
    assert changed.n_same == 1
    [moved] = changed.moved
    assert isinstance(moved, Moved)
    assert (moved.text, moved.before) == ("Honey is sweet.", ("honey",))
    assert kept.name in moved.after[0]
    assert gone_name.id != kept.id


def test_the_same_answer_has_no_changes(index: Index) -> None:
    made = answer(run(index, "leanrag", top_n=2), ("The queen lays eggs.", ("C1",)))
    assert not answer_changes(made, made).any
