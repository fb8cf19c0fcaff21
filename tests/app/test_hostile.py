"""An index whose every text is hostile: what comes from documents is drawn as text on every page."""

import json
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from streamlit.testing.v1 import AppTest

from leanrag_core import Workbench
from leanrag_core.storage.layout import write_index
from leanrag_core.types.index import Index
from leanrag_core.types.visible import visible
from tests.app import drawn

Visit = Callable[..., AppTest]
FIGURES = ("lr_play", "lr_blocks", "lr_search", "lr_layer_graph", "lr_schema_graph")
HOSTILE = (
    "<img src=x onerror=alert(1)>\"'</div><script>alert(2)</script> [x](javascript:alert(3)) $\\frac{1}{2}$ `c` **b** "
    "\u202edrow "
)
QUESTION = "What do beekeepers use against Varroa destructor?"


def poisoned(column: pa.ChunkedArray, long: str = "") -> pa.ChunkedArray:
    return pc.binary_join_element_wise(pa.scalar(HOSTILE), column, pa.scalar(long), "")


def poison(table: pa.Table, *names: str, long: str = "") -> pa.Table:
    for name in names:
        place = table.schema.get_field_index(name)
        table = table.set_column(place, table.schema.field(name), poisoned(table[name], long))
    return table


@pytest.fixture
def hostile(home: Workbench) -> Workbench:
    """Return a home where names, types, descriptions, titles and labels carry markup and, some, a word of 2,000
    letters."""
    index = home.indexes.open(home.indexes.all()[0].id)
    assert index.path is not None
    layers = tuple(
        replace(
            layer,
            entities=poison(poison(layer.entities, "name", "description", long="w" * 2000), "type"),
            relations=poison(layer.relations, "description", "kind"),
            vectors=np.array(layer.vectors),  # no longer the file that is written anew
        )
        for layer in index.layers
    )
    corpus = replace(index.manifest.corpus, name=HOSTILE)
    manifest = replace(index.manifest, name=HOSTILE, kind=HOSTILE, corpus=corpus)
    documents, vectors = poison(index.documents, "name", "title"), np.array(index.chunk_vectors)
    written = replace(index, layers=layers, documents=documents, chunk_vectors=vectors, manifest=manifest)
    write_index(index.path, written)
    home.add_documents(HOSTILE, [("<b>name.md", f"# {HOSTILE}\n\n{HOSTILE} {'w' * 5000}".encode())])
    return home


@pytest.fixture
def opened(hostile: Workbench) -> Index:
    return hostile.indexes.open(hostile.indexes.all()[0].id)


def assert_harmless(app: AppTest) -> None:
    drawn.assert_sound(app)
    bodies = "".join(drawn.html(app))
    assert "<img" not in bodies
    assert "<script" not in bodies
    tables = "".join(frame.value.to_csv() for frame in app.dataframe)
    figures = "".join(json.dumps(data, ensure_ascii=False) for name in FIGURES for data in drawn.component(app, name))
    figures += "".join(chart.proto.spec for chart in app.get("plotly_chart"))
    assert "\u202e" not in bodies + tables + figures, "what turns the direction of a name is shown as such"
    assert "[U+202E]drow" in bodies
    assert "&lt;img src=x onerror=alert(1)&gt;" in bodies, "it is shown, and not left out"


@pytest.mark.parametrize(
    "url",
    [
        {},
        {"shape": "treemap"},
        {"shape": "sunburst", "by": "type"},
        {"view": "map"},
        {"view": "graph"},
        {"view": "graph", "detail": "all"},
        {"table": "1"},
    ],
)
def test_explore_draws_an_aggregated_entity_as_text(url: dict[str, str], hostile: Workbench, visit: Visit) -> None:
    assert_harmless(visit("explore", hostile, **url))


@pytest.mark.parametrize("what", ["entity", "relation", "chunk"])
def test_explore_draws_what_is_inspected_as_text(what: str, hostile: Workbench, opened: Index, visit: Visit) -> None:
    layer = opened.layers[1]
    row = next(row for row in range(len(layer)) if len(layer.relations_of(row)))
    node, relation = layer.entity(row).id, layer.relation(int(layer.relations_of(row)[0])).id
    links = {"entity": {}, "relation": {"rel": relation}, "chunk": {"chunk": opened.chunks["id"][0].as_py()}}
    app = visit("explore", hostile, node=node, **links[what])
    assert_harmless(app)
    [shown] = drawn.component(app, "lr_inspector")
    assert shown["id"] in (node, relation, links["chunk"]["chunk"])


def test_explore_draws_a_search_as_text(hostile: Workbench, visit: Visit) -> None:
    app = visit("explore", hostile, find="<img", table="1")
    assert_harmless(app)
    assert len(app.dataframe[0].value) > 20


def test_ask_draws_answer_graph_and_sources_as_text(hostile: Workbench, visit: Visit) -> None:
    app = visit("ask", hostile, q=QUESTION)
    assert_harmless(app)
    [graph] = drawn.plays(app)
    nodes = graph["play"]["layouts"][-1]["nodes"]
    names = [graph["play"]["items"][node["id"]]["name"] for node in nodes]
    assert all(name.startswith(visible(HOSTILE)) for name in names), "the drawing's script sets it as text"
    [answer] = drawn.component(app, "lr_citations")
    assert answer["parts"]

    assert_harmless(visit("ask", hostile, q=QUESTION, node=nodes[-1]["id"]))
    assert_harmless(visit("ask", hostile, q=QUESTION, show="table", step="lca"))
    app.slider("lr_n").set_value(2).run()
    assert "What changed" in drawn.text(app)
    assert_harmless(app)


def test_ask_draws_a_passage_and_a_reference_as_text(hostile: Workbench, opened: Index, visit: Visit) -> None:
    app = visit("ask", hostile, q=QUESTION)
    next(button for button in app.button if button.label == "Open in document").click().run()
    assert_harmless(app)
    trace = hostile.retrieve(opened, QUESTION)
    marks = {item.ref: item.mark for section in trace.context.sections for item in section.items}
    bridge = next(each for each in trace.relations if each.role == "inter-cluster" and each.id in marks)
    for ref in (trace.nodes[0].id, trace.nodes[-1].id, bridge.id):
        app.session_state["lr_memory"].values["at"] = ref
        assert_harmless(app.run())
        assert any(f">{marks[ref]}</span>" in body and "lr-name" in body for body in drawn.html(app))


def test_library_draws_names_and_texts_as_text(hostile: Workbench, visit: Visit) -> None:
    [own] = [corpus.id for corpus in hostile.corpora.all() if not corpus.sample]
    app = visit("library", hostile, corpus=own)
    assert_harmless(app)
    [preview] = drawn.component(app, "chunk_preview")
    assert "w" * 5000 in preview["text"]
    assert "<b>name.md" in drawn.text(app)


def test_build_draws_names_as_text(hostile: Workbench, visit: Visit) -> None:
    [own] = [corpus.id for corpus in hostile.corpora.all() if not corpus.sample]
    app = visit("build", hostile, corpus=own)
    assert_harmless(app)
    app.button("delete_index").click().run()
    assert_harmless(app)


def test_build_and_the_sidebar_show_what_turns_the_direction_of_a_name(home: Workbench, visit: Visit) -> None:
    home.indexes.rename(home.indexes.all()[0].id, "cod\u202efdp.exe")
    own = home.add_documents("cod\u202efdp.exe", [("a.txt", b"Bees dance in the hive.")]).corpus_id
    app = visit("build", home, corpus=own)
    drawn.assert_sound(app)
    [sidebar] = [box for box in app.sidebar.selectbox if box.label == "Index"]
    assert [option.split(",")[0] for option in sidebar.options] == ["cod[U+202E]fdp.exe"]
    assert app.text_input("index_name").placeholder == "cod[U+202E]fdp.exe"
