"""The Compare page: columns with settings of their own, what they share, and links that open the same again."""

import json
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from leanrag_core import IndexConfig, Workbench
from leanrag_core.errors import EndpointError, PartMissing
from leanrag_core.messages.message import Message, message
from leanrag_core.types.calls import NO_USAGE
from leanrag_core.types.trace import AnswerPart, Trace
from pages.ask import part_view
from pages.compare import fragments, side_by_side
from tests.app import drawn
from tests.app.compared import QUESTION, rows
from tests.app.conftest import CORPUS

Visit = Callable[..., AppTest]


def test_without_a_question_examples_are_offered_and_answered_by_both_columns(home: Workbench, visit: Visit) -> None:
    app = visit("compare", home)
    drawn.assert_sound(app)
    assert "2 columns on one index" in drawn.text(app)
    app.button("example_0").click().run()
    drawn.assert_sound(app)
    assert app.query_params["q"] == QUESTION
    assert len(rows(app)) == len(drawn.component(app, "lr_citations")) == 2
    assert "What their contexts share" in drawn.text(app)


def test_without_examples_none_are_spoken_of(empty_home: Workbench, visit: Visit) -> None:
    corpus = empty_home.add_documents("Mill", [("mill.txt", b"The mill in Trieste was bought by Ferrante.")]).corpus_id
    empty_home.build(corpus, IndexConfig(cluster_size=3))
    app = visit("compare", empty_home)
    drawn.assert_sound(app)
    assert "take one of these" not in drawn.text(app)
    assert "Each column answers a question with a strategy of its own." in drawn.text(app)


def test_columns_start_with_leanrag_and_the_vector_baseline(home: Workbench, visit: Visit) -> None:
    app = visit("compare", home, q=QUESTION)
    drawn.assert_sound(app)
    page_text = drawn.text(app)
    assert page_text.index("LeanRAG") < page_text.index("Naive RAG")
    left, right = rows(app)
    owners = {row["id"]: row["owners"] for row in (*left, *right)}
    both = {row["id"] for row in left} & {row["id"] for row in right}
    assert both
    assert all(owners[id_] == ["A", "B"] for id_ in both)
    assert next(row["retrievedBy"] for row in left if row["id"] in both).startswith("Retrieved by A, B;")
    assert all(row["alone"] == (row["id"] not in both) for row in (*left, *right))
    pictures = drawn.component(app, "lr_drawing")
    assert len(pictures) >= 4, "a subgraph or ranking for each column, and a picture for each kind of items"


def test_a_column_that_retrieved_nothing_says_so_and_nothing_of_its_strategy(home: Workbench, visit: Visit) -> None:
    app = visit("compare", home, q="zxqv", cols="ab", b_strategy="vector")
    drawn.assert_sound(app)
    assert rows(app)[1] == []
    assert "No passages were retrieved." in drawn.text(app)


def test_a_link_holds_the_settings_of_every_column(home: Workbench, visit: Visit) -> None:
    link = {"q": QUESTION, "cols": "abc", "a_n": "3", "b_strategy": "leanrag", "b_use": "", "b_leanrag_use": "none",
            "c_strategy": "vector", "c_c": "1", "base": "c", "cview": "contexts", "differ": "1"}  # fmt: skip
    app = visit("compare", home, **{name: value for name, value in link.items() if value})
    drawn.assert_sound(app)
    shown = dict(app.query_params)
    assert shown.pop("index")
    assert shown == {name: value for name, value in link.items() if value and (name, value) != ("c_strategy", "x")}
    again = visit("compare", home, **shown)
    assert drawn.html(again) == drawn.html(app)


def test_no_key_of_a_model_is_ever_in_a_link(home: Workbench, visit: Visit) -> None:
    app = visit("compare", home, q=QUESTION, a_api_key="sk-secret", api_key="sk-secret")
    assert "sk-secret" not in json.dumps(dict(app.query_params))


def test_a_column_is_added_and_taken_away(home: Workbench, visit: Visit) -> None:
    app = visit("compare", home, q=QUESTION, c_strategy="vector", d_strategy="leanrag")
    app.button("compare_add").click().run()
    drawn.assert_sound(app)
    assert app.query_params["cols"] == "abc"
    assert len(rows(app)) == 3
    app.button("compare_add").click().run()
    assert app.button("compare_add").disabled
    assert len(rows(app)) == 4
    again = visit("compare", home, q=QUESTION, cols="acd", c_strategy="vector", d_strategy="leanrag")
    assert [shown["letters"] for shown in drawn.component(again, "lr_chunk_rows")] == [["A", "C", "D"]] * 3
    twice = visit("compare", home, q=QUESTION, cols="aab")
    assert len(rows(twice)) == 2, "a link that names a column twice is not followed"


def test_the_pinned_column_is_the_baseline_of_the_others(home: Workbench, visit: Visit) -> None:
    app = visit("compare", home, q=QUESTION)
    app.button("compare_pin_b").click().run()
    drawn.assert_sound(app)
    assert app.query_params["base"] == "b"
    assert "tokens, the baseline" in drawn.text(app)
    assert "% of B" in drawn.text(app)
    app.button("compare_pin_b").click().run()
    assert "base" not in app.query_params


def test_only_differences_hides_what_every_column_has(home: Workbench, visit: Visit) -> None:
    app = visit("compare", home, q=QUESTION, differ="1")
    drawn.assert_sound(app)
    assert all(row["owners"] != ["A", "B"] for column in rows(app) for row in column)
    whole, different = (drawn.text(visit("compare", home, q=QUESTION, cview="contexts", differ=on)) for on in "01")
    assert len(different) < len(whole)


def test_the_contexts_of_equal_columns_hold_the_same_items(home: Workbench, visit: Visit) -> None:
    app = visit("compare", home, q=QUESTION, b_strategy="leanrag", cview="contexts", differ="1")
    drawn.assert_sound(app)
    assert "The contexts hold the same items." in drawn.text(app)


def test_a_column_that_fails_says_why_and_the_others_stand(
    home: Workbench, visit: Visit, monkeypatch: pytest.MonkeyPatch
) -> None:
    retrieve = Workbench.retrieve

    def fail(bench: Workbench, index: Any, question: str, strategy_name: str = "leanrag", **options: Any) -> Trace:
        if strategy_name == "vector":
            raise EndpointError("the endpoint <b>fell</b> over")
        return retrieve(bench, index, question, strategy_name, **options)

    monkeypatch.setattr(Workbench, "retrieve", fail)
    app = visit("compare", home, q=QUESTION)
    drawn.assert_sound(app)
    assert "The endpoint <b>fell</b> over." in drawn.text(app)
    assert len(rows(app)) == 1


def test_a_missing_part_is_made_as_a_job_when_a_person_says_so(
    home: Workbench, visit: Visit, launched: list[Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    retrieve = Workbench.retrieve

    def lacks(bench: Workbench, index: Any, question: str, strategy_name: str = "leanrag", **options: Any) -> Trace:
        if strategy_name == "vector":
            raise PartMissing("part.missing", part="chroma")
        return retrieve(bench, index, question, strategy_name, **options)

    monkeypatch.setattr(Workbench, "retrieve", lacks)
    monkeypatch.setattr(part_view, "_QUICK_SECONDS", -1.0)
    for page in ("ask", "compare"):
        app = visit(page, home, q=QUESTION, strategy="vector")
        drawn.assert_sound(app)
        assert "needs the index part" in drawn.text(app)
        assert "no model is called" in drawn.text(app), "what it takes is said before"
    assert launched == [], "nothing is made before a person says so"
    app.button("b_make_part").click().run()
    drawn.assert_sound(app)
    [job] = home.jobs.all()
    assert (job.config["part"], [folder.name for folder in launched]) == ("chroma", [job.id])
    assert "Making " in drawn.text(app)
    assert len(rows(app)) == 1, "the other column stands"
    app.run()
    assert len(launched) == 1, "it is made once"


def test_two_indexes_stand_side_by_side(home: Workbench, visit: Visit) -> None:
    [first] = home.indexes.all()
    second = home.build(CORPUS, IndexConfig(cluster_size=4))
    app = visit("compare", home, q=QUESTION, index=first.id, b_strategy="leanrag", b_index=second.path.name)
    drawn.assert_sound(app)
    assert "2 columns of LeanRAG; they differ in clustersize" in drawn.text(app)
    left, _ = rows(app)
    assert any(row["owners"] == ["A", "B"] for row in left), "the chunks are the same"
    app = visit("compare", home, q=QUESTION, index=first.id, b_index=second.path.name)
    assert "2 columns on 2 indexes" in drawn.text(app)


def test_a_column_whose_index_is_gone_says_so_and_asks_no_other(home: Workbench, visit: Visit) -> None:
    app = visit("compare", home, q=QUESTION, b_index="../<b>gone")
    assert "Column B: the index ../<b>gone was deleted" in drawn.text(app)
    assert rows(app) == []
    app.button("compare_index_B").click().run()
    drawn.assert_sound(app)
    assert "b_index" not in app.query_params
    assert len(rows(app)) == 2


def test_nonsense_in_a_link_is_passed_over(home: Workbench, visit: Visit) -> None:
    hostile = "<script>alert(1)</script>"
    names = ("cols", "base", "cview", "budget", "a_strategy", "equal", "a_n", "differ", "phone", "shared", "a_step")
    app = visit("compare", home, q=QUESTION, mark=f"entity:{hostile}", **dict.fromkeys(names, hostile))
    drawn.assert_sound(app)
    assert len(rows(app)) == 2


def test_the_page_opens_without_an_index(empty_home: Workbench, visit: Visit) -> None:
    app = visit("compare", empty_home, q=QUESTION)
    drawn.assert_sound(app)
    assert "No index yet" in drawn.text(app)


def test_ask_leads_to_compare_beside_naive_rag_with_its_settings(home: Workbench, visit: Visit) -> None:
    app = visit("ask", home, q=QUESTION, n="3", c="2", leanrag_use="findings,source_chunks")
    drawn.assert_sound(app)
    app.button("compare_naive").click().run()
    drawn.assert_sound(app)
    shown = dict(app.query_params)
    assert shown.pop("index")
    assert shown == {"q": QUESTION, "a_n": "3", "a_c": "2", "a_leanrag_use": "findings,source_chunks"}
    left, right = rows(app)
    assert (len(left), len(right)) == (
        2,
        len(home.retrieve(home.indexes.open(home.indexes.all()[0].id), QUESTION, "vector").passages),
    )
    lexical = visit("ask", home, q=QUESTION, strategy="bm25")
    assert "Beside naive RAG: " in drawn.text(lexical)
    naive = visit("ask", home, q=QUESTION, strategy="vector")
    assert "Beside naive RAG" not in drawn.text(naive)


MIXED = {
    "bienen.txt": "Die Bienen sammeln im Sommer Nektar und bringen ihn in den Stock. Der Imker prüft die Waben. ",
    "نحل.txt": "يجمع النحل الرحيق في الصيف ويحمله إلى الخلية. يفحص النحال الأقراص مرة في الأسبوع ويبحث عن الملكة. ",
    "דבורים.txt": "הדבורים אוספות צוף בקיץ ומביאות אותו לכוורת. הכוורן בודק את החלות פעם בשבוע ומחפש את המלכה. ",
}


def test_that_a_question_is_in_another_language_is_said_once_of_all_documents_of_the_index(
    empty_home: Workbench, visit: Visit
) -> None:
    corpus = empty_home.add_documents("Bees", [(name, (text * 4).encode()) for name, text in MIXED.items()]).corpus_id
    empty_home.build(corpus, IndexConfig(cluster_size=3, chunk_tokens=64, overlap_tokens=8))
    app = visit("compare", empty_home, q="What do the bees gather and where do they bring it?")
    drawn.assert_sound(app)
    page_text = drawn.text(app)
    assert page_text.count("The question seems to be in English") == 1
    assert "the documents are in Hebrew, Arabic and German." in page_text
    assert page_text.count("No passage that was read answers this") == 2


def test_a_reason_stands_above_the_columns_only_where_none_of_them_answers() -> None:
    reason = message("answer.other_language")

    def column(because: Message | None, index: str = "bees") -> Any:
        trace = SimpleNamespace(index=SimpleNamespace(id=index))
        return SimpleNamespace(trace=trace, answer=SimpleNamespace(because=because))

    assert side_by_side._reason_of_all([column(reason), column(reason)]) == reason
    assert side_by_side._reason_of_all([column(reason), column(None)]) is None
    assert side_by_side._reason_of_all([column(None), column(reason)]) is None
    assert side_by_side._reason_of_all([column(reason), column(reason, "wasps")]) is None


def test_a_column_says_its_share_of_the_first_ones_tokens() -> None:
    def loaded(letter: str, tokens: int) -> Any:
        context = SimpleNamespace(tokens=tokens)
        trace = SimpleNamespace(context=context, timings_ms={}, usage=NO_USAGE)
        return SimpleNamespace(letter=letter, trace=trace, answer=None)

    first, second = loaded("A", 2000), loaded("B", 500)
    assert "tokens, 25 % of A" in fragments.figures(second, first, (0, 1))
    assert "tokens, 400 % of B" in fragments.figures(first, second, (0, 1))


def test_an_answer_that_is_higher_than_its_box_can_be_shown_whole() -> None:
    def of(*sentences: str) -> list[AnswerPart]:
        return [AnswerPart(sentence, ("C1", "E1")) for sentence in sentences]

    assert not side_by_side.is_long(of("Bees dance.", "Ants walk."))
    assert side_by_side.is_long(of("Bees dance in the hive. " * 20))
    chinese = ("宝瓶口是在玉垒山伸向江中的山崖上凿出的引水口，宽约二十米。", "现存的卧铁有四根，分别铸于四个年份。" * 2)
    assert not side_by_side.is_long(of(*chinese))
    assert side_by_side.is_long(of(*chinese * 2)), "a Chinese character is wide, and each sentence begins a line"
