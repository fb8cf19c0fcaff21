"""A slide claims what the stored figures bear, and nothing else. Expected sentences were worked out by hand."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from leanrag_core.messages.catalog import languages, sentence
from leanrag_core.presenting import claims, pages_of_index, pages_of_question
from leanrag_core.presenting.slides import deck_of
from leanrag_core.presenting.story import (
    BridgeEvidence,
    Estimate,
    Islands,
    Measured,
    Presentation,
    PresentedQuestion,
    Side,
)
from leanrag_core.types.trace import AnswerPart

Make = Callable[..., Presentation]


def islands(**change: Any) -> Islands:
    values: dict[str, Any] = {
        "layer": 1, "nodes": 9, "relations": 6, "summarised": 2, "components_without": 9, "components_with": 1,
        "largest": 9, "groups": (), "spots": (), "bridges": (),
    }  # fmt: skip
    return Islands(**values | change)


@pytest.mark.parametrize(
    ("without", "joined", "title"),
    [
        (9, 1, "Aggregated relations join them all"),
        (9, 4, "Aggregated relations join islands"),
        (9, 9, "Aggregated relations between summaries"),
        (1, 1, "Aggregated relations between summaries"),
    ],
)
def test_bridges_are_said_to_join_only_what_they_join(without: int, joined: int, title: str) -> None:
    picture = islands(components_without=without, components_with=joined)
    assert sentence(claims.bridges_title(picture)) == title


def test_islands_are_counted_before_and_after() -> None:
    claim = claims.bridges_claim(islands(components_with=4, largest=5))
    assert claim.strong is not None
    assert sentence(claim.strong) == "6 aggregated relations turn 9 islands into 4."
    assert sentence(claim.rest[0]) == "The largest part holds 5 of 9 summaries."
    none = claims.bridges_claim(islands(components_with=9))
    assert none.strong is not None
    assert sentence(none.strong) == "6 aggregated relations; 9 parts remain."


def test_a_summary_whose_bridges_are_not_drawn_is_no_island(make: Make) -> None:
    picture = make().islands
    assert picture is not None
    undrawn = replace(picture, bridges=())
    assert pages_of_index.islands(undrawn).picture["alone"] == [0, 1]
    assert pages_of_index.bridges(undrawn).picture["alone"] == []
    unrelated = replace(undrawn, spots=(replace(picture.spots[0], relations=0), picture.spots[1]))
    assert pages_of_index.bridges(unrelated).picture["alone"] == [0]


def with_tokens(question: PresentedQuestion, *tokens: int) -> PresentedQuestion:
    sides = []
    for side, n in zip(question.sides, tokens, strict=True):
        trace = replace(side.run.trace, context=replace(side.run.trace.context, tokens=n))
        sides.append(replace(side, run=replace(side.run, trace=trace)))
    return replace(question, sides=tuple(sides))


@pytest.mark.parametrize(
    ("ours", "theirs", "title"),
    [
        (46, 100, "The same question with 46 % of the reading"),
        (100, 46, "The same question, two strategies"),
        (100, 100, "The same question, two strategies"),
        (999, 1000, "The same question, two strategies"),  # 100 % of the reading is not less
        (0, 100, "The same question, two strategies"),
    ],
)
def test_less_reading_is_claimed_where_there_is_less(ours: int, theirs: int, title: str, make: Make) -> None:
    question = with_tokens(make().questions[0], ours, theirs)
    assert sentence(claims.compare_title(question, 1)) == title


def relations_claim(side: Side) -> str:
    claim = claims.step_claim(side, "relations")
    return " ".join(sentence(part) for part in (claim.strong, *claim.rest) if part)


def test_a_bridge_says_how_many_statements_and_documents_are_behind_it(make: Make) -> None:
    question = make().questions[0]
    side = question.sides[0]
    # honey-rape is stated in no chunk, mite-seed coat neither: no document can be claimed.
    assert side.bridges == (BridgeEvidence(side.bridges[0].relation, 2, 0, 0),)
    plain = '1 bridge joins topics that the tree keeps apart. 2 statements tie "bees" to "fields".'
    assert relations_claim(side) == plain
    spread = replace(side, bridges=(replace(side.bridges[0], documents=2, most_in_one=1),))
    spread_text = plain + " No single document holds them all: they come from 2 documents."
    assert relations_claim(spread) == spread_text
    whole = replace(side, bridges=(replace(side.bridges[0], documents=2, most_in_one=2),))
    assert relations_claim(whole) == plain
    # Of a higher layer the number in the picture is another count; the sentence says what each of them counts.
    higher = replace(side, bridges=(replace(side.bridges[0], statements=31),))
    added = "; 2 relations of the layer below add them up."
    assert relations_claim(higher) == plain.replace("2 st", "31 st").rstrip(".") + added


def test_a_retrieval_without_bridges_says_so(make: Make) -> None:
    question = make().questions[0]
    assert relations_claim(question.sides[1]) == "No bridge joins the summaries of this question."


def test_citations_are_called_checked_where_each_is_in_the_context(make: Make) -> None:
    question, words = make().questions[0], pages_of_question.Words("en")
    assert sentence(pages_of_question.answer(question, words).title) == "Every citation leads to its source"
    side = question.sides[0]
    assert side.run.answer is not None
    stray = replace(side.run.answer, citations=(*side.run.answer.citations, "C99"))
    other = replace(question, sides=(replace(side, run=replace(side.run, answer=stray)), question.sides[1]))
    page = pages_of_question.answer(other, words)
    assert (sentence(page.title), page.claim.strong) == ("The answer", None)


def test_a_models_sentence_without_support_is_marked_and_nothing_is_called_free_of_models(make: Make) -> None:
    stored = make()
    words = pages_of_question.Words("en")
    question = stored.questions[0]
    side = question.sides[0]
    assert side.run.answer is not None
    mark = side.run.trace.context.sections[0].items[0].mark
    parts = (AnswerPart("Hruschka invented the centrifugal extractor in 1865.", (mark,)),)
    written = {"model": "far:model", "extractive": False, "grounded": True}
    answer = replace(side.run.answer, parts=parts, citations=(mark,), **written)
    side = replace(side, run=replace(side.run, answer=answer))
    page = pages_of_question.answer(replace(question, sides=(side, *question.sides[1:])), words)
    assert sentence(page.title) == "The answer"
    assert page.claim.strong is not None
    assert sentence(page.claim.strong) == "1 sentence of 1 lacks support."
    assert page.picture["parts"][0]["doubt"] == "not in what it cites: 1865"
    shown = replace(stored, questions=(replace(question, sides=(side, *question.sides[1:])), *stored.questions[1:]))
    assert "written by far:model" in " ".join(map(sentence, pages_of_index.cost(shown, words).claim.rest))
    assert "sent anywhere" in " ".join(map(sentence, pages_of_index.cost(stored, words).claim.rest))
    assert "doubt" not in pages_of_question.answer(question, words).picture["parts"][0]


def test_an_answer_of_which_the_opening_is_shown_ends_in_an_ellipsis(make: Make) -> None:
    question, words = make().questions[0], pages_of_question.Words("en")
    side = question.sides[0]
    assert side.run.answer is not None
    sentences = tuple(AnswerPart(f"{letter} " * 90, (f"C{letter}",)) for letter in "123")
    long = replace(side, run=replace(side.run, answer=replace(side.run.answer, parts=sentences)))
    opened = replace(question, sides=(long, question.sides[1]))
    shown = pages_of_question.steps(opened, words).picture["answer"]
    assert [part["marks"] for part in shown] == [["C1"], []]
    assert shown[-1]["text"] == "…"
    whole = pages_of_question.steps(question, words).picture["answer"]
    assert all(part["text"] != "…" for part in whole)


def test_figures_over_many_questions_have_their_interval_and_number() -> None:
    tokens, recall = Estimate(0.505, 0.435, 0.583, 35), Estimate(0.88, 0.8, 0.95, 30)
    figures = Measured("e", 1, 35, tokens, recall, Estimate(0.98, 0.95, 1.0, 30), Estimate(-0.1, -0.18, -0.04, 30))
    assert [sentence(text) for text in claims.measured_sentences(figures)] == [
        "Over 35 questions: 50 % of the tokens (95 % interval 44 to 58 %).",
        "Wanted passages in the context: 88 % against 98 %, a difference of −10 points (95 % interval −18 to −4; "
        "30 questions with known passages).",
    ]
    assert claims.measured_sentences(None) == ()
    beside = replace(figures, recall_beside=Estimate(0.984, 0.9, 1.0, 30), recall=Estimate(0.848, 0.7, 0.9, 30))
    uneven = replace(beside, difference=Estimate(-0.136, -0.2, -0.1, 30))  # 85 - 98 would be -13
    assert "84.8 % against 98.4 %, a difference of −13.6 points" in sentence(claims.measured_sentences(uneven)[1])
    assert [figure.value for figure in claims.measured_figures(uneven)] == ["50 %", "−13.6"]
    alone = replace(figures, tokens=Estimate(0.5, None, None, 1), recall=None)
    assert "no interval" in sentence(claims.measured_sentences(alone)[0])


@pytest.mark.parametrize("language", languages())
def test_every_slide_has_its_words_in_every_language(language: str, make: Make) -> None:
    deck = deck_of(make(), language)
    kinds = ["documents", "graph", "islands", "bridges", "hierarchy", "steps", "answer", "compare", "questions", "cost"]
    assert [slide.kind for slide in deck.slides] == kinds
    assert all(slide.talk and view.title for slide in deck.slides for view in slide.views)
    assert [len(slide.views) for slide in deck.slides] == [1, 1, 1, 1, 1, 2, 2, 2, 1, 1]


def test_slides_that_have_nothing_to_show_are_left_out(make: Make) -> None:
    made = make()
    bare = replace(made, islands=None, graph=None, questions=made.questions[:1])
    kinds = [slide.kind for slide in deck_of(bare).slides]
    assert kinds == ["documents", "hierarchy", "steps", "answer", "compare", "cost"]
