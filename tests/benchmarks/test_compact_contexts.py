"""The comparison of contexts measures what it says."""

from pathlib import Path

import numpy as np
import pytest

from benchmarks.compact import Gold, Measured, measured, read_gold, row_of
from leanrag_core.messages.message import message
from leanrag_core.types.trace import Context, ContextItem, ContextSection, Source, Trace, TraceIndex, TraceItem


def trace(*passages: tuple[str, str], tokens: int = 10) -> Trace:
    """Return a trace whose context has those passages (title, text), and one more that did not fit."""
    items = tuple(
        TraceItem(f"c{row}", "passage", title, ("passage",), text=text, source=Source("a.txt", 0, title, 0, 1, None, 1))
        for row, (title, text) in enumerate([*passages, ("Left out", "Nothing.")])
    )
    lines = tuple(ContextItem(f"C{row + 1}", f"c{row}", text, 5, "chunk") for row, (_, text) in enumerate(passages))
    title, text = message("plain", text="Chunks"), " ".join(line.text for line in lines)
    section = ContextSection("chunks", title, "C", "chunk", lines, text, tokens, 100)
    index = TraceIndex("i", "I", (1,))
    return Trace("?", "vector", title, {}, items, (), Context(text, tokens, (section,)), (), (), index)


def test_gold_is_in_a_context_as_a_passage_or_as_a_quote_and_yes_is_no_answer() -> None:
    questions = [
        Gold("?", (("Mill", ""), ("Left out", "")), ("1788",)),
        Gold("?", (("a.txt", "It ground barley."), ("a.txt", "It ground wheat.")), ("yes",)),
    ]
    context = trace(("Mill", "Built in 1788. It ground  barley!"))
    figures = measured(questions, [context, context])
    assert figures.recall.tolist() == [0.5, 0.5]
    assert figures.answered[0] == 1.0
    assert np.isnan(figures.answered[1])


def test_a_row_divides_means_and_pairs_differences() -> None:
    system = Measured(np.array([500.0, 1500.0]), np.array([1.0, 0.5]), np.array([1.0, np.nan]))
    equal = Measured(np.array([500.0, 1500.0]), np.array([0.5, 0.5]), np.array([1.0, np.nan]))
    vectors = {c: Measured(np.full(2, 200.0 * c), np.full(2, recall), np.ones(2)) for c, recall in ((1, 0.5), (2, 0.8))}
    row = row_of(system, equal, vectors)
    assert (row.tokens, row.recall.value, row.recall_per_1000.value) == (1000.0, 0.75, 0.75)
    assert row.recall_beside_equal_tokens.value == 0.25
    assert (row.recall_beside_equal_tokens.low, row.recall_beside_equal_tokens.high) == (0.0, 0.5)
    assert row.passages_at_equal_recall == 2
    assert row.tokens_at_equal_recall is not None
    assert row.tokens_at_equal_recall.value == pytest.approx(2.5)


def test_gold_ids_become_titles_and_kinds_are_chosen(tmp_path: Path) -> None:
    corpus, questions = tmp_path / "corpus.jsonl", tmp_path / "questions.jsonl"
    corpus.write_text('{"id": "p1", "title": "Mill", "text": "x"}\n')
    questions.write_text(
        '{"question": "a", "gold": ["p1"], "answers": ["1788"], "type": "hop"}\n'
        '{"question": "b", "evidence": [{"document": "a.txt", "quote": "q"}], "type": "whole"}\n'
        '{"question": "c", "gold": []}\n'
    )
    assert read_gold(questions, corpus) == [
        Gold("a", (("Mill", ""),), ("1788",)),
        Gold("b", (("a.txt", "q"),), ()),
    ]
    assert [gold.question for gold in read_gold(questions, None, ["whole"])] == ["b"]
