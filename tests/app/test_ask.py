import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from markupsafe import Markup
from streamlit.testing.v1 import AppTest

from leanrag_core import IndexConfig, Workbench
from leanrag_core.messages.catalog import sentence as words
from leanrag_core.retrieval import strategies
from leanrag_core.retrieval.base import strategies as all_strategies
from leanrag_core.types.trace import Answer
from leanrag_core.workbench.settings import AskedWith
from pages.common import forms
from tests.app import drawn
from tests.app.conftest import QUESTIONS

Visit = Callable[..., AppTest]
QUESTION = "What do beekeepers use against Varroa destructor?"


def graph(app: AppTest) -> Any:
    [drawing] = drawn.plays(app)
    return {**drawing["play"]["layouts"][-1], **drawing["play"], **drawing}


def test_a_question_is_answered_with_its_sources(home: Workbench, visit: Visit) -> None:
    app = visit("ask", home, q=QUESTION)
    drawn.assert_sound(app)
    [answer] = drawn.component(app, "lr_citations")
    assert "oxalic acid" in "".join(part["text"] for part in answer["parts"])
    assert all(mark["title"] for part in answer["parts"] for mark in part["marks"])
    assert {part["from"] for part in answer["parts"]} <= {"source chunk", "entity", "aggregated entity", "relation"}
    assert answer["parts"][0]["from"] == "source chunk"
    assert "Extractive answer" in drawn.text(app)
    assert graph(app)["n_seeds"] == 10
    assert app.text_area("lr_draft").value == QUESTION


@pytest.mark.parametrize("name", ["least_cosine", "max_tokens"])
def test_a_link_with_any_option_keeps_the_settings_of_the_index_out(home: Workbench, visit: Visit, name: str) -> None:
    home.defaults.use(home.indexes.all()[0].id, AskedWith("vector", {"top_c": 3}))
    assert visit("ask", home).query_params["c"] == "3"
    app = visit("ask", home, **{f"vector_{name}": "1"})
    drawn.assert_sound(app)
    assert (app.query_params.get("c"), app.query_params[f"vector_{name}"]) == (None, "1")


def test_a_question_that_is_written_and_sent_is_in_the_link(home: Workbench, visit: Visit) -> None:
    app = visit("ask", home)
    app.text_area("lr_draft").input(f"  {QUESTION}\n ")
    next(button for button in app.button if button.label == "Ask").click().run()
    drawn.assert_sound(app)
    assert app.query_params["q"] == QUESTION
    assert drawn.component(app, "lr_citations")


def test_examples_of_the_corpus_can_be_asked(home: Workbench, visit: Visit) -> None:
    app = visit("ask", home)
    drawn.assert_sound(app)
    assert "What does a hive weigh?" not in drawn.text(app), "the built-in engine would answer it wrongly"
    hostile = app.button("example_1")
    assert hostile.label == r"Is \$x\$ \<b\>less\</b\> than \[y\]\(http\://y\)?"
    hostile.click().run()
    drawn.assert_sound(app)
    assert app.query_params["q"] == QUESTIONS[1]["question"]


def test_frames_light_each_item_once_the_seeds_in_the_first_step(home: Workbench, visit: Visit) -> None:
    app = visit("ask", home, q=QUESTION, step="climb.1")
    shown = graph(app)
    lit = [id_ for frame in shown["frames"] for id_ in frame["items"]]
    assert sorted(lit) == sorted(shown["items"])
    seeds = {id_ for frame in shown["frames"] if frame["step"] == 0 for id_ in frame["items"]}
    assert seeds == {id_ for id_, item in shown["items"].items() if item["kind"] == "Entity"}
    assert [segment["name"] for segment in shown["segments"]][:3] == ["seeds", "climb", "lca"]
    assert shown["start"] == "climb.1"
    assert app.query_params["step"] == "climb.1"


def test_a_slider_without_a_scale_reaches_its_bound(home: Workbench, visit: Visit) -> None:
    app = visit("ask", home, q=QUESTION, strategy="pathrag")
    paths = app.slider("lr_pathrag_n_paths")
    assert (paths.value, paths.max) == (15, 100)
    paths.set_value(90).run()
    drawn.assert_sound(app)
    assert app.slider("lr_pathrag_n_paths").value == 90


def test_a_setting_shows_what_it_changed(home: Workbench, visit: Visit) -> None:
    app = visit("ask", home, q=QUESTION)
    assert "What changed" not in drawn.text(app)
    app.slider("lr_n").set_value(2).run()
    drawn.assert_sound(app)
    page_text = drawn.text(app)
    assert "What changed" in page_text
    assert "Top-N seeds: 10 to 2" in page_text
    assert graph(app)["n_seeds"] == 2
    assert app.query_params["n"] == "2"


def test_the_graph_can_be_read_as_a_table(home: Workbench, visit: Visit) -> None:
    app = visit("ask", home, q=QUESTION, show="table")
    drawn.assert_sound(app)
    assert graph(app)["table"] is True
    roles = [item["role"] for item in graph(app)["items"].values()]
    assert (roles.count("Seed, with rank"), roles.count("LCA")) == (10, 1)


def test_a_node_of_a_link_has_its_card(home: Workbench, visit: Visit) -> None:
    node = graph(visit("ask", home, q=QUESTION))["nodes"][0]
    app = visit("ask", home, q=QUESTION, node=node["id"])
    drawn.assert_sound(app)
    assert graph(app)["picked"] == node["id"]
    assert set(graph(app)["explorable"]) == {id_ for id_, item in graph(app)["items"].items() if "layer" in item}


def test_a_chunk_card_opens_its_document(home: Workbench, visit: Visit) -> None:
    app = visit("ask", home, q=QUESTION)
    next(button for button in app.button if button.label == "Open in document").click().run()
    drawn.assert_sound(app)
    [passage] = drawn.component(app, "lr_passage")
    assert any("name" in piece["marks"] for piece in passage["pieces"])


def test_a_chunk_card_quotes_the_sentence_that_the_answer_cites(home: Workbench, visit: Visit) -> None:
    app = visit("ask", home, q="Who patented the Langstroth hive?")
    [answer] = drawn.component(app, "lr_citations")
    said = [part["text"] for part in answer["parts"] if part["from"] == "source chunk"]
    cards = [body for body in drawn.html(app) if '<div class="lr-chunk">' in body]
    quoted = [
        Markup(each).striptags() for card in cards for each in re.findall('<span class="cited">(.*?)</span>', card)
    ]
    assert quoted
    assert any(each in sentence for each in quoted for sentence in said)


def test_a_strategy_without_a_graph_says_so(home: Workbench, visit: Visit) -> None:
    names = [info.name for info in all_strategies().strategies]
    app = visit("ask", home, q=QUESTION, strategy=next(name for name in names if name == "vector"))
    drawn.assert_sound(app)
    assert "This strategy does not use the hierarchy" in graph(app)["notes"][-1]
    near = home.retrieve(home.indexes.open(home.indexes.all()[0].id), QUESTION, "vector").passages
    assert len(graph(app)["cards"][-1]["cards"]) == len(near) > 0, "all chunks that are near enough"
    assert graph(app)["nodes"] == []
    assert drawn.component(app, "lr_citations")


def test_a_question_that_the_documents_do_not_answer_is_not_answered(home: Workbench, visit: Visit) -> None:
    app = visit("ask", home, q="Which opera did Verdi write in 1853?")
    drawn.assert_sound(app)
    assert drawn.component(app, "lr_citations") == []
    assert "No passage that was read answers this, as far as can be told." in drawn.text(app)
    assert "Ask in other words, or raise the numbers beside the strategy." in drawn.text(app)
    [kept] = home.history.matching("Which opera did Verdi")
    assert kept.answer.startswith("No passage that was read answers this")


@pytest.mark.parametrize("question", ["<img src=x onerror=alert(1)>", "Bzz" * 900, "$\\frac{1}{2}$ [x](y) `z`", "?!"])
def test_any_question_is_taken_as_text(question: str, home: Workbench, visit: Visit) -> None:
    app = visit("ask", home, q=question)
    drawn.assert_sound(app)
    assert app.text_area("lr_draft").value == question
    assert app.query_params["q"] == question


def test_a_citation_that_refers_to_an_entity_opens_in_a_drawer(home: Workbench, visit: Visit) -> None:
    index = home.indexes.open(home.indexes.all()[0].id)
    trace = home.retrieve(index, QUESTION)
    for section, shown_text in (("entities", "L0"), ("relations", " and ")):
        item = trace.context.section(section).items[0]
        app = visit("ask", home, q=QUESTION, at=item.ref)
        drawn.assert_sound(app)
        assert any(f">{item.mark}</span>" in body and shown_text in body for body in drawn.html(app)[-3:])
        [answer] = drawn.component(app, "lr_citations")
        assert answer["open"] == item.mark
        assert app.query_params["at"] == item.ref


def test_a_link_opens_a_passage_at_what_the_answer_cites_of_it(home: Workbench, visit: Visit) -> None:
    made = home.ask(home.indexes.open(home.indexes.all()[0].id), QUESTION)
    mark = next(mark for mark in made.citations if mark.startswith("C"))
    section = made.trace.context.section("chunks")
    ref = next(item.ref for item in section.items if item.mark == mark)
    app = visit("ask", home, q=QUESTION, at=ref)
    drawn.assert_sound(app)
    [passage] = drawn.component(app, "lr_passage")
    cited = "".join(piece["text"] for piece in passage["pieces"] if "cited" in piece["marks"])
    assert cited in next(part.text for part in made.parts if mark in part.marks)
    assert cited
    # Of a chunk that this retrieval lacks, its document alone is shown; an id of nothing is forgotten.
    rest = visit("ask", home, q=QUESTION, n="1", c="1", at=home.indexes.open(home.indexes.all()[0].id).chunk(3).id)
    drawn.assert_sound(rest)
    assert len(drawn.component(rest, "lr_passage")) == 1
    assert "at" not in visit("ask", home, q=QUESTION, at="nothing").query_params


def test_what_was_retrieved_is_told_from_what_is_cited(home: Workbench, visit: Visit) -> None:
    made = home.ask(home.indexes.open(home.indexes.all()[0].id), QUESTION)
    app = visit("ask", home, q=QUESTION)
    [answer] = drawn.component(app, "lr_citations")
    by_title = {section["title"]: section for section in answer["items"]}
    for section in made.trace.context.sections:
        cited = [item.mark for item in section.items if item.mark in made.citations]
        shown = by_title[words(section.title)]
        assert (shown["cited"], [mark["name"] for mark in shown["marks"][: len(cited)]]) == (len(cited), cited)
        assert len(shown["marks"]) == len(section.items)
    chunks = made.trace.context.section("chunks").items
    n_cited = sum(item.mark in made.citations for item in chunks)
    assert drawn.text(app).count("retrieved, not cited") == len(chunks) - n_cited > 0
    quoted = [mark["quote"] for part in answer["parts"] for mark in part["marks"] if mark["name"].startswith("C")]
    assert any(cited for piece in quoted for _, cited in piece), "the sentence is marked in its passage"


def one_answer(answer: "Answer") -> None:
    from pages.ask import citations
    from pages.common import state

    state.read_url("ask")
    citations.show(answer, open_mark="", key="lr_citations", on_cite=lambda mark: None, all_items=True)


def test_of_each_section_the_cited_items_are_listed_first(home: Workbench) -> None:
    made = home.ask(home.indexes.open(home.indexes.all()[0].id), QUESTION)
    marks = [item.mark for item in made.trace.context.section("chunks").items]
    app = AppTest.from_function(one_answer, kwargs={"answer": replace(made, citations=(marks[-1],))}).run()
    drawn.assert_sound(app)
    [shown] = drawn.component(app, "lr_citations")
    listed = next(section["marks"] for section in shown["items"] if section["section"] == "chunks")
    assert [mark["name"] for mark in listed] == [marks[-1], *marks[:-1]]


def test_where_nothing_is_retrieved_there_is_no_play_to_pin_or_to_save(home: Workbench, visit: Visit) -> None:
    app = visit("ask", home, q=QUESTION, strategy="zero_shot")
    drawn.assert_sound(app)
    assert "Nothing was retrieved" in drawn.text(app)
    assert not {"Pin this run", "Play as HTML"} & {button.label for button in app.button}
    assert "Pin this run" in {button.label for button in visit("ask", home, q=QUESTION).button}


def test_the_context_is_sent_when_a_person_opens_it(home: Workbench, visit: Visit) -> None:
    made = home.retrieve(home.indexes.open(home.indexes.all()[0].id), QUESTION)
    app = visit("ask", home, q=QUESTION)
    assert not app.code
    app.session_state["context_fold"] = True
    assert [block.value.strip() for block in app.run().code] == [made.context.text.strip()]


def test_a_context_that_lacks_something_says_so_beside_the_token_bar(home: Workbench, visit: Visit) -> None:
    assert "The context is not complete" not in drawn.text(visit("ask", home, q=QUESTION))
    app = visit("ask", home, q=QUESTION, leanrag_entity_tokens="80", leanrag_relation_tokens="30")
    drawn.assert_sound(app)
    page_text = drawn.text(app)
    assert "The context is not complete." in page_text
    assert "of 10 seed entities did not fit" in page_text
    assert "the 80 tokens of the entities." in page_text
    assert "the 30 tokens of the relations." in page_text


def test_a_budget_of_the_context_is_not_called_the_size_of_a_chunk() -> None:
    assert forms.title_of("chunk_tokens") == "Budget: chunks, tokens"
    assert forms.title_of("chunk_tokens", IndexConfig) == "Chunk size, tokens"


def test_a_question_that_is_too_long_is_reported_and_stays_out_of_the_link(home: Workbench, visit: Visit) -> None:
    app = visit("ask", home, q=QUESTION)
    ask = next(button for button in app.button if button.label == "Ask")
    app.text_area("lr_draft").input("why " * 250_000)
    ask.click().run()
    drawn.assert_sound(app)
    assert "The question has 999,999 characters, the limit is 4,000: shorten it" in drawn.text(app)
    assert app.query_params["q"] == QUESTION
    app.text_area("lr_draft").input("Who keeps bees?")
    next(button for button in app.button if button.label == "Ask").click().run()
    assert "shorten it" not in drawn.text(app)
    assert app.query_params["q"] == "Who keeps bees?"


def test_a_broken_strategy_file_is_reported_and_the_others_work(
    home: Workbench, visit: Visit, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "spoilt.py").write_text("raise RuntimeError('<b>no key</b> is set')")
    monkeypatch.setattr(strategies, "__path__", [*strategies.__path__, str(tmp_path)])
    app = visit("ask", home, q=QUESTION)
    drawn.assert_sound(app)
    assert "The file spoilt.py cannot be loaded: <b>no key</b> is set." in drawn.text(app)
    assert drawn.component(app, "lr_citations")


@pytest.mark.parametrize("method", ["__init__", "retrieve"])
def test_a_strategy_that_raises_is_named_and_another_one_can_be_chosen(
    home: Workbench, visit: Visit, monkeypatch: pytest.MonkeyPatch, method: str
) -> None:
    def failing(self: Any, *given: Any) -> None:
        raise RuntimeError("<b>no table</b>")

    monkeypatch.setattr(all_strategies().named("bm25").strategy, method, failing)
    app = visit("ask", home, q=QUESTION, strategy="bm25")
    drawn.assert_sound(app)
    text = drawn.text(app)
    assert "The strategy bm25 failed in line" in text
    assert ": <b>no table</b>" in text
    app.selectbox("lr_strategy").set_value("vector").run()
    drawn.assert_sound(app)
    assert drawn.component(app, "lr_citations")


def test_a_preset_sets_the_options_of_its_strategy_and_the_line_says_what_differs(
    home: Workbench, visit: Visit
) -> None:
    app = visit("ask", home, q=QUESTION, strategy="leanrag", n="4")
    assert "The paper's method" in drawn.text(app)
    assert app.slider("lr_n").value == 4
    app.button("preset_leanrag_compact").click().run()
    drawn.assert_sound(app)
    assert app.query_params["leanrag_context"] == "compact"
    assert app.slider("lr_n").value == 10, "what a preset does not name is at its default"
    app.button("preset_leanrag_paper").click().run()
    assert "leanrag_context" not in app.query_params
