"""Ranking measures on passages of one word each: quotes are words, documents letters."""

import math
from dataclasses import replace
from typing import Any, cast

import pytest

from leanrag_core.evaluation.base import Outcome
from leanrag_core.evaluation.gold import ChunkTexts, Evidence, GoldQuestion
from leanrag_core.evaluation.measuring import scores
from leanrag_core.messages.message import message
from leanrag_core.types.trace import (
    Context,
    ContextItem,
    ContextSection,
    Source,
    Style,
    Trace,
    TraceIndex,
    TraceItem,
)


class Chunks:
    """The texts of an index's chunks, all of document d."""

    def __init__(self, *texts: str) -> None:
        self.texts = texts

    def text(self, row: int) -> str:
        return self.texts[row]

    def names(self, row: int) -> frozenset[str]:
        return frozenset("d")


def outcome(
    ranked: list[str], quotes: list[str], *, n_taken: int, shown: list[str] | None = None, known: bool = True
) -> Outcome:
    """Return an outcome with passages in rank order, the first n_taken in the trace; shown: texts in the context, whole
    by default."""
    passages = tuple(
        TraceItem(
            f"c{row}", "passage", "d", ("passage",), row=row, text=text, source=Source("d", 0, "d", 0, 1, None, 1)
        )
        for row, text in enumerate(ranked[:n_taken])
    )
    shown = [item.text for item in passages] if shown is None else shown
    items = tuple(ContextItem(f"C{row}", f"c{row}", f"(d) {text}", 1, "chunk", 4) for row, text in enumerate(shown))
    title = message("plain", text="Passages")
    trace = Trace(
        question="?",
        strategy="s",
        title=title,
        parameters={},
        items=passages,
        relations=(),
        context=Context(" ".join(shown), 500, (ContextSection("chunks", title, "C", "chunk", items, "", 500, 600),)),
        steps=(),
        styles=(Style("passage", title, "chunk", "chip"),),
        index=TraceIndex("i", "I", (1,)),
        ranked_chunks=tuple(range(len(ranked))),
    )
    question = GoldQuestion("1", "?", (), tuple(Evidence("d", quote) for quote in quotes))
    return Outcome(question, trace, chunks=cast(ChunkTexts, Chunks(*ranked)) if known else None)


NAMES = ("evidence-recall", "recall-5", "all-gold-8", "reciprocal-rank", "precision", "ndcg")


def table(made: Outcome) -> dict[str, Any]:
    return {name: score for name, score in scores(made).items() if name in NAMES}


def test_by_hand_with_one_quote_in_the_context_one_below_it_and_one_nowhere() -> None:
    made = outcome(["no", "gold", "no", "no", "no", "no", "late"], ["gold", "late", "absent"], n_taken=3)
    ideal = 1 + 1 / math.log2(3) + 1 / math.log2(4)  # three relevant passages before all others
    assert table(made) == {
        "evidence-recall": pytest.approx(1 / 3),
        "recall-5": pytest.approx(1 / 3),
        "all-gold-8": 0.0,
        "reciprocal-rank": 0.5,
        "precision": pytest.approx(1 / 3),
        "ndcg": pytest.approx((1 / math.log2(3)) / ideal),
    }


def test_two_quotes_in_a_passage_are_two_of_recall_and_one_relevant_passage() -> None:
    made = outcome(["both of gold and more", "no"], ["gold", "more"], n_taken=2)
    assert table(made) == dict.fromkeys(NAMES, 1.0) | {"precision": 0.5}


def test_a_passage_that_repeats_a_quote_is_not_relevant_again() -> None:
    made = outcome(["gold", "gold again"], ["gold"], n_taken=2)
    assert table(made) == dict.fromkeys(NAMES, 1.0) | {"precision": 0.5}


def test_all_gold_looks_at_eight_places_and_recall_at_five() -> None:
    ranked = ["a", "x", "x", "x", "x", "x", "x", "b"]
    assert table(outcome(ranked, ["a", "b"], n_taken=1))["all-gold-8"] == 1.0
    assert table(outcome(ranked, ["a", "b"], n_taken=1))["recall-5"] == 0.5
    assert table(outcome(["x", *ranked], ["a", "b"], n_taken=1))["all-gold-8"] == 0.0


def test_a_quote_counts_in_the_context_only_as_far_as_the_context_holds_the_passage() -> None:
    made = outcome(["begins here and ends there"], ["ends there"], n_taken=1, shown=["begins here […]"])
    assert (table(made)["evidence-recall"], table(made)["recall-5"], table(made)["precision"]) == (0.0, 1.0, 0.0)
    left_out = outcome(["gold"], ["gold"], n_taken=1, shown=[])
    assert (table(left_out)["evidence-recall"], table(left_out)["precision"]) == (0.0, None)


def test_without_the_index_the_ranking_ends_with_the_passages_of_the_trace() -> None:
    ranked = ["no", "gold"]
    assert table(outcome(ranked, ["gold"], n_taken=1))["recall-5"] == 1.0
    assert table(outcome(ranked, ["gold"], n_taken=1, known=False))["recall-5"] == 0.0


def test_nothing_retrieved_finds_nothing_and_no_gold_has_no_score() -> None:
    assert table(outcome([], ["gold"], n_taken=0)) == dict.fromkeys(NAMES, 0.0) | {"precision": None}
    assert table(outcome(["a"], [], n_taken=1)) == dict.fromkeys(NAMES)


def test_a_quote_of_another_document_does_not_count() -> None:
    made = outcome(["gold"], ["gold"], n_taken=1)
    elsewhere = replace(made.question, evidence=(Evidence("other", "gold"),))
    assert table(replace(made, question=elsewhere))["reciprocal-rank"] == 0.0


def test_an_evidence_without_a_quote_is_any_passage_of_its_document() -> None:
    made = outcome(["a", "b"], [""], n_taken=2)
    assert (table(made)["evidence-recall"], table(made)["reciprocal-rank"]) == (1.0, 1.0)


def test_recall_is_divided_by_thousands_of_tokens() -> None:
    made = outcome(["gold"], ["gold", "absent"], n_taken=1)
    assert scores(made)["recall-per-1000"] == 1.0  # .5 in 500 tokens


def test_a_strategy_that_retrieves_no_passages_has_no_score() -> None:
    nothing = outcome([], ["a"], n_taken=0)
    measured = scores(replace(nothing, trace=replace(nothing.trace, styles=())))
    assert [measured[name] for name in (*NAMES, "recall-per-1000")] == [None] * 7
