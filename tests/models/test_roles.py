"""Roles of models: each asked at its own address with its own key, limits and fields; nothing set changes nothing."""

from pathlib import Path
from typing import Any

import pytest

from leanrag_core import Workbench
from leanrag_core.errors import InvalidConfig
from leanrag_core.files.records import to_json
from leanrag_core.models.base import Call
from leanrag_core.models.registry import Models
from leanrag_core.models.remote import RemoteLanguageModel
from leanrag_core.models.remote_embedding import RemoteEmbeddingModel
from leanrag_core.storage.calls import CallStore
from leanrag_core.storage.settings import settings_of
from leanrag_core.types.roles import (
    AGGREGATION,
    ANSWERS,
    EMBEDDINGS,
    EXTRACTION,
    JUDGING,
    REWRITING,
    Price,
    Role,
)
from leanrag_core.types.settings import Settings
from tests.endpoint.coast import CONFIG, story
from tests.endpoint.listener import listener
from tests.endpoint.server import EndpointServer

HELLO = [{"role": "user", "content": "hello"}]


def reply_of_server(path: str, body: dict[str, Any]) -> dict[str, Any]:
    if path.endswith("/embeddings"):
        size = body.get("dimensions", 4)
        rows = [[1.0 + len(text) % 7, *[0.5] * (size - 1)] for text in body["input"]]
        return {"data": [{"index": place, "embedding": row} for place, row in enumerate(rows)]}
    message = {"role": "assistant", "content": "hello yourself"}
    return {"choices": [{"message": message, "finish_reason": "stop"}], "usage": {"prompt_tokens": 9}}


def models_of(settings: Settings, folder: Path) -> Models:
    return Models(settings, CallStore(folder / "calls"))


def language(models: Models, role: str) -> RemoteLanguageModel:
    made = models.language("openai:m", role)
    assert isinstance(made, RemoteLanguageModel)
    return made


def test_without_roles_fingerprints_keys_and_the_settings_file_are_as_ever(tmp_path: Path) -> None:
    plain = models_of(Settings(base_url="http://127.0.0.1:9/v1"), tmp_path)
    messages = [{"role": "user", "content": "x"}]
    every = {language(plain, role).key(Call(messages, task="t.v1:1")) for role in ("", EXTRACTION, JUDGING, ANSWERS)}
    # The key of that question as it was before there were roles.
    assert every == {"ea7f540d33b52b6fd5557f9d0580b988def8d3aa7790a52a3e6c82e6c16e4d92"}
    assert language(plain, EXTRACTION).fingerprint == "openai:m@t0"
    embedding = plain.embedding("openai:e")
    assert embedding.fingerprint == "openai:e"
    assert isinstance(embedding, RemoteEmbeddingModel)
    assert embedding._key("bees") == "7fc9396fb2abd4837a58b849b4918b7ccfd40059e549aa0a31c151026e0e7dbf"
    assert b"roles" not in to_json(Settings())


def test_a_role_goes_to_its_own_server_with_its_own_key_and_fields(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "key-of-all")
    monkeypatch.setenv("JUDGE_KEY", "key-of-the-judge")
    with listener(reply_of_server) as every, listener(reply_of_server) as judge:
        own = Role(judge.url, "JUDGE_KEY", temperature=0.5, max_reply_tokens=99, body='{"reasoning_effort": "low"}')
        models = models_of(Settings(base_url=every.url).with_role(JUDGING, own), tmp_path)
        language(models, ANSWERS).complete(HELLO)
        language(models, JUDGING).complete(HELLO)
        language(models, JUDGING).complete(HELLO)  # kept
    assert (every.keys, judge.keys) == (["Bearer key-of-all"], ["Bearer key-of-the-judge"])
    assert judge.bodies == [
        {"model": "m", "messages": HELLO, "temperature": 0.5, "max_tokens": 99, "reasoning_effort": "low"}
    ]
    assert "reasoning_effort" not in every.bodies[0]
    assert language(models, JUDGING).fingerprint.startswith("openai:m@t0.5+")
    assert models.meter.read().usage.calls == 2


def test_the_key_of_all_is_not_sent_to_another_server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "key-of-all")
    with listener(reply_of_server) as other:
        models = models_of(Settings().with_role(JUDGING, Role(other.url)), tmp_path)
        language(models, JUDGING).complete(HELLO)
    assert other.keys == ["Bearer no-key-needed"]
    assert models.in_role(JUDGING).settings.key_variable == "JUDGING_API_KEY"


def test_roles_without_settings_follow_the_role_whose_model_they_take_over() -> None:
    settings = Settings().with_role(EXTRACTION, Role("http://a/v1"), "openai:x")
    assert settings.build_model == "openai:x"
    assert [settings.of_role(role).base_url for role in (AGGREGATION, ANSWERS, REWRITING)] == ["http://a/v1"] * 3
    assert settings.of_role(JUDGING) is settings
    named = settings.with_role(ANSWERS, Role(), "openai:y")  # a model of its own, at the endpoint of all
    assert [named.of_role(role).base_url for role in (AGGREGATION, ANSWERS, REWRITING)] == ["http://a/v1", "", ""]


def test_price_and_window_of_a_role_are_those_of_its_model() -> None:
    own = Role(model="openai:j", price=Price(1.0, 2.0), window=4096)
    settings = Settings(prices={"m": Price(3.0, 3.0)}).with_role(JUDGING, own)
    judging = settings.of_role(JUDGING)
    assert (judging.price("j"), judging.price("m"), judging.windows) == (Price(1.0, 2.0), Price(3.0, 3.0), {"j": 4096})
    assert settings.unpriced(["openai:j"]) == ["j"]


def test_prefixes_and_dimensions_are_sent_and_an_index_is_asked_as_it_was_built(tmp_path: Path) -> None:
    with listener(reply_of_server) as server:
        own = Role(server.url, query_prefix="query: ", passage_prefix="passage: ", dimensions=3)
        models = models_of(Settings().with_role(EMBEDDINGS, own), tmp_path)
        model = models.embedding("openai:e")
        assert isinstance(model, RemoteEmbeddingModel)
        assert model.embed(["bees"]).shape == (1, 3)
        model.embed_queries(["bees"])
        asked = [body["input"] for body in server.bodies[-2:]]
        assert asked == [["passage: bees"], ["query: bees"]]
        assert {body["dimensions"] for body in server.bodies} == {3}
        recorded = model.fingerprint
        other = models_of(Settings().with_role(EMBEDDINGS, Role(server.url, dimensions=2)), tmp_path)
        again = other.embedding("openai:e", recorded)
        assert (again.fingerprint, again.dimension) == (recorded, 3)
        assert other.embedding("openai:e", "openai:e").fingerprint == "openai:e"
        assert other.embedding("openai:e").fingerprint == 'openai:e@{"dimensions": 2}'


@pytest.mark.parametrize(
    ("cells", "code"),
    [
        ({"base_url": "http://me:secret@x/v1"}, "role.base_url_holds_secrets"),
        ({"base_url": "x/v1"}, "role.base_url_invalid"),
        ({"base_url": "http://x/v1?key=1"}, "role.base_url_invalid"),
        ({"key_variable": "sk-abcdefghijklmnopqrstuvwxyz"}, "role.key_variable_invalid"),
        ({"body": "{"}, "role.body_invalid"),
        ({"body": "[1]"}, "role.body_invalid"),
        ({"body": '{"a": NaN}'}, "role.body_invalid"),
        ({"body": '{"messages": []}'}, "role.body_sets_ours"),
        ({"body": '{"api_key": "x"}'}, "role.body_holds_key"),
        ({"body": '{"metadata": {"token": "x"}}'}, "role.body_holds_key"),
        ({"body": '{"user": "sk-abcdefghijklmnopqrst"}'}, "role.body_holds_key"),
        ({"window": 100}, "role.limit_too_small"),
        ({"timeout_seconds": 0.5}, "role.limit_too_small"),
        ({"max_reply_tokens": 10}, "role.limit_too_small"),
        ({"body": '{"headers": {"Authorization": "Bearer x"}}'}, "role.body_holds_key"),
    ],
)
def test_what_a_role_may_not_hold_is_refused_and_not_repeated(cells: dict[str, Any], code: str) -> None:
    with pytest.raises(InvalidConfig) as refused:
        Role(**cells)
    assert refused.value.message.code == code
    assert "secret" not in str(refused.value)
    assert "abcdefgh" not in str(refused.value)


def test_a_file_with_an_unknown_role_is_refused() -> None:
    with pytest.raises(InvalidConfig, match="is no role"):
        settings_of({"roles": {"singing": {}}})


def test_a_build_asks_each_role_at_its_server_and_no_key_is_stored(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EXTRACTION_KEY", "extraction-secret-0815")
    monkeypatch.setenv("EMBEDDINGS_KEY", "embedding-secret-0815")
    bench = Workbench.default(tmp_path / "home")
    with (
        EndpointServer(api_key="extraction-secret-0815") as writes,
        EndpointServer(api_key="embedding-secret-0815") as embeds,
        EndpointServer() as answers,
    ):
        settings = Settings(base_url="http://127.0.0.1:9/v1", retries=0)
        settings = settings.with_role(EXTRACTION, Role(writes.url, "EXTRACTION_KEY"))
        settings = settings.with_role(EMBEDDINGS, Role(embeds.url, "EMBEDDINGS_KEY"))
        bench.settings.save(settings.with_role(ANSWERS, Role(answers.url), "openai:writer"))
        corpus = bench.add_documents("Coast", [(f"s{n}.txt", story(n)) for n in range(2)]).corpus_id
        index = bench.build(corpus, CONFIG)
        answer = bench.ask(index, "Who built the Lantern House?")
        assert answer.model == "openai:writer"
        assert {call.path for call in writes.log} == {"/v1/chat/completions"}
        assert {call.path for call in embeds.log} == {"/v1/embeddings"}
        assert [call.path for call in answers.log] == ["/v1/chat/completions"]
        # A role with a server of its own answers about every index.
        builtin = bench.build(corpus)
        assert bench.ask(builtin, "Who built the Lantern House?").model == "openai:writer"
    stored = b"".join(path.read_bytes() for path in tmp_path.rglob("*") if path.is_file())
    assert b"secret-0815" not in stored
