"""Islands and clusters on the page: what is said of indexes of all kinds, and what comes with the scripts."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from leanrag_core import Workbench
from leanrag_core.indexing.manifest import count_layers, counts_of
from leanrag_core.storage.layout import write_index
from leanrag_core.types.graph import Layer
from tests.app import drawn
from tests.importing.test_plain import CHUNKS, ENTITIES, RELATIONS, tables
from tests.small_index import small_index

Visit = Callable[..., AppTest]


def panel(app: AppTest) -> dict[str, Any]:
    (values,) = drawn.component(app, "lr_tau_panel")
    return values


def stored(bench: Workbench, name: str, layers: tuple[Layer, ...]) -> str:
    """Store an index of these layers, with the documents of the small one; return its id."""
    index, rows = small_index(), count_layers(layers)
    counts = counts_of(rows, index.documents.num_rows, index.chunks.num_rows)
    out = bench.root / "indexes" / name
    out.mkdir()
    write_index(out, replace(index, layers=layers, manifest=replace(index.manifest, layers=rows, counts=counts)))
    return name


def test_the_finding_comes_first_and_the_builtin_engine_costs_nothing(home: Workbench, visit: Visit) -> None:
    app = visit("explore", home, view="islands")
    drawn.assert_sound(app)
    text = drawn.text(app)
    assert "Without them a summary reaches its neighbour only through the root." in text
    (pictures,) = drawn.component(app, "lr_islands")
    index = home.indexes.open(home.indexes.all()[0].id)
    assert [layer["number"] for layer in pictures["layers"]] == [
        layer.number for layer in index.layers[1:] if len(layer) > 1
    ]
    values = panel(app)
    assert values["rebuilds"] is True
    assert all(layer["calls"] is None for layer in values["layers"])
    assert sum(values["layers"][0]["counts"]) == index.layers[1].relations.num_rows


def test_of_a_models_index_the_calls_that_are_answered_are_known(llm_home: Workbench, visit: Visit) -> None:
    index_id = next(index.id for index in llm_home.indexes.all() if str(index.config.model).startswith("openai:"))
    app = visit("explore", llm_home, view="islands", index=index_id)
    drawn.assert_sound(app)
    index = llm_home.indexes.open(index_id)
    for layer in panel(app)["layers"]:
        relations = index.layers[layer["number"]].relations
        kinds = relations["kind"].to_pylist()
        assert layer["calls"] is not None
        assert layer["calls"]["fresh"][0] == kinds.count("concatenated")  # those of the built tau are kept
        assert "answered already" in layer["calls"]["note"]


def test_an_imported_index_says_why_it_cannot_be_rebuilt(home: Workbench, visit: Visit, tmp_path: Path) -> None:
    index = home.import_graph(tables(tmp_path / "bees", entities=ENTITIES, relations=RELATIONS, chunks=CHUNKS))
    assert index.path is not None
    app = visit("explore", home, view="islands", index=index.path.name)
    drawn.assert_sound(app)
    if any(len(layer) > 1 for layer in index.layers[1:]):
        assert panel(app)["rebuilds"] is False
        assert "was imported" in panel(app)["note"]
    else:
        assert "no islands of summaries" in drawn.text(app)


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_layers_without_aggregated_relations_stay_islands(lang: str, home: Workbench, visit: Visit) -> None:
    base, middle, root = small_index().layers
    bare = Layer(middle.entities, middle.relations.slice(0, 0), 1, middle.vectors, middle.parent)
    index_id = stored(home, "bare", (base, bare, root))
    app = visit("explore", home, view="islands", index=index_id, lang=lang)
    drawn.assert_sound(app)
    assert drawn.component(app, "lr_tau_panel") == []
    expected = {
        "en": "No relation joins the 2 aggregated entities of layer 1",
        "zh": "第 1 层的 2 个聚合实体之间没有关系",
    }
    assert expected[lang] in drawn.text(app)


def test_one_layer_has_no_islands_and_no_clusters(home: Workbench, visit: Visit) -> None:
    index_id = stored(home, "alone", (replace(small_index().layers[2], number=0),))
    app = visit("explore", home, view="islands", index=index_id)
    drawn.assert_sound(app)
    assert "This index has one layer" in drawn.text(app)
    app = visit("explore", home, view="clusters", index=index_id)
    drawn.assert_sound(app)
    assert "nothing was clustered" in drawn.text(app)


def test_the_board_lists_every_cluster_and_its_stability_on_a_click(home: Workbench, visit: Visit) -> None:
    app = visit("explore", home, view="clusters")
    drawn.assert_sound(app)
    (board,) = drawn.component(app, "lr_clusters")
    index = home.indexes.open(home.indexes.all()[0].id)
    assert len(board["rows"]) == len(board["dots"]) == len(index.layers[1])
    assert sum(count for _, count in board["sizes"]) == len(index.layers[1])
    assert sum(row[2] for row in board["rows"]) == len(index.layers[0])
    assert {row[4] for row in board["rows"]} == {None}
    assert "There is no other index of this corpus" in drawn.text(app)
    app.button(key="check_stability").click().run()
    drawn.assert_sound(app)
    (board,) = drawn.component(app, "lr_clusters")
    assert all(0 <= row[4] <= 1 for row in board["rows"])
    assert "adjusted Rand index" in drawn.text(app)
