"""The map and the film of how clusters form, as the pages give them to the browser."""

from collections.abc import Callable
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from leanrag_core import Workbench
from leanrag_core.types.index import Index
from tests.app import drawn

Visit = Callable[..., AppTest]


@pytest.fixture
def opened(home: Workbench) -> Index:
    return home.indexes.open(home.indexes.all()[0].id)


def picture(app: AppTest, name: str) -> dict[str, Any]:
    drawn.assert_sound(app)
    [shown] = drawn.component(app, name)
    return dict(shown)


def test_the_map_has_every_layer_of_clusters_at_hand(home: Workbench, opened: Index, visit: Visit) -> None:
    shown = picture(visit("explore", home, view="map"), "lr_map")
    assert len(shown["x"]) == len(shown["y"]) == len(shown["names"]) == len(opened.layers[0])
    assert [layer["layer"] for layer in shown["layers"]] == [1, 2, 3]
    first = shown["layers"][0]
    sizes = [cluster["size"] for cluster in first["clusters"]]
    assert sizes == sorted(sizes, reverse=True)
    assert sum(sizes) + first["othersSize"] == len(opened.layers[0])
    for point, row in enumerate(opened.layers[0].parent.tolist()):
        place = first["of"][point]
        if place >= 0:
            assert first["clusters"][place]["id"] == opened.layers[1].entities["id"][row].as_py()
    assert shown["question"] is None
    assert shown["panel"]


def test_the_map_follows_its_link_and_ignores_nonsense(home: Workbench, opened: Index, visit: Visit) -> None:
    app = visit("explore", home, view="map", points="L1", colour="L3")
    shown = picture(app, "lr_map")
    assert (len(shown["x"]), shown["colour"]) == (len(opened.layers[1]), 3)
    assert app.query_params["points"] == "L1"
    nonsense = picture(visit("explore", home, view="map", points="L9", colour="'; drop"), "lr_map")
    assert len(nonsense["x"]) == len(opened.layers[0])
    assert nonsense["colour"] == 1, "the highest layer with four clusters or more"


def test_a_chosen_entity_is_marked_and_inspected_beside_the_map(home: Workbench, opened: Index, visit: Visit) -> None:
    entity = opened.layers[0].entity(3)
    app = visit("explore", home, view="map", node=entity.id)
    shown = picture(app, "lr_map")
    assert shown["chosen"]["name"] == entity.name
    assert not shown["panel"]
    assert picture(app, "lr_inspector")["id"] == entity.id
    app.button("map_back").click().run()
    assert picture(app, "lr_map")["panel"]


def test_the_last_question_is_drawn_among_its_seeds(home: Workbench, opened: Index, visit: Visit) -> None:
    trace = home.retrieve(opened, "What do beekeepers use against Varroa destructor?", "leanrag", top_n=4)
    app = visit("explore", home, view="map")
    app.session_state["lr_last_question"] = {home.indexes.all()[0].id: trace}
    question = picture(app.run(), "lr_map")["question"]
    seeds = question["seeds"]
    assert [seed["rank"] for seed in seeds] == [1, 2, 3, 4]
    for axis in (0, 1):
        of_seeds = [seed["at"][axis] for seed in seeds]
        assert min(of_seeds) <= question["at"][axis] <= max(of_seeds)
    written = {item.ref for section in trace.context.sections for item in section.items}
    assert [seed["cut"] for seed in seeds] == [seed["id"] not in written for seed in seeds]


def test_each_frame_of_the_film_says_what_happened(home: Workbench, opened: Index, visit: Visit) -> None:
    shown = picture(visit("explore", home, view="formation"), "lr_formation")
    assert [frame["title"] for frame in shown["frames"]] == ["Entities", "Layer 1", "Layer 2", "Layer 3"]
    sentence = shown["frames"][1]["said"]
    assert sentence.startswith(
        f"Layer 1: {len(opened.layers[0])} nodes are drawn together into {len(opened.layers[1])} clusters"
    )
    root = opened.layers[3].entity(0).name
    assert shown["frames"][3]["said"] == f"One cluster is left: {len(opened.layers[2])} nodes become the root, {root}."
    assert len(set(shown["of"][0])) == len(opened.layers[1])
    assert set(shown["of"][2]) == {0}


def test_pictures_say_what_the_filters_do_on_them(home: Workbench, visit: Visit) -> None:
    index = home.indexes.open(home.indexes.all()[0].id)
    n = index.layers[0].entities["type"].to_pylist().count("person")
    assert n
    said = f"All {len(index.layers[0]):,} entities. {n:,} of {len(index.layers[0]):,} pass the filters"
    for view, name in (("map", "lr_map"), ("formation", "lr_formation")):
        assert said in str(picture(visit("explore", home, view=view, types="person"), name)), view
        assert "pass the filters" not in str(picture(visit("explore", home, view=view), name)), view
    assert "Filters do not act on this view" in drawn.text(visit("explore", home, view="islands", types="person"))
    assert "Filters do not act" not in drawn.text(visit("explore", home, view="islands"))
