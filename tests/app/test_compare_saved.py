"""Comparisons as a page of their own and as a file."""

import json
import re
from collections.abc import Callable
from dataclasses import replace
from html.parser import HTMLParser
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from leanrag_core import Workbench
from leanrag_core.comparing.gold_passages import GoldFinder
from leanrag_core.comparing.lost_evidence import found_ids, lane
from leanrag_core.comparing.recorded import comparison_of, content_of
from leanrag_core.comparing.sharing import Shared, compare
from leanrag_core.errors import LeanRAGError
from leanrag_core.figures.fonts import font_faces
from leanrag_core.retrieval.base import strategies
from pages.compare import export
from pages.compare.gold_view import GoldOf
from pages.compare.loading import Head, Loaded
from pages.compare.saved_view import recorded
from tests.app import drawn
from tests.app.compared import QUESTION, lanes, rows

Visit = Callable[..., AppTest]


def shared(bench: Workbench, question: str = QUESTION) -> tuple[list[Loaded], Shared, GoldOf]:
    """Return two columns as the page has them, and what is made of them."""
    [summary] = bench.indexes.all()
    index = bench.indexes.open(summary.id)
    loaded = []
    for letter, name in (("A", "leanrag"), ("B", "vector")):
        trace = bench.retrieve(index, question, name)
        info = strategies().named(name)
        head = Head(letter, name, info.badge, info.differs, {"top_c": 5})
        loaded.append(Loaded(head, question, index=index, trace=trace, answer=bench.answer(index, trace)))
    gold = GoldFinder(index).entity("Varroa destructor")
    lanes = {each.letter: (lane(each.trace, index, gold),) for each in loaded if each.trace is not None}
    traces = {each.letter: each.trace for each in loaded if each.trace is not None}
    ids = {letter: found_ids(trace, lanes[letter]) for letter, trace in traces.items()}
    return loaded, compare(traces), GoldOf(None, (gold,), lanes, ids)


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
    rules = head.split("<style>")[1].replace(font_faces(), "")  # which are in the file itself
    assert not re.search(r"@import|url\(|https?:|//[a-z]", rules)
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
