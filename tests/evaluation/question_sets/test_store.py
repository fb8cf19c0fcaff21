"""Question sets of a workbench: shipped, uploaded, written, deleted."""

from pathlib import Path

import pytest

from leanrag_core.errors import InvalidConfig, QuestionSetNotFound
from leanrag_core.evaluation.gold import Evidence, GoldQuestion
from leanrag_core.evaluation.question_sets.reading import read_set
from leanrag_core.types.question_set import SHIPPED, UPLOADED, WRITTEN
from leanrag_core.workbench import Workbench

QUESTIONS = (
    GoldQuestion("1", "Who?", ("Ann",), (Evidence("d.md", "Ann"),), "multi-hop"),
    GoldQuestion("2", "When?", kind="single-hop"),
)


@pytest.fixture
def bench(tmp_path: Path) -> Workbench:
    return Workbench(tmp_path)


def test_the_sets_of_the_sample_corpora_come_first_and_stay(bench: Workbench) -> None:
    shipped = bench.question_sets.all()
    assert [card.id for card in shipped] == [
        "sample-agriculture",
        "sample-cs",
        "sample-irrigation",
        "sample-legal",
        "sample-mix",
    ]
    mix = shipped[-1]
    assert (mix.n, mix.kinds["whole-corpus"], mix.n_evidence, mix.origin, mix.corpus_id) == (
        35, 6, 30, SHIPPED, "sample-mix",
    )  # fmt: skip
    assert len(bench.question_sets.questions("sample-mix")) == 35
    assert any(question.entities for question in bench.question_sets.questions("sample-mix"))
    with pytest.raises(InvalidConfig, match="belong to the program"):
        bench.question_sets.delete("sample-mix")


def test_a_set_is_stored_once_under_an_id_that_follows_from_it(bench: Workbench) -> None:
    id_ = bench.question_sets.add(" My\n questions ", QUESTIONS, corpus_id="c1")
    assert bench.question_sets.add("My questions", QUESTIONS) == id_
    assert bench.question_sets.add("Others", QUESTIONS) != id_
    assert bench.question_sets.questions(id_) == QUESTIONS
    card = bench.question_sets.card(id_)
    assert (card.title, card.n, card.n_evidence, card.n_answers, card.origin) == ("My questions", 2, 1, 1, WRITTEN)
    assert dict(card.kinds) == {"multi-hop": 1, "single-hop": 1}
    assert bench.question_sets.all()[5:] == (bench.question_sets.card(id_), *bench.question_sets.all()[6:])
    bench.question_sets.delete(id_)
    with pytest.raises(QuestionSetNotFound, match="no question set"):  # although it was read before
        bench.question_sets.questions(id_)


def test_an_uploaded_file_names_no_path(bench: Workbench, tmp_path: Path) -> None:
    id_ = bench.question_sets.add_file("../../etc/x.csv", b"question\n<script>alert(1)</script>\n")
    assert (bench.question_sets.card(id_).title, bench.question_sets.card(id_).origin) == ("x", UPLOADED)
    stored = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert {path.parent.name for path in stored} == {"question_sets"}
    assert bench.question_sets.questions(id_)[0].question == "<script>alert(1)</script>"
    assert read_set(bench.question_sets.content(id_), "x.jsonl") == bench.question_sets.questions(id_)


@pytest.mark.parametrize("id_", ["", "..", "../settings", "0123456789abcdef/../x", "0123456789ABCDEF", "sample-none"])
def test_an_id_cannot_leave_the_store(bench: Workbench, id_: str) -> None:
    for ask in (bench.question_sets.questions, bench.question_sets.card, bench.question_sets.delete):
        with pytest.raises(QuestionSetNotFound):
            ask(id_)


def test_a_set_without_title_or_question_is_refused(bench: Workbench) -> None:
    with pytest.raises(InvalidConfig, match="title"):
        bench.question_sets.add("  ", QUESTIONS)
    with pytest.raises(InvalidConfig, match="holds no question"):
        bench.question_sets.add("Empty", ())
    with pytest.raises(InvalidConfig, match="has the id '1' of line 1"):
        bench.question_sets.add("Twice", (QUESTIONS[0], QUESTIONS[0]))


def test_a_card_that_was_damaged_hides_its_set_and_no_other(bench: Workbench, tmp_path: Path) -> None:
    id_, other = bench.question_sets.add("A", QUESTIONS), bench.question_sets.add("B", QUESTIONS)
    (tmp_path / "question_sets" / f"{id_}.json").write_text("{", encoding="utf-8")
    assert [card.id for card in bench.question_sets.all()[5:]] == [other]


def test_more_sets_than_are_kept_are_read_again(bench: Workbench) -> None:
    ids = [bench.question_sets.add(f"Set {number}", (GoldQuestion(str(number), "Who?"),)) for number in range(7)]
    for _ in range(2):
        assert [bench.question_sets.questions(id_)[0].id for id_ in ids] == [str(number) for number in range(7)]
