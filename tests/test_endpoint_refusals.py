"""What is refused before a model at an endpoint is asked, and what is said where it never answers."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from leanrag_core.__main__ import main
from leanrag_core.errors import EndpointError, InvalidConfig
from leanrag_core.types.calls import Budget
from leanrag_core.types.settings import Price
from tests.endpoint.coast import CONFIG, bench_in, story
from tests.endpoint.server import EndpointServer

pytestmark = pytest.mark.slow


@pytest.fixture
def server() -> Iterator[EndpointServer]:
    with EndpointServer() as endpoint:
        yield endpoint


@pytest.mark.parametrize("name", ["gpt", "openai:", "builtin"])
def test_an_aggregation_model_that_cannot_be_meant_is_refused_before_anything_is_asked(
    server: EndpointServer,
    tmp_path: Path,
    name: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    bench, corpus = bench_in(tmp_path, server)
    config = replace(CONFIG, aggregation_model=name)
    with pytest.raises(InvalidConfig):
        bench.builds.start(corpus, config)
    with pytest.raises(InvalidConfig):
        bench.build(corpus, config)
    monkeypatch.setenv("LEANRAG_HOME", str(tmp_path))
    options = ["--model", "openai:m", "--embedding", "openai:e", "--aggregation-model", name]
    assert main(["build", str(tmp_path / "none"), "--out", str(tmp_path / "index"), *options]) == 2
    assert "openai:NAME" in capsys.readouterr().err
    assert server.log == []
    assert bench.jobs.all() == []


def test_a_budget_in_dollars_without_a_price_is_refused_with_what_to_do(
    server: EndpointServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    bench, corpus = bench_in(tmp_path, server, prices={"m": Price(10.0, 10.0)})
    with pytest.raises(InvalidConfig, match=r"no price is known for e.*--budget-tokens"):
        bench.builds.start(corpus, CONFIG, budget=Budget(dollars=5.0))
    monkeypatch.setenv("LEANRAG_HOME", str(tmp_path))
    (tmp_path / "story.txt").write_bytes(story(1))
    arguments = ["build", str(tmp_path / "story.txt"), "--out", str(tmp_path / "index"), "--model", "openai:new"]
    assert main([*arguments, "--budget", "5"]) == 2
    assert "no price is known for new" in capsys.readouterr().err
    assert server.log == []
    assert main([*arguments, "--budget-tokens", "1", "--chunk-tokens", "64", "--overlap-tokens", "8"]) == 1
    assert "the budget of 1 tokens is spent" in capsys.readouterr().err


@pytest.mark.parametrize("refused", [False, True])
def test_when_every_chunk_fails_the_error_quotes_the_server(
    server: EndpointServer, tmp_path: Path, refused: bool
) -> None:
    bench, corpus = bench_in(tmp_path, server, retries=0)
    config, words = replace(CONFIG, embedding="builtin", chunk_tokens=512), "does not answer: is it running"
    if refused:
        server.refuses, words = (
            {"PASSAGE": (400, "odd", "The moon is in the wrong house.")},
            "moon is in the wrong house",
        )
    else:
        bench.settings.save(replace(bench.settings.read(), base_url="http://127.0.0.1:9/v1"))
    with pytest.raises(EndpointError, match=words):
        bench.build(corpus, config)
    assert bench.indexes.all() == []
