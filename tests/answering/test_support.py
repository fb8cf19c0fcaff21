"""Which sentences what they cite supports: counted by hand."""

from dataclasses import replace

import pytest

from leanrag_core.answering.support import (
    SUPPORTED,
    UNCITED,
    UNKNOWN,
    WEAK,
    Support,
    _script,
    best_sentence,
    citation_counts,
    supports,
)
from leanrag_core.answering.written import CUT_SHORT
from leanrag_core.types.index import Index
from leanrag_core.types.trace import Answer, AnswerPart, Trace
from tests.comparing.test_lost_evidence import run


@pytest.fixture
def trace(index: Index) -> Trace:
    """Return a trace whose C1 is chunk 0: "The queen lays eggs. The workers store honey." """
    return run(index, "leanrag", top_n=1, top_c=1)


def support(trace: Trace, text: str, *marks: str) -> Support:
    [judged] = supports(answer(trace, AnswerPart(text, marks)))
    return judged


def answer(trace: Trace, *parts: AnswerPart) -> Answer:
    citations = tuple(mark for part in parts for mark in part.marks)
    return Answer("", parts, citations, bool(citations), extractive=False, model="m", trace=trace)


def test_words_that_the_cited_passage_has_support_a_sentence(trace: Trace) -> None:
    assert support(trace, "Workers stored the honey.", "C1") == Support(SUPPORTED, n_words=3, n_held=3)


def test_half_of_the_words_is_enough_and_less_is_not(trace: Trace) -> None:
    assert support(trace, "Honey of workers attracts bears.", "C1") == Support(SUPPORTED, n_words=4, n_held=2)
    assert support(trace, "Honey attracts many hungry bears.", "C1") == Support(WEAK, n_words=4, n_held=1)


def test_a_sentence_without_a_citation_has_no_support_whatever_it_says(trace: Trace) -> None:
    assert support(trace, "The queen lays eggs.").state == UNCITED
    assert support(trace, "The queen lays eggs.", "C9").state == UNCITED, "the context has no C9"


def test_a_number_that_no_cited_item_has_makes_support_weak(trace: Trace) -> None:
    judged = support(trace, "The queen lays 2000 eggs.", "C1")
    assert (judged.state, judged.numbers, judged.n_held) == (WEAK, ("2000",), 3)
    assert judged.lacks


def test_words_tell_nothing_between_two_scripts(trace: Trace) -> None:
    assert support(trace, "蜂王产卵。", "C1").state == UNKNOWN
    section = trace.context.section("chunks")
    chinese = replace(section, items=(replace(section.items[0], text="蜂王产卵，工蜂酿蜜。"),))
    sections = tuple(chinese if part is section else part for part in trace.context.sections)
    own = replace(trace, context=replace(trace.context, sections=sections))
    assert support(own, "蜂王产卵。", "C1").state == SUPPORTED
    assert support(own, "雄蜂在夏天离开蜂巢。", "C1").state == WEAK


def test_the_remark_of_a_reply_that_was_cut_is_no_sentence(trace: Trace) -> None:
    assert support(trace, CUT_SHORT).state == SUPPORTED


def test_a_sentence_counts_once_for_each_mark_that_it_cites(trace: Trace) -> None:
    counts = citation_counts(answer(trace, AnswerPart("Eggs.", ("C1", "E1", "C1")), AnswerPart("More.", ("C1",))))
    assert (counts, counts["C2"]) == ({"C1": 2, "E1": 1}, 0)


def test_the_nearest_sentence_of_a_passage_shares_most_words() -> None:
    text = "The queen lays eggs. The workers store honey."
    assert best_sentence("Honey is stored by workers in wax.", text) == "The workers store honey."
    assert best_sentence("A tax on petrol was raised.", text) == ""


@pytest.mark.parametrize(
    ("text", "script"),
    [("The mill, 1871.", "LATIN"), ("12, 13!", ""), ("Мельница 1871", "CYRILLIC"), ("Mühle", "LATIN")],
)
def test_the_script_of_most_letters(text: str, script: str) -> None:
    assert _script(text) == script
