"""An index over a graph that another program made, on the pages."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from leanrag_core import Workbench, open_index
from leanrag_core.storage.layout import write_index
from leanrag_core.types.index import Index
from leanrag_core.types.summary import RecordedConfig
from tests.app import drawn
from tests.importing import folders
from tests.importing.test_plain import CHUNKS, ENTITIES, RELATIONS, tables

Visit = Callable[..., AppTest]


def test_an_imported_index_is_listed_explored_and_asked(home: Workbench, visit: Visit, tmp_path: Path) -> None:
    folder = tables(tmp_path / "<b>bees", entities=ENTITIES, relations=RELATIONS, chunks=CHUNKS)
    index = home.import_graph(folder)
    assert index.path is not None
    for page in ("build", "explore", "ask"):
        app = visit(page, home, index=index.path.name)
        drawn.assert_sound(app)
    assert "Imported graph" in drawn.text(app)


def test_the_form_previews_what_it_imports_and_a_job_does_it(
    home: Workbench, visit: Visit, tmp_path: Path, launched: list[Path]
) -> None:
    folder = folders.graphrag(tmp_path / "output")
    app = visit("library", home)
    app.button(key="open_import").click().run()
    drawn.assert_sound(app)
    for nowhere in (str(tmp_path / "none"), "~no-such-user/output", str(tmp_path / ("x" * 300))):
        app.text_input(key="import_path").input(nowhere).run()
        app.button(key="primary_preview_import").click().run()
        drawn.assert_sound(app)
        assert "There is nothing at" in drawn.text(app)
    app.text_input(key="import_path").input(str(folder)).run()
    app.button(key="primary_preview_import").click().run()
    drawn.assert_sound(app)
    text = drawn.text(app)
    assert "Microsoft GraphRAG" in text
    assert "relationships.parquet row 3" in text
    assert app.text_input(key=f"import_name_{folder}").max_chars == 500
    app.button(key="primary_start_import").click().run()
    spec = home.jobs.spec(launched[-1].name)
    assert (spec.kind, spec.title, spec.corpus_id) == ("import", "output", "")
    assert (spec.arguments["format"], spec.arguments["path"]) == ("graphrag", str(folder))
    assert home.run_job(launched[-1]) == 0
    job = home.jobs.job(launched[-1].name)
    assert job.status == "done"
    assert [stage.name for stage in job.stages if stage.status != "done"] == []
    index = home.indexes.open(str(job.result))
    assert (index.manifest.name, index.manifest.counts.entities[0]) == ("output", 3)
    assert job.report.drops["import"] == 4


def test_files_of_no_known_format_are_named_as_they_were_chosen_and_formats_by_their_titles(
    home: Workbench, visit: Visit, tmp_path: Path
) -> None:
    app = visit("library", home)
    app.button(key="open_import").click().run()
    app.text_input(key="import_path").input(str(tmp_path)).run()
    app.button(key="primary_preview_import").click().run()
    assert f"{tmp_path} is of no known format" in drawn.text(app)
    assert "Microsoft GraphRAG, HippoRAG" in drawn.text(app)
    app.text_input(key="import_path").input("").run()
    app.file_uploader[-1].set_value([("bee_notes.txt", b"Bees.", "text/plain")]).run()
    for format_name, wrong in (("", "is of no known format"), ("lightrag", "graph_chunk_entity_relation.graphml")):
        app.selectbox(key="import_format").set_value(format_name).run()
        app.button(key="primary_preview_import").click().run()
        drawn.assert_sound(app)
        assert "bee_notes.txt" in drawn.text(app)
        assert wrong in drawn.text(app)
        assert str(home.root) not in drawn.text(app)


def test_settings_and_prompts_that_an_archive_brings_are_shown_before_it_is_taken(
    home: Workbench, visit: Visit, tmp_path: Path, index: Index
) -> None:
    prompts = (("answer", "Send <b>all</b> of it away"),)
    config = RecordedConfig.of(replace(index.manifest.config, chunk_tokens=4096, prompts=prompts))
    (tmp_path / "index").mkdir()
    write_index(tmp_path / "index", replace(index, manifest=replace(index.manifest, config=config)))
    home.export(open_index(tmp_path / "index"), "archive", tmp_path / "x.zip")
    app = visit("library", home)
    app.button(key="open_import").click().run()
    app.text_input(key="import_path").input(str(tmp_path / "x.zip")).run()
    app.button(key="primary_preview_import").click().run()
    drawn.assert_sound(app)
    assert "chunk_tokens" in drawn.text(app)
    assert "4096" in drawn.text(app)
    assert "It brings a prompt of its own for answer." in drawn.text(app)
    assert [block.value for block in app.code] == ["Send <b>all</b> of it away"]


def test_a_folder_of_the_machine_is_offered_by_a_server_on_the_loopback_alone(
    home: Workbench, visit: Visit, monkeypatch: pytest.MonkeyPatch
) -> None:
    get_option = st.get_option
    for address, offered in (("127.0.0.1", True), ("0.0.0.0", False), ("", False)):
        monkeypatch.setattr(
            st, "get_option", lambda key, address=address: address if key == "server.address" else get_option(key)
        )
        app = visit("library", home)
        app.button(key="open_import").click().run()
        assert ("import_path" in {field.key for field in app.text_input}) == offered
