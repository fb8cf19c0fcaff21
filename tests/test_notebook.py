"""What an index, a trace, an answer and a comparison draw in a notebook: whole, escaped, and without any request."""

import re
from dataclasses import replace
from html.parser import HTMLParser

import pytest

from leanrag_core import IndexConfig, Workbench
from leanrag_core.comparing.sharing import Comparison
from leanrag_core.types.index import Index
from leanrag_core.types.trace import Trace
from tests.browser.test_story import TEXT

pytestmark = pytest.mark.slow

EVIL = "<script>alert(1)</script>\u202e\"'><img src=x onerror=alert(2)>"


class Elements(HTMLParser):
    """Names of the elements, their attributes, and whether each that begins ends."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.names: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self.open: list[str] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.names.append(tag)
        self.attributes += attributes
        self.open.append(tag)

    def handle_startendtag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.names.append(tag)
        self.attributes += attributes

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Workbench:
    return Workbench.default(tmp_path_factory.mktemp("home"))


@pytest.fixture(scope="module")
def index(bench: Workbench) -> Index:
    files = [(f"coast-{n}.md", TEXT.replace("1861", str(1861 + n)).encode()) for n in range(3)]
    corpus = bench.add_documents("Grey Coast", files).corpus_id
    return bench.build(corpus, IndexConfig(chunk_tokens=64, overlap_tokens=8, cluster_size=4))


def assert_harmless(html: str) -> None:
    elements = Elements(html)
    assert elements.open == []
    assert set(elements.names) <= {
        *("div", "style", "h4", "p", "b", "table", "tr", "td", "th"),
        *("svg", "rect", "text", "tspan", "path", "circle", "g", "title"),
    }
    assert not [name for name, _ in elements.attributes if name.startswith("on") or name in ("src", "href")]
    assert "url(" not in html
    assert "\u202e" not in html


def test_an_index_shows_its_layers_and_largest_clusters(index: Index) -> None:
    html = index._repr_html_()
    assert_harmless(html)
    for layer in index.layers:
        assert f"L{layer.number}</td>" in html
    assert f">{len(index.layers[0]):,}</td>" in html


@pytest.mark.parametrize("top_n", [3, 30])
def test_a_trace_shows_its_subgraph_steps_context_and_passages(bench: Workbench, index: Index, top_n: int) -> None:
    trace = bench.retrieve(index, "Who built the Marram Point lighthouse?", "leanrag", top_n=top_n)
    html = trace._repr_html_()
    assert_harmless(html)
    assert html.count("<circle") == len(trace.with_role("seed"))
    assert f"{trace.context.tokens:,} tokens of context" in html
    for item in trace.nodes:
        assert item.id in html or item.name.split()[0] in html
    assert bench.answer(index, trace)._repr_html_().count("<svg") == html.count("<svg")


def test_texts_of_documents_and_questions_are_text(bench: Workbench, index: Index) -> None:
    trace = bench.retrieve(index, EVIL, "leanrag", top_n=3)
    items = tuple(replace(item, name=EVIL, text=EVIL) for item in trace.items)
    html = Trace(**{**vars_of(trace), "items": items})._repr_html_()
    assert_harmless(html)
    assert "[U+202E]" in html


def vars_of(trace: Trace) -> dict[str, object]:
    return {name: getattr(trace, name) for name in trace.__dataclass_fields__}


def test_a_comparison_has_a_column_for_each_strategy(bench: Workbench, index: Index) -> None:
    compared = bench.compare(index, "Who built the Marram Point lighthouse?", "leanrag", "vector", answers=True)
    assert isinstance(compared, Comparison)
    assert list(compared.traces) == list(compared.answers) == ["A", "B"]
    html = compared._repr_html_()
    assert_harmless(html)
    heads = re.findall(r"<th[^>]*>([AB]: [^<]+)</th>", html)
    assert [head[0] for head in heads] == ["A", "B"]
