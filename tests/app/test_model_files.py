"""The card of model files on Settings, and the engine Model file of Build; nothing is loaded here."""

from collections.abc import Callable
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from leanrag_core import Workbench
from leanrag_core.models import model_server
from leanrag_core.types.settings import Settings
from pages.build import engine_form
from pages.settings import model_files_view
from tests.app import drawn
from tests.endpoint.model_files import LLAMA, header

Visit = Callable[..., AppTest]
HOSTILE = "<img src=x onerror=alert(1)>.gguf"


@pytest.fixture
def files(home: Workbench) -> Path:
    folder = home.root / "models"
    folder.mkdir()
    (folder / "tiny.gguf").write_bytes(header(LLAMA))
    (folder / HOSTILE).write_bytes(b"no model")
    return folder


@pytest.fixture(autouse=True)
def _with_package(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (model_server, model_files_view, engine_form):
        monkeypatch.setattr(module, "is_installed", lambda: True)


def test_files_of_the_folder_are_used_by_a_click_and_what_is_none_says_why(
    home: Workbench, files: Path, visit: Visit
) -> None:
    app = visit("settings", home)
    drawn.assert_sound(app)
    assert "window 4,096" in drawn.text(app)
    assert "is no model file in the GGUF format" in drawn.text(app)
    assert "<img src=x" not in "".join(drawn.html(app))
    assert str(files) not in drawn.text(app).replace(str(home.root) + "\n", "")
    app.button("use_file_tiny.gguf").click().run()
    assert home.settings.read().build_model == "file:tiny.gguf"
    assert "in use" in drawn.text(app)
    drawn.assert_sound(app)


def test_without_the_package_the_command_that_installs_it_is_told(
    home: Workbench, files: Path, visit: Visit, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in (model_files_view, engine_form):
        monkeypatch.setattr(module, "is_installed", lambda: False)
    app = visit("settings", home)
    assert "pip install -r requirements-local.txt" in drawn.text(app)
    app = visit("build", home, b_engine="Model file")
    drawn.assert_sound(app)
    assert "pip install -r requirements-local.txt" in drawn.text(app)
    assert app.button("primary_build").disabled


def test_build_proposes_the_file_and_the_built_in_engine_can_extract(
    home: Workbench, files: Path, visit: Visit, launched: list[Path]
) -> None:
    home.settings.save(Settings(build_model="file:tiny.gguf"))
    app = visit("build", home)
    drawn.assert_sound(app)
    assert app.button_group("lr_b_engine").value == "Model file"
    assert app.selectbox("lr_b_file").value == "tiny.gguf"
    for task in ("names", "all", "names"):
        app.selectbox("lr_b_file_does").set_value(task).run()
        drawn.assert_sound(app)
    app.button("primary_build").click().run()
    [folder] = launched
    config = home.jobs.job(folder.name).config
    assert (config["model"], config["aggregation_model"]) == ("builtin", "file:tiny.gguf")
    assert str(files) not in (folder / "spec.json").read_text()


def test_an_answer_by_a_file_that_is_gone_says_so_and_the_page_holds(home: Workbench, visit: Visit) -> None:
    home.settings.save(Settings(answer_model="file:gone.gguf"))
    app = visit("ask", home, q="What do beekeepers use against Varroa destructor?")
    drawn.assert_sound(app)
    assert "gone.gguf is not in the models folder" in drawn.text(app)
