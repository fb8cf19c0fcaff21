"""The table of indexes, suggestions that a person accepts, and the effect of clustersize, on the Build page."""

from collections.abc import Callable

import pytest
from streamlit.testing.v1 import AppTest

from leanrag_core import IndexConfig, Workbench
from leanrag_core.indexing.forecasting.growth import entities_of_tokens
from leanrag_core.queries.index_table import common_settings, differing_settings, grouped
from leanrag_core.types.config import BUILTIN, MULTILINGUAL
from pages.build import suggest_view
from pages.build.index_table import shown
from tests import waiting
from tests.app import drawn
from tests.app.conftest import CORPUS

Visit = Callable[..., AppTest]


@pytest.fixture
def three(home: Workbench) -> Workbench:
    """Return a home with three indexes: clustersize 3, 4 and 4 with another seed, the last one of another corpus."""
    home.build(CORPUS, IndexConfig(cluster_size=4), name="Four")
    own = home.add_documents("Own", [("a.txt", b"Honey bees build comb. Ada Byrne keeps honey bees.")]).corpus_id
    home.build(own, IndexConfig(cluster_size=4, seed=7), name="Other")
    return home


def table(app: AppTest) -> dict[str, list[object]]:
    frame = next(each.value for each in app.dataframe if "Built, UTC" in each.value)
    return {name: frame[name].tolist() for name in frame}


def test_clustersize_tau_and_the_settings_that_differ_are_columns(three: Workbench, visit: Visit) -> None:
    app = visit("build", three)
    drawn.assert_sound(app)
    columns = table(app)
    assert sorted(columns["clustersize"]) == [3, 4, 4]
    assert sorted(columns["Random seed"]) == [0, 0, 7]
    assert set(columns["tau"]) == {"by default"}, "a column also where all have the same"
    assert not {"Chunk size, tokens", "Calls", "Evidence recall"} & columns.keys()
    assert "The same in all of them: " in drawn.text(app)


def test_the_table_is_filtered_and_grouped(three: Workbench, visit: Visit) -> None:
    app = visit("build", three)
    app.text_input("index_filter").input("seed 7").run()
    assert table(app)["Name"] == ["Other"]
    for as_shown in ("Random seed 7", "Clustersize 4", "tau by default", "heuristic graph"):
        app.text_input("index_filter").input(as_shown).run()
        assert "No index has that in its name" not in drawn.text(app), as_shown
    app.text_input("index_filter").input("clustersize 3").run()
    assert table(app)["clustersize"] == [3]
    app.text_input("index_filter").input("<b>nothing</b>").run()
    drawn.assert_sound(app)
    assert len(table(app)["Name"]) == 3
    assert "No index has that in its name" in drawn.text(app)
    app.text_input("index_filter").input("").run()
    app.selectbox("index_group").set_value("corpus_name").run()
    drawn.assert_sound(app)
    assert next(iter(table(app))) == "Corpus"
    assert app.query_params["group"] == "corpus_name"


def test_indexes_of_one_group_are_together(three: Workbench) -> None:
    indexes = three.indexes.all()
    names = [index.corpus_name for index in grouped(sorted(indexes, key=lambda index: index.name), "corpus_name")]
    assert names == sorted(names, key=names.index), "groups in the order of their first index"
    assert differing_settings(indexes) == ("cluster_size", "seed")
    assert common_settings(indexes, ("tau", "seed")) == {"tau": None}


def test_indexes_are_compared_on_the_same_question(three: Workbench, visit: Visit) -> None:
    app = visit("build", three, ticked=three.indexes.all()[0].id)
    assert app.button("open_compare").label == "Compare 1 index"
    wanted = [index.id for index in three.indexes.all()][:2]
    next(box for box in app.multiselect if "up to four" in box.label).set_value(wanted).run()
    app.button("open_compare").click().run()
    drawn.assert_sound(app)
    assert app.query_params["cols"] == "ab"
    assert [app.query_params["a_index"], app.query_params["b_index"]] == wanted


def test_suggestions_are_made_when_asked_for_and_accepted_one_by_one(home: Workbench, visit: Visit) -> None:
    app = visit("build", home)
    with pytest.raises(KeyError):
        app.button("accept_top_n")
    app.button("suggest_now").click().run()
    [index] = home.indexes.all()
    made = waiting.until(lambda: suggest_view._calls().kept((index.id, index.created)))
    app.run()
    drawn.assert_sound(app)
    suggested = {each.name: each.value for each in made.suggestions}
    assert app.number_input("lr_b_cluster_size").value == 20, "nothing is set before it is accepted"
    app.button("accept_tau").click().run()
    assert app.text_input("lr_b_tau").value == suggested["tau"]
    assert app.query_params["b_tau"] == suggested["tau"]
    assert app.button("accept_tau").disabled
    app.button("accept_top_n").click().run()
    app.switch_page("../ask/page.py").run()
    assert app.slider("lr_n").value == int(suggested["top_n"])


def test_the_effect_of_clustersize_is_drawn_for_every_size(home: Workbench, visit: Visit) -> None:
    [effect] = drawn.component(visit("build", home, b_cluster_size="10"), "size_effect")
    assert effect["size"] == 10
    by_size = {row[0]: row[1:] for row in effect["rows"]}
    entities = home.indexes.all()[0].layers[0].entities
    assert by_size[2][0] > by_size[20][0], "smaller clusters, more layers"
    assert by_size[200][1] == 1, f"{entities} entities are one cluster of 200"
    assert f"over the {entities:,} entities" in effect["basis"]
    assert effect["relations"] == "summarised relations", "no model is called by the built-in engine"


def test_without_an_index_the_effect_is_estimated(empty_home: Workbench) -> None:
    corpus = empty_home.add_documents("Own", [("a.txt", b"Honey bees build comb. " * 100)]).corpus_id
    tokens = empty_home.corpora.summary(corpus).tokens
    by_rules, by_model = (
        empty_home.builds.size_effects(corpus, IndexConfig(model=model), (2, 20)) for model in (BUILTIN, "openai:m")
    )
    assert not by_rules.is_measured
    assert not by_model.is_measured
    assert by_model.entities == round(12 * tokens / 1000)
    assert by_rules.entities > 4 * by_model.entities, "rules take every noun phrase for an entity"


def test_the_estimate_by_rules_holds_what_samples_gave(empty_home: Workbench) -> None:
    estimated = entities_of_tokens(17_027, BUILTIN)
    assert estimated.low < 1_350 < estimated.high  # entities of the beekeeping sample by the built-in engine
    assert estimated.low < estimated.expected < estimated.high


def test_an_embedding_has_the_name_that_the_form_gives_it() -> None:
    assert [shown("embedding", name) for name in (BUILTIN, MULTILINGUAL, "openai:embedder")] == [
        "English (MiniLM)",
        "Every language (e5)",
        "embedder",
    ]
    assert shown("model", BUILTIN) == "built-in"
