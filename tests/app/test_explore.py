import json
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from leanrag_core import Workbench
from leanrag_core.queries.entity_search import find_entities
from leanrag_core.types.index import Index
from pages.common import state
from pages.explore import graph_state
from pages.explore.exploring import joined, split
from tests.app import drawn

Visit = Callable[..., AppTest]


@pytest.fixture
def opened(home: Workbench) -> Index:
    return home.indexes.open(home.indexes.all()[0].id)


def id_of(index: Index, name: str) -> str:
    return next(row.id for row in find_entities(index, name).rows if row.name == name)


@pytest.mark.parametrize("url", [{}, {"shape": "treemap"}, {"table": "1"}])
def test_every_shape_of_the_hierarchy_is_drawn(url: dict[str, str], home: Workbench, visit: Visit) -> None:
    app = visit("explore", home, **url)
    drawn.assert_sound(app)
    pictures = drawn.component(app, "lr_blocks")
    assert (len(pictures), len(app.dataframe)) == ((0, 1) if "table" in url else (1, 0))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("Icicle", {}),
        ("Treemap", {"shape": "treemap"}),
        ("Table", {"table": "1"}),
        ("Map", {"view": "map"}),
        ("Neighbourhood", {"view": "graph"}),
    ],
)
def test_links_of_older_versions_lead_to_the_same_view(
    old: str, new: dict[str, str], home: Workbench, visit: Visit
) -> None:
    app = visit("explore", home, view=old)
    drawn.assert_sound(app)
    shown = {name: app.query_params[name] for name in ("view", "shape", "table") if name in app.query_params}
    assert shown == new


def test_the_graph_around_the_chosen_entity_is_drawn_in_its_layers(
    home: Workbench, opened: Index, visit: Visit
) -> None:
    node = id_of(opened, "Varroa destructor")
    app = visit("explore", home, view="graph", node=node, hops="1")
    drawn.assert_sound(app)
    [figure] = drawn.component(app, "lr_layer_graph")
    nodes = figure["nodes"]
    assert (nodes[figure["focus"]]["id"], figure["focus_id"], figure["picked"]) == (node, node, node)
    assert [each["layer"] for each in nodes if each["line"]] == [3, 2, 1, 0]
    assert {each["hops"] for each in nodes} == {0, 1, 3}
    assert len(nodes) <= 80
    layer = opened.layers[0]
    strongest = next(link for link in figure["links"] if link["layer"] == 0)
    ends = [layer.row_of[nodes[end]["id"]] for end in (strongest["a"], strongest["b"])]
    relation = layer.relation(int(layer.relations_inside(ends)[0]))
    assert relation.kind == "verb"
    assert strongest["about"].endswith(f": joined by a verb, weight {relation.weight:g}")
    assert app.query_params["hops"] == "1"


def test_the_graph_says_that_nothing_passes_the_filters_and_draws_a_layer_alone(home: Workbench, visit: Visit) -> None:
    nothing = visit("explore", home, view="graph", made="model")  # which no model wrote
    drawn.assert_sound(nothing)
    assert "No entity passes the filters" in drawn.text(nothing)
    assert drawn.component(nothing, "lr_layer_graph") == []

    base = visit("explore", home, view="graph", layers="0")
    drawn.assert_sound(base)
    [figure] = drawn.component(base, "lr_layer_graph")
    assert {each["layer"] for each in figure["nodes"]} <= {0, figure["top"]}, "the focus is always drawn"


def test_the_graph_keeps_its_focus_until_the_chosen_entity_is_outside_of_it(
    home: Workbench, opened: Index, visit: Visit
) -> None:
    root = opened.layers[3].entity(0).id
    app = visit("explore", home, view="graph", centre=root, node=opened.layers[2].entity(0).id)
    [figure] = drawn.component(app, "lr_layer_graph")
    assert (figure["focus_id"], figure["picked"]) == (root, opened.layers[2].entity(0).id)
    shown = {node["id"] for node in figure["nodes"]}
    outside = next(id_ for id_ in opened.layers[0].entities["id"].to_pylist() if id_ not in shown)
    app = visit("explore", home, view="graph", centre=root, node=outside)
    [figure] = drawn.component(app, "lr_layer_graph")
    assert figure["focus_id"] == app.query_params["centre"] == outside


def test_filters_hold_in_the_graph(home: Workbench, opened: Index, visit: Visit) -> None:
    app = visit("explore", home, view="graph", types="person")
    drawn.assert_sound(app)
    [figure] = drawn.component(app, "lr_layer_graph")
    rows = [opened.layers[0].row_of[node["id"]] for node in figure["nodes"] if node["layer"] == 0]
    assert rows
    assert {opened.layers[0].entity(row).type for row in rows} == {"person"}


def test_the_schema_counts_types_and_marks_what_the_filter_lets_through(
    home: Workbench, opened: Index, visit: Visit
) -> None:
    app = visit("explore", home, view="schema", types="person")
    drawn.assert_sound(app)
    [figure] = drawn.component(app, "lr_schema_graph")
    assert sum(each["count"] for each in figure["types"]) == len(opened.layers[0])
    assert sum(pair["count"] for pair in figure["pairs"]) == opened.layers[0].relations.num_rows
    assert figure["chosen"] == ["person"]
    assert app.query_params["types"] == "person"


def test_the_whole_graph_is_sent_in_few_bytes(home: Workbench, opened: Index, visit: Visit) -> None:
    app = visit("explore", home, view="graph", detail="all")
    drawn.assert_sound(app)
    [figure] = drawn.component(app, "lr_layer_graph")
    assert figure["drawn"] == figure["total"] == sum(len(layer) for layer in opened.layers)
    assert len(json.dumps(figure)) < 100_000


def test_an_entity_of_a_link_is_inspected_under_its_parents(home: Workbench, opened: Index, visit: Visit) -> None:
    node = id_of(opened, "Varroa destructor")
    app = visit("explore", home, node=node)
    drawn.assert_sound(app)
    [shown] = drawn.component(app, "lr_inspector")
    assert shown["name"] == "Varroa destructor"
    [picture] = drawn.component(app, "lr_blocks")
    [mark] = drawn.component(app, "lr_blocks_mark")
    assert mark["picked"] == node
    assert node in {cell["id"] for block in picture["blocks"] for cell in block.get("cells", ())}
    assert app.query_params["node"] == node


def test_an_opened_block_is_the_outermost_and_its_parents_lead_back(
    home: Workbench, opened: Index, visit: Visit
) -> None:
    focus = opened.layers[1].entity(0)
    app = visit("explore", home, focus=focus.id)
    drawn.assert_sound(app)
    [picture] = drawn.component(app, "lr_blocks")
    assert picture["blocks"][0]["id"] == focus.id
    assert [crumb["layer"] for crumb in picture["crumbs"]] == [3, 2, 1]
    assert picture["crumbs"][-1]["name"] == focus.name


def test_a_search_lights_its_matches_and_suggests_what_is_near(home: Workbench, visit: Visit) -> None:
    app = visit("explore", home, find="VARROA")
    drawn.assert_sound(app)
    [field], [picture] = drawn.component(app, "lr_search"), drawn.component(app, "lr_blocks")
    assert field["matches"]
    assert all("varroa" in match["name"].casefold() for match in field["matches"])
    nodes = [*picture["blocks"], *(cell for block in picture["blocks"] for cell in block.get("cells", ()))]
    lit = {node["id"] for node in nodes if node.get("lit")}
    assert {match["id"] for match in field["matches"]} <= lit
    assert {node["id"] for node in nodes if "varroa" in node["name"].casefold()} == lit
    [field] = drawn.component(visit("explore", home, find="Varoa destructr"), "lr_search")
    assert field["foot"].startswith("No entity is called “Varoa destructr”. Nearest: Varroa destructor")
    hostile = visit("explore", home, find="<img src=x onerror=alert(1)>")
    drawn.assert_sound(hostile)
    [field] = drawn.component(hostile, "lr_search")
    assert "No entity is called “<img src=x onerror=alert(1)>”" in field["foot"]


def test_a_search_narrows_the_table(home: Workbench, visit: Visit) -> None:
    app = visit("explore", home, table="1", find="VARROA")
    drawn.assert_sound(app)
    names = list(app.dataframe[0].value["Name"])
    assert names
    assert all("varroa" in name.casefold() for name in names)


def test_the_last_question_colours_the_blocks(home: Workbench, visit: Visit) -> None:
    [picture] = drawn.component(visit("explore", home), "lr_blocks")
    assert picture["measure"]["name"] == "layer"
    app = visit("ask", home, q="What do beekeepers use against Varroa destructor?")
    app.switch_page("../explore/page.py").run()
    drawn.assert_sound(app)
    [picture] = drawn.component(app, "lr_blocks")
    assert picture["measure"]["name"] == "question"
    root = picture["blocks"][0]
    seeds = [cell for block in picture["blocks"] for cell in block.get("cells", ()) if cell.get("badge")]
    assert int(root["badge"]) == len(seeds) > 0
    assert all(cell["must"] for cell in seeds)


def test_filters_are_in_the_link_and_leave_out_what_does_not_pass(home: Workbench, opened: Index, visit: Visit) -> None:
    kind = opened.layers[0].entities["type"][0].as_py()
    app = visit("explore", home, types=kind, table="1", layer="L0")
    drawn.assert_sound(app)
    assert set(app.dataframe[0].value["Type"]) == {kind}
    assert app.query_params["types"] == kind
    [picture] = drawn.component(visit("explore", home, types=kind), "lr_blocks")
    cells = [cell for block in picture["blocks"] for cell in block.get("cells", ())]
    kinds = dict(zip(*opened.layers[0].entities.select(["id", "type"]).to_pydict().values(), strict=True))
    assert cells
    assert {kinds[cell["id"]] for cell in cells} == {kind}
    assert "pass the filters" in picture["tools"]["note"]
    app.button("clear_filters").click().run()
    assert "types" not in app.query_params


def test_the_picture_counts_the_base_entities_that_pass_not_those_below_a_cluster_that_does(
    home: Workbench, opened: Index, visit: Visit
) -> None:
    [picture] = drawn.component(visit("explore", home, layers="1"), "lr_blocks")
    assert picture["tools"]["note"].startswith(f"0 of {len(opened.layers[0])} entities pass the filters.")


@pytest.mark.parametrize("by", ["layer", "size", "type", "connectivity"])
@pytest.mark.parametrize("shape", ["icicle", "treemap", "sunburst"])
def test_every_measure_colours_every_shape(by: str, shape: str, home: Workbench, visit: Visit) -> None:
    app = visit("explore", home, by=by, shape=shape)
    drawn.assert_sound(app)
    [picture] = drawn.component(app, "lr_blocks")
    assert (picture["shape"], picture["measure"]["name"]) == (shape, by)
    assert len(picture["measure"]["steps"]) <= 5


def test_asking_about_an_entity_leads_to_its_answer(home: Workbench, opened: Index, visit: Visit) -> None:
    node = id_of(opened, "Varroa destructor")
    app = visit("explore", home, node=node)
    app.session_state["lr_inspected_ask"] = "Varroa destructor"  # as the button of the component leaves it
    app.run()
    drawn.assert_sound(app)
    assert app.text_area("lr_draft").value == "What do the documents say about Varroa destructor?"
    assert drawn.component(app, "lr_citations")


def test_names_in_a_link_keep_their_separators_and_percent_signs() -> None:
    kinds = ["either|or", "100 %", "100%7C", "grows on"]
    assert split(joined(kinds)) == set(kinds)


def test_a_ninth_pin_takes_the_place_of_the_oldest(monkeypatch: pytest.MonkeyPatch, index: Index) -> None:
    kept: dict[str, str] = {}
    monkeypatch.setattr(state, "recall", lambda name: kept.get(name, ""))
    monkeypatch.setattr(state, "remember", kept.__setitem__)
    exploring: Any = SimpleNamespace(index=index)
    ids = [id_ for layer in index.layers for id_ in layer.entities["id"].to_pylist()]
    assert len(ids) == 9
    for id_ in ids:
        graph_state.act(exploring, "pin", id_, focus=ids[0])
    assert graph_state.remembered().pinned == tuple(ids[1:])
    graph_state.act(exploring, "pin", ids[4], focus=ids[0])
    assert graph_state.remembered().pinned == (*ids[1:4], *ids[5:]), "a second click takes a pin away"
