"""Why something is not in the context of the small index: scores to QUEEN are queen 1, honey .8, all others 0."""

from typing import Any

import numpy as np
import pytest

from leanrag_core.comparing.gold_passages import GoldFinder
from leanrag_core.comparing.remedies import Change, offers
from leanrag_core.comparing.why_not import (
    CHUNK,
    CONTEXT,
    DOCUMENTS,
    EXTRACTED,
    LOST,
    OPEN,
    PASSED,
    PATH,
    REACHED,
    SEED,
    TAKEN,
    WhyNot,
    why_not,
)
from leanrag_core.retrieval.base import strategies
from leanrag_core.types.index import Index
from leanrag_core.types.trace import Trace
from tests.comparing.test_lost_evidence import QUEEN, run


def explained(index: Index, what: str, name: str = "leanrag", **options: Any) -> WhyNot:
    finder = GoldFinder(index)
    wanted = finder.named(what)
    documents = len(finder.documents_with(what))
    return why_not(run(index, name, **options), index, wanted, QUEEN, n_documents=documents)


def states(why: WhyNot) -> dict[str, str]:
    return {check.stage: check.state for check in why.checks}


def values_of_check(why: WhyNot, stage: str) -> dict[str, Any]:
    [check] = [check for check in why.checks if check.stage == stage]
    return dict(check.said.values)


def test_an_entity_that_is_no_seed_is_told_its_rank_and_how_far_it_missed(index: Index) -> None:
    why = explained(index, "Clover", top_n=2)
    # Mite, rape, clover and seed coat all score 0: clover is third of them, after queen and honey.
    assert values_of_check(why, SEED) == {"rank": 5, "of": 6, "score": 0.0, "last": pytest.approx(0.8)}
    assert why.distance is not None
    assert why.distance.values == {"n": 3}
    # Both seeds are under bees, so that fields is on no path; honey brings chunk 2, which has clover.
    assert states(why) == {
        DOCUMENTS: PASSED,
        CHUNK: PASSED,
        EXTRACTED: PASSED,
        SEED: LOST,
        PATH: LOST,
        TAKEN: PASSED,
        CONTEXT: OPEN,
    }
    assert why.loss is not None
    assert why.loss.stage == SEED
    assert why.enough_seeds == 5
    assert [note.code for note in why.notes] == ["why.text_is_there"]


def test_an_entity_of_the_context_has_no_loss(index: Index) -> None:
    why = explained(index, "honey", top_n=2)
    assert why.loss is None
    assert why.distance is None
    assert set(states(why).values()) == {PASSED}
    assert values_of_check(why, SEED)["rank"] == 2


def test_a_passage_that_no_seed_leads_to_names_its_best_entity(index: Index) -> None:
    why = explained(index, "keeps beetles away", top_n=2)
    assert why.loss is not None
    assert (why.loss.stage, values_of_check(why, SEED)["name"], values_of_check(why, SEED)["rank"]) == (
        SEED,
        "seed coat",
        6,
    )
    assert states(why)[TAKEN] == OPEN, "what was not reached is ranked by nothing"


def test_a_passage_beyond_top_c_is_lost_by_its_places(index: Index) -> None:
    trace = run(index, "leanrag", top_n=2, top_c=1)
    last = trace.ranked_chunks[2]
    why = why_not(trace, index, GoldFinder(index).chunk(last), QUEEN)
    assert why.loss is not None
    assert (why.loss.stage, values_of_check(why, TAKEN)) == (TAKEN, {"place": 3, "n": 3, "taken": 1})
    assert why.distance is not None
    assert why.distance.values == {"n": 2}


def test_a_passage_that_the_budget_cut_lacks_tokens(index: Index) -> None:
    why = explained(index, "The queen lays eggs", top_n=2, chunk_tokens=0)
    assert why.loss is not None
    assert (why.loss.stage, why.distance and why.distance.code) == (CONTEXT, "why.by_tokens")


def test_words_of_no_document_and_words_across_two_chunks_are_told_apart(index: Index) -> None:
    nowhere = explained(index, "the wasp")
    assert nowhere.loss is not None
    assert nowhere.loss.stage == DOCUMENTS
    across = explained(index, "store honey. A mite")
    assert across.loss is not None
    assert across.loss.stage == CHUNK, "chunk 0 ends between the two sentences"


def test_a_strategy_without_entities_is_followed_by_the_chunks_that_mention_it(index: Index) -> None:
    why = explained(index, "mite", "vector", top_c=1)
    assert [note.code for note in why.notes] == ["why.by_chunks"]
    assert list(states(why)) == [DOCUMENTS, CHUNK, TAKEN, CONTEXT]
    assert why.gold.rows == (1,)
    assert why.loss is not None
    assert (why.loss.stage, values_of_check(why, TAKEN)["place"]) == (TAKEN, 2)


def test_seeds_of_aggregated_layers_alone_make_no_base_entity_a_seed(index: Index) -> None:
    why = explained(index, "clover", top_n=1, seed_layers="aggregated")
    assert why.rank is None
    assert why.loss is not None
    assert (why.loss.stage, why.loss.said.code) == (SEED, "why.no_base_seeds")
    assert REACHED not in states(why)


def offered(index: Index, what: str, **options: Any) -> tuple[list[tuple[Change, ...]], list[dict[str, Any]]]:
    """Return the changes that are offered, and the options of every run."""
    runs: list[dict[str, Any]] = []
    trace = run(index, "leanrag", **options)
    why = why_not(trace, index, GoldFinder(index).named(what), QUEEN)

    def retrieve(changed: Any) -> Trace:
        runs.append(dict(changed))
        return run(index, "leanrag", **{**options, **changed})

    info = strategies().named("leanrag")
    made = offers(trace, index, why.gold, why.lane, info, retrieve, top_n=why.enough_seeds)
    for each in made:
        again = run(index, "leanrag", **{**options, **each.options})
        assert why_not(again, index, why.gold, QUEEN).loss is None
        assert each.tokens == again.context.tokens - trace.context.tokens
    return [each.changes for each in made], runs


def test_what_is_offered_was_run_and_finds_it_with_just_enough_seeds(index: Index) -> None:
    changes, runs = offered(index, "clover", top_n=2)
    assert changes[0] == (Change("top_n", 2, 5),)
    assert runs[0] == {"top_n": 5}


def test_a_passage_that_needs_seeds_and_places_is_offered_both(index: Index) -> None:
    changes, _ = offered(index, "keeps beetles away", top_n=2, top_c=1)
    assert changes[0] == (Change("top_n", 2, 6), Change("top_c", 1, 4))


def test_an_entity_that_its_budget_cut_is_offered_a_larger_one(index: Index) -> None:
    changes, _ = offered(index, "honey", top_n=2, entity_tokens=20)
    assert [change.option for change in changes[0]] == ["entity_tokens", "max_tokens"]


def test_nothing_is_run_for_what_the_context_holds(index: Index) -> None:
    assert offered(index, "honey", top_n=2) == ([], [])


def test_marks_of_links_name_entities_chunks_and_words(index: Index) -> None:
    finder = GoldFinder(index)
    assert finder.marked("entity:Honey") == finder.entity("honey")
    assert finder.marked("text:clover") == finder.entity("clover")
    assert finder.chunk_mark(1) == "chunk:46:0.txt"
    marked = finder.marked(finder.chunk_mark(1))
    assert marked is not None
    assert marked.rows == (1,)
    assert finder.marked("text:GIVE honey").rows == (2,)
    assert [finder.marked(mark) for mark in ("", "text: ", "chunk:x:0.txt", "other:1")] == [None] * 4


def test_the_question_is_compared_with_every_seed_candidate(index: Index) -> None:
    why = explained(index, "clover", top_n=2, seed_layers="all")
    # bees scores .71 and farm .5, so that clover comes after two more; nine entities in all.
    assert values_of_check(why, SEED)["rank"] == 7
    assert values_of_check(why, SEED)["of"] == 9
    assert np.isclose(values_of_check(why, SEED)["last"], 0.8)
