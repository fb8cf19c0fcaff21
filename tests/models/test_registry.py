from pathlib import Path

import pytest

from leanrag_core.errors import InvalidConfig
from leanrag_core.models import backends
from leanrag_core.models.minilm import FORMS, MiniLM
from leanrag_core.models.registry import Models, broken_backends
from leanrag_core.models.remote import RemoteLanguageModel
from leanrag_core.models.remote_embedding import RemoteEmbeddingModel
from leanrag_core.storage.calls import CallStore
from leanrag_core.types.calls import Budget
from leanrag_core.types.settings import Settings


@pytest.fixture
def models(tmp_path: Path) -> Models:
    return Models(Settings(base_url="http://127.0.0.1:9/v1"), CallStore(tmp_path / "calls"))


def test_builtin_is_minilm_and_no_language_model(models: Models) -> None:
    assert models.language("builtin") is None
    assert isinstance(models.embedding("builtin"), MiniLM)


def test_a_name_after_openai_is_a_model_of_the_endpoint(models: Models) -> None:
    language, embedding = models.language("openai:qwen3:4b"), models.embedding("openai:nomic")
    assert isinstance(language, RemoteLanguageModel)
    assert isinstance(embedding, RemoteEmbeddingModel)
    assert (language.model, language.name, embedding.name) == ("qwen3:4b", "openai:qwen3:4b", "openai:nomic")
    assert language.meter is embedding.meter
    assert language.pacer is embedding.pacer


@pytest.mark.parametrize("name", ["", "gpt-5", "openai:", "openai:  ", "BUILTIN", "../builtin", "builtin:x", "other:x"])
def test_any_other_name_is_refused_with_what_to_write(models: Models, name: str) -> None:
    with pytest.raises(InvalidConfig, match="write builtin, or openai:NAME"):
        models.language(name)


def test_an_index_gets_that_form_of_the_builtin_model_which_it_recorded(models: Models) -> None:
    recorded = [MiniLM(form=form).fingerprint for form in FORMS]
    assert len(set(recorded)) == 3
    assert [models.embedding("builtin", each).fingerprint for each in recorded] == recorded
    assert models.embedding("builtin", "all-MiniLM-L6-v2:of another machine").fingerprint == recorded[0]
    assert models.embedding("builtin").fingerprint == MiniLM().fingerprint == recorded[0]


@pytest.mark.parametrize("dollars", [float("nan"), float("inf"), -1.0])
def test_a_budget_that_is_no_amount_is_refused(dollars: float) -> None:
    with pytest.raises(InvalidConfig, match="budget"):
        Budget(dollars=dollars)


def test_a_file_in_the_folder_is_a_back_end_and_a_broken_one_hides_no_other(
    models: Models, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "echo.py").write_text(
        "class Backend:\n"
        "    name, title = 'echo', None\n"
        "    def __init__(self, models): self.models = models\n"
        "    def language(self, model): return f'{model} of {self.models.settings.host}'\n"
        "    def embedding(self, model, fingerprint): return None\n"
    )
    (tmp_path / "torn.py").write_text("import no_such_package_anywhere\n")
    monkeypatch.setattr(backends, "__path__", [*backends.__path__, str(tmp_path)])
    assert str(models.language("echo:parrot")) == "parrot of 127.0.0.1"
    assert isinstance(models.embedding("builtin"), MiniLM)
    assert [broken.file for broken in broken_backends()] == ["torn.py"]
    with pytest.raises(InvalidConfig, match=r"'torn:any' is not known: .*torn\.py.*no_such_package_anywhere"):
        models.language("torn:any")
