"""Where evidence is lost on the small index: chunk 0 queen honey, 1 honey mite, 2 rape clover honey, 3 seed-coat."""

from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from leanrag_core.comparing.gold_passages import Gold, GoldFinder
from leanrag_core.comparing.lost_evidence import (
    BUDGET,
    CONTEXT,
    INDEX,
    RANKED,
    REACHED,
    STAGES,
    TAKEN,
    found_ids,
    held_ids,
    lane,
)
from leanrag_core.comparing.over_questions import FOUND, best_change, over_questions
from leanrag_core.comparing.remedies import Change, remedy
from leanrag_core.evaluation.gold import Evidence, GoldQuestion
from leanrag_core.messages.catalog import sentence
from leanrag_core.retrieval.base import Query, strategies, strategy
from leanrag_core.retrieval.context import passage_section
from leanrag_core.types.index import Index
from leanrag_core.types.trace import Trace
from tests.retrieval.tools import TOOLS

QUEEN = np.array([1, 0, 0, 0], dtype=np.float32)  # nearest to queen, then to honey


def run(index: Index, name: str, **options: Any) -> Trace:
    return strategy(name, options).retrieve(Query("the queen", QUEEN), index, TOOLS)


def passage(index: Index, row: int) -> Gold:
    return GoldFinder(index).chunk(row)


def test_a_passage_that_the_context_holds_passed_every_stage(index: Index) -> None:
    way = lane(run(index, "leanrag", top_n=2), index, passage(index, 0))
    assert way.is_found
    assert (way.depth, way.place, way.mark) == (6, 1, "C1")
    assert [part.code for part in way.said] == [
        "lost.entities",
        "lost.by_entity",
        "lost.ranked",
        "lost.taken",
        "lost.within",
        "lost.found",
    ]
    assert way.said[0].values["n"] == 2, "queen and honey are in chunk 0"


def test_each_stage_loses_what_does_not_pass_it(index: Index) -> None:
    # Queen alone leads to chunk 0; honey leads to chunks 1 and 2 too; nothing near leads to chunk 3.
    far = lane(run(index, "leanrag", top_n=2), index, passage(index, 3))
    assert (far.lost_at, far.place) == (REACHED, None)
    assert far.said[-1].values == {"n": 1, "retrieved": 2}
    taken = lane(run(index, "leanrag", top_n=2, top_c=1), index, passage(index, 1))
    assert taken.lost_at == TAKEN
    assert taken.said[-1].values == {"place": taken.place, "taken": 1}
    cut = lane(run(index, "leanrag", top_n=2, chunk_tokens=0), index, passage(index, 0))
    assert (cut.lost_at, cut.depth) == (BUDGET, STAGES.index(BUDGET))
    assert cut.short > 0


def test_a_system_without_entities_loses_a_passage_by_its_ranking_alone(index: Index) -> None:
    way = lane(run(index, "vector", least_cosine=1.0), index, passage(index, 0))
    assert way.lost_at == RANKED
    assert not any("entit" in sentence(each) for each in way.said)


def test_what_a_passage_lacks_is_counted_beside_what_the_section_holds(index: Index) -> None:
    whole = run(index, "leanrag", top_n=2).context.section("chunks")
    trace = run(index, "leanrag", top_n=2, chunk_tokens=3 * whole.tokens // 4)
    held = trace.context.section("chunks")
    assert held.items, "one passage is left out beside others"
    [left_out] = {each.id for each in trace.passages} - {item.ref for item in held.items}
    passage_out = next(each for each in trace.passages if each.id == left_out)
    assert passage_out.row is not None
    assert passage_out.source is not None
    way = lane(trace, index, passage(index, passage_out.row))
    assert way.lost_at == BUDGET
    assert way.short == held.tokens + passage_out.source.tokens - held.budget > 1
    ways = [lane(trace, index, passage(index, row)) for row in range(4)]
    assert found_ids(trace, ways) == tuple(item.ref for item in sorted(held.items, key=lambda item: item.ref))
    # A quote that lies in all chunks is one piece of evidence, and every chunk of the context has it.
    everywhere = replace(passage(index, 0), rows=(0, 1, 2, 3))
    assert held_ids(trace, index, [everywhere], [lane(trace, index, everywhere)]) == found_ids(trace, ways)
    assert held_ids(trace, index, [passage(index, passage_out.row)], [way]) == ()


def test_the_section_of_passages_is_known_by_their_colour_where_none_is_left(index: Index) -> None:
    whole, none = run(index, "leanrag", top_n=2), run(index, "leanrag", top_n=2, chunk_tokens=0)
    for trace in (whole, none):
        # A strategy of somebody else's may call its sections otherwise.
        sections = tuple(replace(part, name=f"own {part.name}") for part in trace.context.sections)
        section = passage_section(replace(trace, context=replace(trace.context, sections=sections)))
        assert section is not None
        assert section.name == "own chunks"
    assert not none.context.section("chunks").items


def test_a_passage_without_entities_is_lost_in_the_index_for_a_graph_and_not_for_vectors(index: Index) -> None:
    bare = replace(index, layers=(_without_seed_coat(index), *index.layers[1:]))
    assert lane(run(bare, "leanrag", top_n=2), bare, passage(bare, 3)).lost_at == INDEX
    assert lane(run(bare, "vector", top_c=1), bare, passage(bare, 3)).lost_at == TAKEN


def _without_seed_coat(index: Index) -> Any:
    base = index.layers[0]
    chunks = [*base.entities["chunks"].to_pylist()[:-1], []]
    place = base.entities.column_names.index("chunks")
    kind = base.entities.schema.field("chunks").type
    return replace(base, entities=base.entities.set_column(place, "chunks", pa.array(chunks, kind)))


def test_a_retrieved_entity_whose_passage_is_not_ranked_is_lost_in_the_ranking(index: Index) -> None:
    trace = run(index, "leanrag", top_n=2, top_c=1)
    unranked = replace(trace, ranked_chunks=trace.ranked_chunks[:1])
    second = trace.ranked_chunks[1]
    assert lane(unranked, index, passage(index, second)).lost_at == RANKED


def test_a_quote_behind_the_end_of_a_trimmed_passage_is_lost_in_the_context(index: Index) -> None:
    trace = run(index, "leanrag", top_n=2)
    section = trace.context.section("chunks")
    items = tuple(replace(item, text="The queen […]", trimmed=True) for item in section.items)
    sections = tuple(replace(part, items=items) if part.name == "chunks" else part for part in trace.context.sections)
    cut = replace(trace, context=replace(trace.context, sections=sections))
    gold = replace(passage(index, 0), quote="workers store honey")
    assert lane(cut, index, gold).lost_at == CONTEXT
    assert lane(cut, index, replace(gold, quote="The queen")).is_found


def test_an_entity_is_followed_too(index: Index) -> None:
    trace, finder = run(index, "leanrag", top_n=2), GoldFinder(index)
    assert lane(trace, index, finder.entity("QUEEN")).is_found
    assert lane(trace, index, finder.entity("clover")).lost_at == REACHED
    assert lane(trace, index, finder.entity("wasp")).lost_at == INDEX


def test_gold_is_located_by_its_quote_whatever_the_punctuation(index: Index) -> None:
    finder = GoldFinder(index)
    assert finder.passage("0.txt", "A MITE drinks, from bee").rows == (1,)
    assert finder.passage("1.txt", "A mite drinks from the bee").rows == (), "another document does not count"
    assert finder.passage("gone.txt", "x").rows == ()


@pytest.fixture
def info() -> Any:
    return strategies().named("leanrag")


def test_a_remedy_was_really_tried(index: Index, info: Any) -> None:
    tried: list[dict[str, Any]] = []
    trace = run(index, "leanrag", top_n=2, top_c=1)
    gold = passage(index, trace.ranked_chunks[1])

    def retrieve(options: Any) -> Trace:
        tried.append(dict(options))
        return run(index, "leanrag", **{"top_n": 2, "top_c": 1, **options})

    cure = remedy(trace, index, gold, lane(trace, index, gold), info, retrieve)
    assert cure is not None
    assert cure.changes == (Change("top_c", 1, 2),)
    assert cure.lane.is_found
    assert cure.tokens == retrieve({"top_c": 2}).context.tokens - trace.context.tokens > 0
    assert tried[0] == {"top_c": 2}


def test_nothing_is_promised_that_no_try_has_found(index: Index, info: Any) -> None:
    trace = run(index, "leanrag", top_n=2, top_c=1)
    gold = passage(index, trace.ranked_chunks[1])
    assert remedy(trace, index, gold, lane(trace, index, gold), info, lambda options: trace) is None


def test_more_seeds_reach_what_fewer_did_not(index: Index, info: Any) -> None:
    trace, gold = run(index, "leanrag", top_n=2), passage(index, 3)
    cure = remedy(
        trace,
        index,
        gold,
        lane(trace, index, gold),
        info,
        lambda options: run(index, "leanrag", **{"top_n": 2, **options}),
    )
    assert cure is not None
    assert [change.option for change in cure.changes] == ["top_n"]
    assert cure.lane.is_found


QUESTIONS = (
    GoldQuestion("1", "the queen", evidence=(Evidence("0.txt", "The queen lays eggs"), Evidence("1.txt", "seed coat"))),
    GoldQuestion("2", "the queen", evidence=(Evidence("0.txt", "A mite drinks"),)),
)


def test_over_a_set_the_losses_add_up_to_its_gold(index: Index) -> None:
    few = over_questions(index, QUESTIONS, lambda question: run(index, "leanrag", top_n=2, top_c=1))
    assert few.losses == {FOUND: 1, "index": 0, REACHED: 1, RANKED: 0, TAKEN: 1, BUDGET: 0, CONTEXT: 0}
    assert (few.n_gold, [question.n_found for question in few.questions]) == (3, [1, 0])
    assert few.share_found == pytest.approx(1 / 3)
    mean_of = {mean.measure: mean.value for mean in few.means}
    assert mean_of["evidence-recall"] == pytest.approx((1 / 2 + 0) / 2)
    assert mean_of["recall-per-1000"] == pytest.approx(1000 * (1 / 4) / few.mean_tokens)
    more = over_questions(index, QUESTIONS, lambda question: run(index, "leanrag", top_n=2, top_c=3))
    assert more.losses[FOUND] == 2
    best = best_change({"A": few}, {("A", "top_c", 3): more, ("A", "top_c", 1): few})
    assert best is not None
    assert (best.letter, best.option, best.value, best.gained) == ("A", "top_c", 3, 1)
    assert best_change({"A": few}, {("A", "top_c", 1): few}) is None
