import json
from collections.abc import Callable
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from leanrag_core import Workbench
from leanrag_core.queries.entity_search import find_entities
from leanrag_core.types.index import Index
from tests.app import drawn

Visit = Callable[..., AppTest]


@pytest.fixture
def opened(home: Workbench) -> Index:
    return home.open(home.indexes()[0].id)


def id_of(index: Index, name: str) -> str:
    return next(row.id for row in find_entities(index, name).rows if row.name == name)


def open_tab(app: AppTest, node_id: str, name: str) -> AppTest:
    tab = next(tab.label for tab in app.tabs if tab.label.startswith(name))
    app.session_state[f"tabs_{node_id}"] = tab
    return app.run()


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


def test_the_map_shows_the_layers_of_its_link_and_a_ring_around_the_chosen_entity(
    home: Workbench, opened: Index, visit: Visit
) -> None:
    app = visit("explore", home, view="map", node=id_of(opened, "Varroa destructor"))
    points, ring = map_traces(app)
    assert points["type"] == "scattergl"
    assert len(points["text"]) == len(opened.layers[0])
    assert ring["hoverinfo"] == "skip"
    pills = {group.label: group for group in app.button_group}
    assert pills["Points of"].value == "L0"
    assert pills["Coloured by clusters of"].value == "L2", "the highest layer with several clusters"
    names = set(opened.layers[2].entities["name"].to_pylist())
    assert {text.split("<br>in ")[1] for text in points["text"]} <= names

    pills["Points of"].set_value("L1").run()
    drawn.assert_sound(app)
    assert app.query_params["points"] == "L1"
    assert len(map_traces(app)) == 1, "the chosen entity is in another layer"
    again = visit("explore", home, view="map", points="L0", colour="L1")
    assert (again.query_params["points"], again.query_params["colour"]) == ("L0", "L1")
    assert {group.label: group.value for group in again.button_group}["Coloured by clusters of"] == "L1"
    assert len(map_traces(visit("explore", home, view="map", points="L9", colour="'; drop"))[0]["text"]) == len(
        opened.layers[0]
    )


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
    assert strongest["about"].endswith(f": {relation.kind}, weight {relation.weight:g}")
    assert app.query_params["hops"] == "1"


def test_the_graph_keeps_its_focus_until_the_chosen_entity_is_outside_of_it(
    home: Workbench, opened: Index, visit: Visit
) -> None:
    root = opened.layers[3].entity(0).id
    app = visit("explore", home, view="graph", focus=root, node=opened.layers[2].entity(0).id)
    [figure] = drawn.component(app, "lr_layer_graph")
    assert (figure["focus_id"], figure["picked"]) == (root, opened.layers[2].entity(0).id)
    shown = {node["id"] for node in figure["nodes"]}
    outside = next(id_ for id_ in opened.layers[0].entities["id"].to_pylist() if id_ not in shown)
    app = visit("explore", home, view="graph", focus=root, node=outside)
    [figure] = drawn.component(app, "lr_layer_graph")
    assert figure["focus_id"] == app.query_params["focus"] == outside


def test_filters_hold_in_the_graph(home: Workbench, opened: Index, visit: Visit) -> None:
    app = visit("explore", home, view="graph", types="person")
    drawn.assert_sound(app)
    [figure] = drawn.component(app, "lr_layer_graph")
    rows = [opened.layers[0].row_of[node["id"]] for node in figure["nodes"] if node["layer"] == 0]
    assert rows
    assert {opened.layers[0].entity(row).type for row in rows} == {"person"}


def map_traces(app: AppTest) -> list[dict[str, Any]]:
    drawn.assert_sound(app)
    [chart] = app.get("plotly_chart")
    traces: list[dict[str, Any]] = json.loads(chart.proto.spec)["data"]
    return traces


def test_an_entity_of_a_link_is_inspected_under_its_parents(home: Workbench, opened: Index, visit: Visit) -> None:
    node = id_of(opened, "Varroa destructor")
    app = visit("explore", home, node=node)
    drawn.assert_sound(app)
    assert '<div class="lr-name" role="heading" aria-level="2">Varroa destructor</div>' in "".join(drawn.html(app))
    crumbs = [button for button in app.button if str(button.key).startswith("crumb_")]
    assert [button.label[:2] for button in crumbs] == ["L3", "L2", "L1"]
    assert app.query_params["node"] == node
    crumbs[0].click().run()
    drawn.assert_sound(app)
    assert app.query_params["node"] == opened.layers[-1].entity(0).id


def test_the_way_up_leads_to_the_root(home: Workbench, opened: Index, visit: Visit) -> None:
    app = visit("explore", home, node=id_of(opened, "Varroa destructor"))
    for layer in (1, 2, 3):
        next(button for button in app.button if button.label == f"Up to L{layer}").click().run()
        drawn.assert_sound(app)
    assert app.query_params["node"] == opened.layers[3].entity(0).id


def test_a_chunk_of_an_entity_opens_in_its_document(home: Workbench, opened: Index, visit: Visit) -> None:
    node = id_of(opened, "Varroa destructor")
    app = open_tab(visit("explore", home, node=node), node, "Chunks")
    drawn.assert_sound(app)
    next(button for button in app.button if str(button.key).startswith("open_")).click().run()
    drawn.assert_sound(app)
    [passage] = drawn.component(app, "lr_passage")
    marked = [piece["text"] for piece in passage["pieces"] if "name" in piece["marks"]]
    assert marked
    assert {text.split()[0].casefold() for text in marked} == {"varroa"}


def test_relations_of_an_entity_are_listed_and_one_opens(home: Workbench, opened: Index, visit: Visit) -> None:
    node = opened.layers[2].entity(0).id
    relation = opened.layers[2].relation(int(opened.layers[2].relations_of(0)[0]))
    app = open_tab(visit("explore", home, node=node, rel=relation.id), node, "Relations")
    drawn.assert_sound(app)
    assert f"λ {relation.strength}" in drawn.text(app)
    assert "Stands for" in drawn.text(app)
    app.button(f"close_{relation.id}").click().run()
    drawn.assert_sound(app)
    assert "rel" not in app.query_params


def test_children_of_a_block_are_listed(home: Workbench, opened: Index, visit: Visit) -> None:
    root = opened.layers[3].entity(0).id
    app = open_tab(visit("explore", home, node=root), root, "Children 3")
    drawn.assert_sound(app)
    assert len(app.dataframe[0].value) == 3


def test_a_search_lists_what_it_finds_and_suggests_what_is_near(home: Workbench, visit: Visit) -> None:
    app = visit("explore", home)
    app.text_input("find_entity").input("VARROA").run()
    drawn.assert_sound(app)
    names = list(app.dataframe[0].value["Name"])
    assert names
    assert all("varroa" in name.casefold() for name in names)
    app.text_input("find_entity").input("Varoa destructr").run()
    drawn.assert_sound(app)
    assert "No entity is called “Varoa destructr”. Nearest: Varroa destructor" in drawn.text(app)
    app.text_input("find_entity").input("<img src=x onerror=alert(1)>").run()
    drawn.assert_sound(app)
    assert "No entity is called “<img src=x onerror=alert(1)>”" in drawn.text(app)


def test_asking_about_an_entity_leads_to_its_answer(home: Workbench, opened: Index, visit: Visit) -> None:
    node = id_of(opened, "Varroa destructor")
    app = visit("explore", home, node=node)
    app.button(f"ask_{node}").click().run()
    drawn.assert_sound(app)
    assert app.text_area("lr_draft").value == "What do the documents say about Varroa destructor?"
    assert drawn.component(app, "lr_citations")


def test_a_search_begins_while_the_name_is_written(home: Workbench, visit: Visit) -> None:
    field = visit("explore", home).text_input("find_entity")
    assert 0 < field.proto.live_debounce_ms <= 100
    assert (field.label, field.proto.placeholder) == ("Find", "Find an entity")
