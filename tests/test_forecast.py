"""The forecast of an LLM build beside what the build then asks of the scripted server."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from leanrag_core import IndexConfig, Workbench
from leanrag_core.messages.message import message
from leanrag_core.types.forecast import Range
from leanrag_core.types.settings import Price, Settings
from tests.endpoint.server import EndpointServer

pytestmark = pytest.mark.slow

CONFIG = IndexConfig(model="openai:m", embedding="openai:e", chunk_tokens=1024)


@pytest.fixture
def server() -> Iterator[EndpointServer]:
    with EndpointServer(num_ctx=32768) as endpoint:
        yield endpoint


def bench_in(root: Path, server: EndpointServer) -> Workbench:
    bench = Workbench.default(root)
    bench.settings.save(Settings(base_url=server.url, prices={"m": Price(1.0, 4.0)}))
    return bench


@pytest.mark.parametrize("name", ["agriculture", "legal"])
def test_a_forecast_after_a_dry_run_meets_the_build(server: EndpointServer, tmp_path: Path, name: str) -> None:
    bench = bench_in(tmp_path, server)
    bench.corpora.all()
    made = bench.builds.forecast(f"sample-{name}", CONFIG, dry_run=3)
    assert (made.sampled, made.saved) == (3, 6)
    server.clear()
    bench.build(f"sample-{name}", CONFIG)
    actual = len(server.answered())
    assert made.calls.low <= actual <= made.calls.high
    assert abs(made.calls.expected - actual) <= 0.2 * actual


def test_what_the_provider_had_cached_of_a_dry_run_is_taken_off_the_price_of_the_rest(tmp_path: Path) -> None:
    text = "".join(f"Ada Lovelace met Charles Babbage in London on day {n}. " for n in range(300))
    dollars = {}
    for cached in (None, 0.0):
        with EndpointServer(cached_from=600) as server:
            bench = Workbench.default(tmp_path / str(cached))
            bench.settings.save(Settings(base_url=server.url, prices={"m": Price(1.0, 4.0, cached)}))
            corpus = bench.add_documents("Text", [("a.txt", text.encode())])
            config = IndexConfig(model="openai:m", chunk_tokens=128, overlap_tokens=16)
            dollars[cached] = bench.builds.forecast(corpus.corpus_id, config, dry_run=3).stages[0].dollars
    assert dollars[0.0].expected < 0.9 * dollars[None].expected


def test_stored_answers_are_taken_off_and_nothing_is_asked_for_a_forecast(
    server: EndpointServer, tmp_path: Path
) -> None:
    bench = bench_in(tmp_path, server)
    corpus = bench.add_documents("Text", [("a.txt", ("Ada Lovelace met Charles Babbage in London. " * 90).encode())])
    config = IndexConfig(model="openai:m", chunk_tokens=128, overlap_tokens=16)
    before = bench.builds.forecast(corpus.corpus_id, config)
    assert server.log == []
    assert before.stages[0].calls.expected == 2 * before.chunks, "extraction and one gleaning round"
    assert before.saved == 0
    assert before.dollars.low < before.dollars.expected < before.dollars.high
    bench.build(corpus.corpus_id, config)
    after = bench.builds.forecast(corpus.corpus_id, config)
    assert after.stages[0].calls == Range(0, 0, 0)
    assert after.saved == 2 * after.chunks
    entities = len(bench.indexes.open(bench.indexes.all()[0].id).layers[0])
    assert after.entities == Range(entities, entities, entities)


def test_a_second_build_with_the_built_in_engine_is_forecast_from_what_the_first_has_kept(
    server: EndpointServer, tmp_path: Path
) -> None:
    bench = bench_in(tmp_path, server)
    text = "Ada Lovelace met Charles Babbage in London. " * 90
    corpus = bench.add_documents("Text", [("a.txt", text.encode())]).corpus_id
    config = IndexConfig(chunk_tokens=128, overlap_tokens=16)
    before = bench.builds.forecast(corpus, config)
    assert (before.sampled, before.calls) == (0, Range())
    assert before.basis == message("forecast.first_build")
    bench.build(corpus, config)
    after = bench.builds.forecast(corpus, replace(config, cluster_size=4))
    assert after.sampled == after.chunks > 0
    assert after.seconds.high < before.seconds.high / 2
    other_chunks = bench.builds.forecast(corpus, replace(config, chunk_tokens=64))
    assert other_chunks.sampled == 0
    assert server.log == []
