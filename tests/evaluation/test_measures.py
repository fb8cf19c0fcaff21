"""Measures on an outcome that fits on one screen."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from leanrag_core.evaluation.base import Measure, Outcome
from leanrag_core.evaluation.gold import Evidence, GoldQuestion, normalised
from leanrag_core.evaluation.measuring import measures
from leanrag_core.evaluation.question_sets.reading import read_questions
from leanrag_core.evaluation.tables import means
from leanrag_core.messages.message import message
from leanrag_core.types.trace import Context, ContextItem, ContextSection, Source, Trace, TraceIndex, TraceItem

TEXT = "The mill at Carrow was built in 1788. It ground barley."


def chunks_section(*items: ContextItem) -> ContextSection:
    return ContextSection("chunks", message("plain", text="Chunks"), "C", "chunk", items, TEXT, 14, 20)


def outcome(*, answers: tuple[str, ...] = (), quotes: tuple[tuple[str, str], ...] = ()) -> Outcome:
    passage = TraceItem(
        "c1", "passage", "mill", ("passage",), text=TEXT, source=Source("mill.txt", 0, "Mill", 0, len(TEXT), None, 14)
    )
    trace = Trace(
        question="When was the mill built?",
        strategy="leanrag",
        title=message("plain", text="LeanRAG"),
        parameters={},
        items=(passage,),
        relations=(),
        context=Context(TEXT, 14, (chunks_section(ContextItem("C1", "c1", TEXT, 14, "chunk")),)),
        steps=(),
        styles=(),
        index=TraceIndex("i", "Mills", (1,)),
    )
    return Outcome(GoldQuestion("1", trace.question, answers, tuple(Evidence(*quote) for quote in quotes)), trace)


def measure(name: str) -> Measure:
    return next(known for known in measures() if known.name == name)


def test_recall_is_the_share_of_quotes_in_passages_of_their_document() -> None:
    quotes = (
        ("mill.txt", "mill at Carrow, was built in 1788"),  # punctuation does not count
        ("mill.txt", "It ground wheat."),
        ("other.txt", "It ground barley."),
        ("mill.txt", "it ground   barley"),
    )
    assert measure("evidence-recall").score(outcome(quotes=quotes)) == 0.5
    assert measure("evidence-recall").score(outcome()) is None


@pytest.mark.parametrize(
    ("answers", "score"),
    [(("1788",), 1.0), (("178",), 0.0), (("wheat", "Barley!"), 1.0), (("yes",), None), ((), None), (("...",), None)],
)
def test_an_answer_counts_as_whole_words_and_yes_does_not_count(answers: tuple[str, ...], score: float | None) -> None:
    assert measure("answer-in-context").score(outcome(answers=answers)) == score


def whole_corpus(kind: str = "whole-corpus") -> Outcome:
    """Return an outcome whose gold documents are mill, hill and rill; two of the answer's three entities are in the
    context, which has a passage of mill."""
    made = outcome(
        answers=("1788", "barley", "wheat"), quotes=(("mill.txt", "x"), ("hill.txt", "y"), ("rill.txt", "z"))
    )
    entities = (("1788",), ("barley",), ("wheat",))
    return Outcome(replace(made.question, kind=kind, entities=entities), made.trace)


def test_whole_corpus_questions_are_measured_by_documents_and_by_entities_of_the_answer() -> None:
    assert measure("documents-touched").score(whole_corpus()) == pytest.approx(1 / 3)
    titled = outcome(quotes=(("Mill", "x"), ("Hill", "y")))
    by_title = Outcome(replace(titled.question, kind="whole-corpus"), titled.trace)
    assert measure("documents-touched").score(by_title) == 0.5, "a question may name a document by its title"
    assert measure("answer-entities").score(whole_corpus()) == pytest.approx(2 / 3)
    assert measure("documents-touched").score(whole_corpus("multi-hop")) is None
    assert measure("answer-entities").score(whole_corpus("multi-hop")) is None


def test_entities_of_the_answer_have_no_score_where_the_file_lists_none() -> None:
    made = whole_corpus()
    bare = replace(made, question=replace(made.question, entities=()))
    assert measure("answer-entities").score(bare) is None
    [mean] = [mean for mean in means([bare]) if mean.measure == "answer-entities"]
    assert (mean.value, mean.n) == (None, 0)


def test_a_gold_answer_that_is_a_sentence_counts_by_the_entities_it_names() -> None:
    made = whole_corpus()
    sentence = replace(made.question, answers=("Built in 1788 it worked for barley and wheat",))
    named = replace(sentence, entities=(("barley", "hordeum"), ("wheat",), ("carrow mill", "mill at carrow"), ("rye",)))
    assert measure("answer-entities").score(replace(made, question=named)) == 0.5


def test_entities_of_a_whole_corpus_answer_come_from_the_reference_graph_beside_the_questions(tmp_path: Path) -> None:
    cells = {"question": "What did mills at Carrow grind?", "answer": "Barley, by Anne Hart.", "answers": ["hordeum"]}
    quotes = [{"document": "mill.txt", "quote": "x"}]
    entities = [
        {"name": "Barley", "aliases": ["Hordeum"], "type": "plant", "description": "A cereal.", "quotes": quotes},
        {"name": "Carrow", "type": "place", "description": "Named by the question.", "quotes": quotes},
        {"name": "Hart", "aliases": ["Anne Hart"], "type": "person", "description": "A miller.", "quotes": quotes},
        {"name": "Wheat", "type": "plant", "description": "Not in the answer.", "quotes": quotes},
    ]
    (tmp_path / "reference").mkdir()
    (tmp_path / "reference" / "entities.jsonl").write_text("\n".join(map(json.dumps, entities)), encoding="utf-8")
    (tmp_path / "reference" / "relations.jsonl").write_text("", encoding="utf-8")
    path = tmp_path / "questions.jsonl"
    rows = [{**cells, "type": kind} for kind in ("whole-corpus", "multi-hop")]
    path.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    whole, other = read_questions(path)
    assert whole.entities == (("barley", "hordeum"), ("anne hart", "hart"))
    assert other.entities == ()


def test_a_passage_that_did_not_fit_touches_no_document() -> None:
    made = whole_corpus()
    assert measure("documents-touched").score(replace(made, trace=replace(made.trace, context=Context("", 0, ())))) == 0


def test_means_are_over_the_questions_that_a_measure_applies_to() -> None:
    table = {mean.measure: mean for mean in means([outcome(answers=("1788",)), outcome(answers=("wheat",)), outcome()])}
    assert (table["answer-in-context"].value, table["answer-in-context"].n) == (0.5, 2)
    assert (table["evidence-recall"].value, table["evidence-recall"].n) == (None, 0)
    assert (table["context-tokens"].value, table["context-tokens"].n) == (14.0, 3)


def test_names_are_compared_without_articles_case_and_punctuation() -> None:
    assert normalised("The  Tide-Mill, AT ｃarrow") == "tide mill at carrow"
