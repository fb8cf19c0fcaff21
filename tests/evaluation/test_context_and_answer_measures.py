"""Measures of contexts, short answers and claims, by hand."""

import pytest

from leanrag_core.evaluation.answers import claim_clusters, claims_of, exact_match, f1, rouge_l
from leanrag_core.evaluation.base import CLAIMS, OTHER, Outcome
from leanrag_core.evaluation.gold import GoldQuestion
from leanrag_core.evaluation.measures import repeated_tokens
from leanrag_core.evaluation.measuring import info_of, measure_infos, scores
from leanrag_core.evaluation.tables import relative
from leanrag_core.messages.message import message
from leanrag_core.text.tokens import count_tokens
from leanrag_core.types.trace import Answer, AnswerPart, Context, ContextSection, Trace, TraceIndex


def trace(*sections: tuple[str, int], text: str = "") -> Trace:
    title = message("plain", text="S")
    parts = tuple(ContextSection(name, title, "S", "chunk", (), "", tokens, 9_999) for name, tokens in sections)
    context = Context(text, sum(tokens for _, tokens in sections) or count_tokens(text), parts)
    return Trace("?", "s", title, {}, (), (), context, (), (), TraceIndex("i", "I", (1,)))


def answer(*sentences: str, grounded: bool = True) -> Answer:
    parts = tuple(AnswerPart(sentence, ("C1",)) for sentence in sentences)
    return Answer(" ".join(f"{s} [C1]" for s in sentences), parts, ("C1",), grounded, False, "m", trace())


def test_tokens_by_section_and_none_where_the_strategy_has_no_such_section() -> None:
    score = scores(Outcome(GoldQuestion("1", "?"), trace(("entities", 30), ("chunks", 50))))
    assert (score["tokens-entities"], score["tokens-chunks"], score["tokens-relations"]) == (30.0, 50.0, None)
    assert score["context-tokens"] == 80.0


def test_only_runs_of_five_words_that_came_before_are_repeated() -> None:
    said = "one two three four five"
    assert repeated_tokens(f"{said}. six {said}!") == count_tokens(said)
    assert repeated_tokens(f"{said} six. One, two three FOUR five six") == count_tokens("One, two three FOUR five six")
    assert repeated_tokens("one two three four. one two three four") == 0
    assert repeated_tokens("no no no no no no no") == count_tokens("no no no no no no")
    assert repeated_tokens("") == 0


def test_the_repeated_share_is_of_the_contexts_tokens() -> None:
    text = "one two three four five one two three four five"
    score = scores(Outcome(GoldQuestion("1", "?"), trace(text=text)))["repeated-share"]
    assert score == pytest.approx(0.5, abs=0.11)
    assert scores(Outcome(GoldQuestion("1", "?"), trace()))["repeated-share"] is None


def test_scores_relative_to_a_baseline() -> None:
    half, unknown, tenth, other = relative([50.0, None, 10.0, 5.0], [100.0, 1.0, 20.0, None])
    assert (unknown, other) == (None, None)
    assert half is not None
    assert tenth is not None
    assert (half + tenth) / 2 == pytest.approx(60 / 120), "a question with a short context does not decide the figure"
    assert relative([1.0, 2.0], [0.0, 0.0]) == (None, None)
    with pytest.raises(ValueError, match="zip"):
        relative([1.0], [])


@pytest.mark.parametrize(
    ("said", "em", "overlap"),
    [
        ("The Varroa mite!", 1.0, 1.0),
        ("It is varroa.", 0.0, 0.4),  # one of three words, one of two: 2 / 5
        ("Bees", 0.0, 0.0),
    ],
)
def test_short_answers_as_squad_scores_them(said: str, em: float, overlap: float) -> None:
    question = GoldQuestion("1", "?", ("varroa mite", "the mite Varroa destructor"))
    assert exact_match(question, answer(said)) == em
    assert f1(question, answer(said)) == pytest.approx(overlap)


def test_the_gold_sentence_counts_as_a_gold_answer_and_chinese_characters_are_words() -> None:
    question = GoldQuestion("1", "?", ("1788",), answer="It was built in 1788.")
    assert exact_match(question, answer("It was built in 1788.")) == 1.0
    assert f1(GoldQuestion("1", "?", ("蜜蜂",)), answer("蜜")) == pytest.approx(2 / 3)


def test_an_unanswerable_question_wants_a_refusal_and_a_refusal_answers_nothing_else() -> None:
    unanswerable = GoldQuestion("1", "?", kind="unanswerable", answer="The corpus does not say.")
    assert (exact_match(unanswerable, answer("42.")), f1(unanswerable, answer("42."))) == (0.0, 0.0)
    refusal = answer("NOT IN THE CONTEXT: documents on it.", grounded=False)
    assert exact_match(unanswerable, refusal) == 1.0
    assert f1(GoldQuestion("1", "?", ("documents",)), refusal) == 0.0
    assert exact_match(unanswerable, answer("42.", grounded=False)) == 0.0, "in open mode no citation is needed"
    assert f1(GoldQuestion("1", "?"), answer("42.")) is None


def test_claims_are_distinct_sentences_or_what_a_model_listed() -> None:
    made = Outcome(GoldQuestion("1", "?"), trace(), answer("Bees fly.", "Bees sting!", "bees fly"))
    assert claims_of(made) == ("Bees fly.", "Bees sting!")
    listed = Outcome(made.question, made.trace, made.answer, claims=("Bees fly.", "Wasps too."))
    assert claims_of(listed) == ("Bees fly.", "Wasps too.")
    declined = Outcome(made.question, made.trace, answer("Not in the context: bees.", grounded=False))
    assert scores(declined)["claims"] == scores(declined)["claim-clusters-50"] == 0.0
    assert scores(Outcome(made.question, made.trace))["claims"] is None


def test_rouge_l_by_hand() -> None:
    # the example of Lin (2004): "police ... the gunman" in order
    assert rouge_l("police killed the gunman", "Police kill the gunman.") == 0.75
    assert rouge_l("police killed the gunman", "the gunman kill police") == 0.5
    assert rouge_l("", "a") == 0.0


def test_claims_cluster_under_complete_linkage() -> None:
    claims = ["bees make honey now", "bees make honey", "bees make wax", "ships sail far away"]
    # distances: 1-2 1/7, 2-3 1/3, 1-3 3/7, the last 1 from all
    assert [claim_clusters(claims, distance) for distance in (0.1, 0.2, 0.35, 0.5, 0.8)] == [4, 3, 3, 2, 2]
    assert (claim_clusters([], 0.5), claim_clusters(["a"], 0.5)) == (0, 1)


def test_tables_learn_group_unit_and_direction_and_foreign_measures_have_defaults() -> None:
    infos = {info.name: info for info in measure_infos()}
    assert infos["claims"].group == CLAIMS
    assert (infos["context-tokens"].better, infos["context-tokens"].unit) == ("lower", "tokens")
    assert [info.name for info in measure_infos()][:2] == ["documents-touched", "evidence-recall"]

    class Foreign:
        name, title, help = "f", message("plain", text="F"), message("plain", text="F")

        def score(self, outcome: Outcome) -> float | None:
            return None

    info = info_of(Foreign())
    assert (info.group, info.unit, info.better, info.is_main) == (OTHER, "share", "higher", True)
