"""The measures of the program give what the program behind docs/comparison.md computes by itself."""

import random
import statistics

import pytest

from benchmarks.system_table import Asked, answer_shown, context_recall, ranking_places
from leanrag_core.evaluation.base import Outcome
from leanrag_core.evaluation.gold import ChunkTexts, Evidence, GoldQuestion, normalised
from leanrag_core.evaluation.measuring import scores
from leanrag_core.messages.message import message
from leanrag_core.retrieval.base import trace_index
from leanrag_core.retrieval.budgets import section
from leanrag_core.retrieval.context import CHUNKS, joined_sections, passage_line
from leanrag_core.retrieval.passages import PASSAGE, passage_items
from leanrag_core.types.index import Index
from leanrag_core.types.trace import Trace
from tests.small_index import small_index

QUOTES = (
    Evidence("0.txt", "The queen lays eggs."),
    Evidence("0.txt", "A mite drinks from the bee"),  # in the second chunk
    Evidence("0.txt", "workers store honey. A mite"),  # across the border of two chunks: held by none
    Evidence("1.txt", "clover give honey"),
    Evidence("1.txt", "The seed coat keeps beetles away."),
    Evidence("0.txt", "clover give honey"),  # of the other document
)


def retrieved(index: Index, ranking: list[int], n_taken: int, budget: int) -> Trace:
    passages = passage_items(index, ranking[:n_taken])
    context = joined_sections(section(CHUNKS, [passage_line(index, passage) for passage in passages], budget))
    title = message("plain", text="S")
    return Trace(
        "?", "s", title, {}, passages, (), context, (), (PASSAGE,), trace_index(index), ranked_chunks=tuple(ranking)
    )


@pytest.mark.parametrize("seed", range(30))
def test_a_retrieval_is_scored_alike(seed: int) -> None:
    chance, index = random.Random(seed), small_index()
    ranking = chance.sample(range(4), chance.randint(0, 4))
    trace = retrieved(index, ranking, chance.randint(0, 4), chance.choice((0, 40, 60, 1_000)))
    gold = tuple(chance.sample(QUOTES, chance.randint(1, 4)))
    asked = Asked("?", ("honey",), frozenset(), tuple((each.document, normalised(each.quote)) for each in gold))
    places = ranking_places(index)(trace, asked)
    score = scores(Outcome(GoldQuestion("1", "?", ("honey",), gold), trace, chunks=ChunkTexts(index)))
    assert score["recall-5"] == pytest.approx(statistics.mean(place is not None and place <= 5 for place in places))
    assert score["all-gold-8"] == float(all(place is not None and place <= 8 for place in places))
    assert score["reciprocal-rank"] == pytest.approx(max((1 / place for place in places if place), default=0.0))
    assert score["evidence-recall"] == pytest.approx(context_recall(trace, asked))
    assert [score["answer-in-context"]] == answer_shown(trace, asked)
