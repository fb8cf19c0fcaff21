"""The Compare page: columns with settings of their own, what they share, and links that open the same again."""

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from leanrag_core import IndexConfig, Workbench
from leanrag_core.comparing.gold_passages import GoldFinder
from leanrag_core.comparing.lost_evidence import lane
from leanrag_core.comparing.recorded import comparison_of, content_of
from leanrag_core.comparing.sharing import Shared, compare
from leanrag_core.errors import EndpointError, LeanRAGError, PartMissing
from leanrag_core.retrieval import strategies
from leanrag_core.types.trace import Trace
from pages._shared.ask import result_view
from pages._shared.common import session
from pages._shared.compare import export
from pages._shared.compare.gold_view import GoldOf, found_ids
from pages._shared.compare.loading import Head, Loaded
from pages._shared.compare.saved_view import recorded
from tests.app import drawn
from tests.app.conftest import CORPUS, QUESTIONS

QUESTION = QUESTIONS[0]["question"]
FOLDER = Path(__file__).with_name("strategies")
Visit = Callable[..., AppTest]


def rows(app: AppTest) -> list[list[dict[str, Any]]]:
    """The passages of each column."""
    return [shown["rows"] for shown in drawn.component(app, "lr_chunk_rows")]


def test_without_a_question_examples_are_offered_and_answered_by_both_columns(home: Workbench, visit: Visit) -> None:
    app = visit("compare", home)
    drawn.assert_sound(app)
    assert "2 columns on one index" in drawn.text(app)
    app.button("example_0").click().run()
    drawn.assert_sound(app)
    assert app.query_params["q"] == QUESTION
    assert len(rows(app)) == len(drawn.component(app, "lr_citations")) == 2
    assert "What they share" in drawn.text(app)


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
    assert all(row["alone"] == (row["id"] not in both) for row in (*left, *right))
    pictures = drawn.component(app, "lr_drawing")
    assert len(pictures) >= 4, "a subgraph or ranking for each column, and a picture for each kind of items"


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
    for page in ("ask", "compare"):
        app = visit(page, home, q=QUESTION, strategy="vector")
        drawn.assert_sound(app)
        assert "needs the index part" in drawn.text(app)
        assert "no model is called" in drawn.text(app), "what it takes is said before"
    assert launched == [], "nothing is made before a person says so"
    app.button("b_make_part").click().run()
    drawn.assert_sound(app)
    [job] = home.jobs()
    assert (job.config["part"], [folder.name for folder in launched]) == ("chroma", [job.id])
    assert "Making " in drawn.text(app)
    assert len(rows(app)) == 1, "the other column stands"
    app.run()
    assert len(launched) == 1, "it is made once"


def test_two_indexes_stand_side_by_side(home: Workbench, visit: Visit) -> None:
    [first] = home.indexes()
    second = home.build(CORPUS, IndexConfig(cluster_size=4))
    app = visit("compare", home, q=QUESTION, index=first.id, b_strategy="leanrag", b_index=second.path.name)
    drawn.assert_sound(app)
    assert "2 columns on 2 indexes" in drawn.text(app)
    left, _ = rows(app)
    assert any(row["owners"] == ["A", "B"] for row in left), "the chunks are the same"


@pytest.fixture
def debate(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """A strategy that calls a model, as if these indexes had an endpoint; returns what was run."""
    run: list[str] = []
    retrieve = Workbench.retrieve

    def count(bench: Workbench, index: Any, question: str, strategy_name: str = "leanrag", **options: Any) -> Trace:
        run.append(strategy_name)
        return retrieve(bench, index, question, strategy_name, **options)

    monkeypatch.setattr(strategies, "__path__", [*strategies.__path__, str(FOLDER)])
    monkeypatch.setattr(Workbench, "asks_model", lambda bench, model: True)
    monkeypatch.setattr(Workbench, "retrieve", count)
    return run


def test_a_strategy_that_calls_a_model_runs_when_compare_is_pressed_and_not_before(
    home: Workbench, visit: Visit, debate: list[str]
) -> None:
    app = visit("compare", home, q=QUESTION, a_strategy="debate")
    drawn.assert_sound(app)
    assert "debate" not in debate
    assert "Press Compare to run it." in drawn.text(app)
    assert len(rows(app)) == 1, "the other column is there at once"
    next(button for button in app.button if button.label == "Compare").click().run()
    drawn.assert_sound(app)
    assert debate.count("debate") == 1
    assert len(rows(app)) == 2
    app.run()
    assert debate.count("debate") == 1, "it is kept"


def test_an_error_of_a_model_is_told_once_and_not_tried_again_by_itself(
    home: Workbench, visit: Visit, debate: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    tried: list[str] = []
    retrieve = Workbench.retrieve

    def fail(bench: Workbench, index: Any, question: str, strategy_name: str = "leanrag", **options: Any) -> Trace:
        if strategy_name == "debate":
            tried.append(question)
            raise LeanRAGError("the model is gone")
        return retrieve(bench, index, question, strategy_name, **options)

    monkeypatch.setattr(Workbench, "retrieve", fail)
    app = visit("compare", home, q=QUESTION, a_strategy="debate")
    next(button for button in app.button if button.label == "Compare").click().run()
    drawn.assert_sound(app)
    assert "The model is gone." in drawn.text(app)
    assert tried == [QUESTION]
    app.run()
    assert tried == [QUESTION]


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


GOLD = (
    {
        "question": QUESTION,
        "type": "single-hop",
        "evidence": [
            {"document": "bees.md", "quote": "Beekeepers treat Varroa destructor with oxalic acid in winter."},
            {"document": "hives.txt", "quote": "Lorenzo Langstroth patented the hive in 1852."},
        ],
    },
    {
        "question": "Who patented the hive?",
        "evidence": [{"document": "hives.txt", "quote": "Lorenzo Langstroth patented the hive in 1852."}],
    },
)


@pytest.fixture
def gold(samples: Path) -> Iterator[None]:
    """The sample's questions have gold evidence."""
    path = samples / "agriculture" / "questions.jsonl"
    before = path.read_text(encoding="utf-8")
    path.write_text("\n".join(json.dumps(question) for question in GOLD), encoding="utf-8")
    yield
    path.write_text(before, encoding="utf-8")


def lanes(app: AppTest) -> list[str]:
    """What the lanes of the columns say to a reader who does not see them."""
    return [shown["drawings"][0]["label"] for shown in drawn.component(app, "lr_drawing")]


@pytest.mark.usefixtures("gold")
def test_a_lost_passage_is_followed_to_where_it_was_lost_and_what_finds_it_was_tried(
    home: Workbench, visit: Visit
) -> None:
    app = visit("compare", home, q=QUESTION, cview="missed", piece="1", b_c="1", a_c="1")
    drawn.assert_sound(app)
    assert "Question 1 of 2" in drawn.text(app)
    assert "Lorenzo Langstroth patented the hive in 1852." in drawn.text(app)
    first, second = lanes(app)
    assert "lost at" in first
    assert "lost at “Within top-C”" in second
    app.button("missed_try_b").click().run()
    drawn.assert_sound(app)
    assert int(app.query_params["b_c"]) > 1
    assert "found" in lanes(app)[1]
    assert "lost at" not in lanes(app)[1]


@pytest.mark.usefixtures("gold")
def test_other_strategies_run_beside_the_columns_when_a_person_wants_that(home: Workbench, visit: Visit) -> None:
    app = visit("compare", home, q=QUESTION, cview="missed")
    assert len(lanes(app)) == 2
    app.toggle("lr_others").set_value(True).run()
    drawn.assert_sound(app)
    assert len(lanes(app)) > 2
    assert app.query_params["others"] == "1"
    assert "Not run, since they need an index part or a model: " in drawn.text(app)


@pytest.mark.usefixtures("gold")
def test_gold_that_is_found_is_marked_in_the_columns(home: Workbench, visit: Visit) -> None:
    app = visit("compare", home, q=QUESTION)
    drawn.assert_sound(app)
    assert "gold found" in drawn.text(app)
    assert any(row["gold"] for column in rows(app) for row in column)


def test_another_passage_or_an_entity_is_marked_and_stays_in_the_link(home: Workbench, visit: Visit) -> None:
    app = visit("compare", home, q=QUESTION, cview="missed")
    drawn.assert_sound(app)
    assert "no gold evidence" in drawn.text(app)
    app.text_input("lr_mark_find").set_value("Langstroth").run()
    drawn.assert_sound(app)
    keys = [str(button.key) for button in app.button]
    chunk = next(key for key in keys if key.startswith("missed_chunk_"))
    app.button(chunk).click().run()
    drawn.assert_sound(app)
    assert app.query_params["mark"].startswith("chunk:")
    assert len(lanes(app)) == 2
    again = visit("compare", home, **dict(app.query_params))
    assert lanes(again) == lanes(app)
    entity = next(key for key in keys if key.startswith("missed_entity_"))
    app.button(entity).click().run()
    drawn.assert_sound(app)
    assert app.query_params["mark"].startswith("entity:")
    app.button("missed_unmark").click().run()
    assert "mark" not in app.query_params


@pytest.mark.usefixtures("gold")
def test_over_the_set_the_bars_add_up_and_the_best_change_was_run(home: Workbench, visit: Visit) -> None:
    app = visit("compare", home, cview="set", a_n="1", a_c="1", b_c="1")
    drawn.assert_sound(app)
    page_text = drawn.text(app)
    assert "2 questions, 3 gold passages" in page_text
    assert "Where this set loses its gold" in page_text
    app.button("set_losses_table").click().run()
    drawn.assert_sound(app)
    app.button("set_try").click().run()
    drawn.assert_sound(app)
    change = "One change that finds most: A with Top-C chunks 2 instead of 1 finds 1 more, for"
    assert change in drawn.text(app)
    app.button("set_take").click().run()
    drawn.assert_sound(app)
    assert {name: app.query_params[name] for name in ("a_n", "a_c", "b_c")} == {"a_n": "1", "a_c": "2", "b_c": "1"}
    app.button("set_question_1").click().run()
    drawn.assert_sound(app)
    assert (app.query_params["q"], app.query_params["cview"]) == ("Who patented the hive?", "missed")


def test_a_column_that_calls_a_model_is_not_run_over_the_set_before_a_person_asks(
    home: Workbench, visit: Visit, debate: list[str], gold: None
) -> None:
    app = visit("compare", home, cview="set", a_strategy="debate")
    drawn.assert_sound(app)
    assert "debate" not in debate
    app.button("set_run_a").click().run()
    drawn.assert_sound(app)
    assert debate.count("debate") == 2
    app.run()
    assert debate.count("debate") == 2


def shared(bench: Workbench, question: str = QUESTION) -> tuple[list[Loaded], Shared, GoldOf]:
    """Two columns as the page has them, for what is made of them."""
    [summary] = bench.indexes()
    index = bench.open(summary.id)
    loaded = []
    for letter, name in (("A", "leanrag"), ("B", "vector")):
        trace = bench.retrieve(index, question, name)
        info = bench.strategies().named(name)
        head = Head(letter, name, info.badge, info.differs, {"top_c": 5})
        loaded.append(Loaded(head, question, index=index, trace=trace, answer=bench.answer(index, trace)))
    gold = GoldFinder(index).entity("Varroa destructor")
    lanes = {each.letter: (lane(each.trace, index, gold),) for each in loaded if each.trace is not None}
    traces = {each.letter: each.trace for each in loaded if each.trace is not None}
    found = {letter: found_ids(trace, lanes[letter]) for letter, trace in traces.items()}
    return loaded, compare(traces), GoldOf(None, (gold,), lanes, found)


class Elements(HTMLParser):
    """The tags and the names of attributes of a page."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.attributes: set[str] = set()
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes |= {name for name, _ in attrs}


def test_the_exported_page_asks_for_nothing_and_runs_nothing(home: Workbench) -> None:
    hostile = "<script>alert(1)</script><img src=//x.example/y>"
    loaded, common, gold = shared(home)
    loaded[0] = replace(loaded[0], head=replace(loaded[0].head, title=hostile))
    page = export.page(loaded, common, gold, hostile)
    head, body = page.split("</style>")
    assert "default-src &#39;none&#39;" in head
    assert not re.search(r"@import|url\(|https?:|//[a-z]", head.split("<style>")[1])
    elements = Elements(page)
    assert elements.tags <= {*drawn.TAGS, "html", "head", "meta", "title", "body", "main", "h1", "h2", "svg", "rect",
                             "circle", "path", "text", "details", "summary", "pre"}  # fmt: skip
    assert not [name for name in elements.attributes if name in ("src", "href", "action") or name.startswith("on")]
    assert "&lt;script&gt;alert(1)" in body
    assert page.count("<svg") >= 6, "subgraph, ranking, UpSets and lanes"
    assert "Varroa destructor is a mite" in page, "the texts of the passages are in it"
    assert "&lt;img src=x onerror=alert(1)&gt;" in page


def test_a_saved_comparison_opens_without_its_index(home: Workbench, empty_home: Workbench, visit: Visit) -> None:
    loaded, _, gold = shared(home)
    content = content_of(recorded(loaded, gold, QUESTION))
    comparison = comparison_of(content, name="x.json")
    assert content_of(comparison) == content
    app = visit("compare", empty_home)
    app.session_state["lr_comparison"] = comparison
    app.run()
    drawn.assert_sound(app)
    page_text = drawn.text(app)
    assert "Saved comparison." in page_text
    assert QUESTION in page_text
    assert len(rows(app)) == len(drawn.component(app, "lr_citations")) == 2
    assert not any(str(button.key).startswith("compare_pin") for button in app.button)
    for view in ("contexts", "missed"):
        app.segmented_control("lr_cview").set_value(view).run()
        drawn.assert_sound(app)
    assert [("lost at" in label) for label in lanes(app)] == [
        not way.is_found for ways in gold.lanes.values() for way in ways
    ]
    app.button("compare_close").click().run()
    drawn.assert_sound(app)
    assert "Saved comparison." not in drawn.text(app)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda values: values.update(format="leanrag-run"), "is no saved comparison"),
        (lambda values: values.update(version=9), "newer version"),
        (lambda values: values.update(columns=values["columns"][:1]), "is damaged"),
        (lambda values: values["columns"][0].update(letter="<b>"), "is damaged"),
        (lambda values: values["columns"][0].update(badge="none.such"), "x.json"),
        (lambda values: values["columns"][0]["lanes"][0]["said"][0].update(code="none.such"), "x.json"),
        (lambda values: values["columns"][0].update(lanes=[]), "is damaged"),
        (lambda values: values.update(question=7), "x.json"),
    ],
)
def test_a_file_that_is_no_sound_comparison_is_refused(
    home: Workbench, change: Callable[[Any], None], message: str
) -> None:
    loaded, _, gold = shared(home)
    values = json.loads(content_of(recorded(loaded, gold, QUESTION)))
    change(values)
    with pytest.raises(LeanRAGError, match=message):
        comparison_of(json.dumps(values).encode(), name="x.json")


def test_ask_measures_itself_beside_naive_rag_and_leads_to_compare(home: Workbench, visit: Visit) -> None:
    app = visit("ask", home, q=QUESTION, n="3", c="2", leanrag_use="findings,source_chunks")
    drawn.assert_sound(app)
    assert "Beside naive RAG: " in drawn.text(app)
    app.button("compare_naive").click().run()
    drawn.assert_sound(app)
    shown = dict(app.query_params)
    assert shown.pop("index")
    assert shown == {"q": QUESTION, "a_n": "3", "a_c": "2", "a_leanrag_use": "findings,source_chunks"}
    left, right = rows(app)
    assert (len(left), len(right)) == (
        2,
        len(home.retrieve(home.open(home.indexes()[0].id), QUESTION, "vector").passages),
    )
    naive = visit("ask", home, q=QUESTION, strategy="vector")
    assert "Beside naive RAG" not in drawn.text(naive)


def test_the_steps_of_a_strategy_of_several_calls_are_heard_as_they_come(
    home: Workbench, visit: Visit, debate: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    retrieve = Workbench.retrieve
    shown: list[str] = []

    def steps(bench: Workbench, index: Any, question: str, strategy_name: str = "leanrag", **options: Any) -> Trace:
        on_step = options.pop("on_step", None)
        trace = retrieve(bench, index, question, strategy_name, **options)
        if on_step is not None:
            on_step(trace.steps[0])
            [heard] = session._steps().values()
            shown.append(str(result_view.steps_so_far(heard, 3)))
        return trace

    monkeypatch.setattr(Workbench, "retrieve", steps)
    app = visit("compare", home, q=QUESTION, a_strategy="debate")
    next(button for button in app.button if button.label == "Compare").click().run()
    drawn.assert_sound(app)
    [markup] = shown
    assert "<b>" in markup
    assert markup.count("<div><b>") == 1, "the first step is said before the second one is there"
