"""The verb roles: who does what is shown, set by a provider or by fields, tried, and taken back; no key is stored."""

import json
from pathlib import Path
from typing import Any

import pytest

from leanrag_core import Workbench
from leanrag_core.__main__ import main
from leanrag_core.messages.catalog import sentence
from leanrag_core.models.providers import providers
from leanrag_core.models.reranking import rerank_form
from leanrag_core.types.roles import ROLES, Price, Role
from leanrag_core.types.settings import Settings
from leanrag_core.workbench.role_checks import leaves, served_by, writers_at_common_server
from tests.endpoint import faults
from tests.endpoint.faults import FaultPlan
from tests.endpoint.listener import listener
from tests.endpoint.server import EndpointServer


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("LEANRAG_HOME", str(tmp_path))
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    monkeypatch.delenv("GROQ_API_KEY", raising=False)
    return tmp_path


def ran(capsys: pytest.CaptureFixture[str], *words: str) -> dict[str, Any]:
    assert main(["roles", *words, "--json"]) == 0
    printed: dict[str, Any] = json.loads(capsys.readouterr().out)
    return printed


def test_every_provider_is_a_role() -> None:
    for provider in providers():
        for role in ROLES:
            if provider.serves(role):
                assert provider.role(role).base_url == provider.address
        if provider.rerank_form:
            assert rerank_form(provider.rerank_form).name == provider.rerank_form


def test_a_model_of_another_back_end_is_not_said_to_be_asked_at_the_endpoint(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for model, title in (("file:small.gguf", "Model file"), ("parrot:grey", "parrot")):
        (row,) = ran(capsys, "answers", "--model", model)["roles"]
        assert row["address"] == ""
        assert main(["roles", "answers"]) == 0
        assert capsys.readouterr().out.split(None, 2)[2].strip() == title
        served = served_by(Workbench.default().settings.read(), "answers")
        assert served is not None
        assert sentence(served) == title
    assert served_by(Workbench.default().settings.read(), "judging") is None


def test_a_role_is_set_shown_and_taken_back(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert {row["model"] for row in ran(capsys)["roles"]} == {"builtin"}
    named = ("--provider", "groq", "--model", "openai:llama", "--price", "0.5", "1", "--window", "8192")
    shown = ran(capsys, "judging", *named)
    (row,) = shown["roles"]
    assert (row["address"], row["key_variable"]) == ("https://api.groq.com/openai/v1", "GROQ_API_KEY")
    assert row["leaves_this_machine"]
    settings = Workbench.default().settings.read()
    assert leaves(settings) == ("judging",)
    assert (settings.of_role("judging").prices, settings.prices) == ({"llama": Price(0.5, 1.0)}, {})
    assert ran(capsys, "judging", "--check")["check"] == {
        "state": "untried",
        "said": "not tried: GROQ_API_KEY is not set",
    }
    ran(capsys, "judging", "--clear")
    assert Workbench.default().settings.read().roles == {}


def test_the_common_server_is_asked_for_the_chosen_models_that_have_no_server_of_their_own() -> None:
    settings = Settings(base_url="http://here:1/v1", build_model="openai:big", answer_model="openai:small")
    assert writers_at_common_server(settings) == ("big", "small")
    elsewhere = settings.with_role("answers", Role(base_url="http://there:1/v1"), "openai:small")
    assert writers_at_common_server(elsewhere) == ("big",)
    assert writers_at_common_server(Settings(base_url="http://here:1/v1", build_embedding="openai:vectors")) == ()


def test_wrong_words_are_refused_without_repeating_a_secret(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for words in (
        ("judging", "--address", "http://me:hush-hush@x/v1"),
        ("judging", "--key-variable", "sk-hush-hush-hush-hush-hush"),
        ("judging", "--body", '{"api_key": "hush-hush"}'),
        ("judging", "--provider", "nobody"),
        ("--check",),
    ):
        assert main(["roles", *words]) == 2
        assert "hush" not in capsys.readouterr().err
    assert not (home / "settings.json").exists() or "hush" not in (home / "settings.json").read_text()


def test_checks_say_what_each_role_can(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def ranked(path: str, body: dict[str, Any]) -> Any:
        scores = [float("Bees" in text) for text in body["documents"]]
        return {"results": [{"index": place, "relevance_score": score} for place, score in enumerate(scores)]}

    with EndpointServer() as server, listener(ranked) as ranks:
        ran(capsys, "extraction", "--address", server.url, "--model", "openai:scripted-chat")
        ran(capsys, "embeddings", "--address", server.url, "--model", "openai:scripted-embedding")
        ran(capsys, "reranking", "--address", ranks.url)
        assert ran(capsys, "embeddings", "--check")["check"]["said"] == "64 numbers, same text same vector"
        for _ in range(2):
            assert ran(capsys, "reranking", "--check")["check"]["said"] == "puts the better passage first"
        assert len(ranks.bodies) == 2  # a check asks anew
        assert ran(capsys, "extraction", "--check")["check"]["said"].endswith("entities")
    assert ran(capsys, "embeddings", "--check")["check"]["state"] == "bad"


@pytest.mark.parametrize(
    ("role", "model", "fault", "told"),
    [
        ("embeddings", "scripted-embedding", faults.NOT_A_NUMBER, "vectors that are not numbers"),
        ("embeddings", "scripted-embedding", faults.ZERO_VECTOR, "a zero vector"),
        ("answers", "scripted-chat", faults.EMPTY_CONTENT, "an empty reply"),
    ],
)
def test_a_check_fails_with_what_a_build_would_refuse(
    role: str, model: str, fault: str, told: str, home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with EndpointServer(plan=FaultPlan(share=1.0, kinds=(fault,), recover_after=None)) as server:
        ran(capsys, role, "--address", server.url, "--model", f"openai:{model}")
        check = ran(capsys, role, "--check")["check"]
    assert (check["state"], check["said"]) == ("bad", f"{model} sent {told}")
