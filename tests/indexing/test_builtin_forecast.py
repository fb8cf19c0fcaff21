"""Forecasts of builds with the built-in models, worked out by hand."""

from dataclasses import replace
from pathlib import Path

import pytest

from leanrag_core import Workbench
from leanrag_core.indexing.chunking import chunk_documents
from leanrag_core.indexing.forecasting.forecasts import (
    NOT_LOOKED,
    Looked,
    build_speeds,
    forecast_builtin_build,
    kept_seconds,
    look_at,
)
from leanrag_core.indexing.forecasting.growth import effects_of_sizes
from leanrag_core.indexing.stages.kept import kept_vectors
from leanrag_core.jobs.kinds import BUILD, PART
from leanrag_core.messages.catalog import sentence
from leanrag_core.messages.message import message
from leanrag_core.models.embed_task import embed_task
from leanrag_core.types.calls import Spending, Usage
from leanrag_core.types.config import BUILTIN, MULTILINGUAL, REFERENCE, IndexConfig
from leanrag_core.types.forecast import Forecast, exactly
from leanrag_core.types.job import JobState
from leanrag_core.types.settings import Price, Settings

JOB = JobState("j", BUILD, "Mine", "done", (), "2026-01-01T00:00:00+00:00", 28.0, 1.0, None, "", (), "mine", {})
CONFIG = IndexConfig(chunk_tokens=512, overlap_tokens=64)


def of_corpus(
    n_documents: int = 10,
    n_tokens: int = 10_000,
    config: IndexConfig = CONFIG,
    looked: Looked = NOT_LOOKED,
    speeds: tuple[float, ...] = (),
) -> Forecast:
    return forecast_builtin_build(n_documents, n_tokens, config, Settings(), speeds, looked)


def test_chunks_follow_from_tokens_and_overlap() -> None:
    # a document of 1,000 tokens: windows of 512 every 448 tokens, so 3
    assert of_corpus().chunks == 30
    assert of_corpus(config=IndexConfig(chunk_tokens=1024, overlap_tokens=0)).chunks == 10
    assert of_corpus(n_tokens=20).chunks == 10


def test_an_empty_corpus_has_no_chunks() -> None:
    assert of_corpus(0, 0).chunks == 0


def test_without_an_earlier_build_the_range_is_rough_and_says_so() -> None:
    forecast = of_corpus()
    assert (forecast.seconds.low, forecast.seconds.high) == (8 + 10_000 / 2500, 8 + 10_000 / 250)
    assert forecast.basis == message("forecast.first_build")
    assert (forecast.calling, forecast.calls.high, forecast.dollars.high) == ((), 0, 0)


def test_an_earlier_build_on_this_machine_sets_the_speed() -> None:
    # 10,000 tokens in 28 - 8 seconds: 500 a second, give or take a fifth
    speeds = build_speeds([JOB], {"mine": 10_000})
    assert speeds == [500]
    forecast = of_corpus(speeds=(500.0,))
    assert (forecast.seconds.low, forecast.seconds.high) == pytest.approx((8 + 10_000 / 600, 8 + 10_000 / 400))
    assert forecast.basis is not None
    assert sentence(forecast.basis) == "Time from 1 earlier build on this machine."


def test_the_slowest_and_the_fastest_build_span_the_range() -> None:
    fast = replace(JOB, corpus_id="other", seconds=18.0)
    speeds = build_speeds([JOB, fast], {"mine": 10_000, "other": 20_000})
    assert speeds == [500, 2000]
    forecast = of_corpus(speeds=tuple(speeds))
    assert (forecast.seconds.low, forecast.seconds.high) == pytest.approx((8 + 10_000 / 2400, 8 + 10_000 / 400))
    assert forecast.basis is not None
    assert sentence(forecast.basis) == "Time from 2 earlier builds on this machine."


@pytest.mark.parametrize(
    "job",
    [
        replace(JOB, status="failed"),
        replace(JOB, corpus_id="gone"),
        replace(JOB, kind=PART),
        replace(JOB, config={"model": "reference"}),
        replace(JOB, spending=Spending(Usage(calls=3))),
        replace(JOB, forecast=Forecast(30, 12, exactly(9), (), exactly(9))),
    ],
)
def test_jobs_that_did_not_compute_all_of_an_index_here_show_no_speed(job: JobState) -> None:
    assert build_speeds([job], {"mine": 10_000}) == []


def test_a_reference_graph_has_a_speed_of_its_own() -> None:
    read = replace(JOB, config={"model": "reference"}, seconds=18.0)
    assert build_speeds([JOB, read], {"mine": 10_000}) == [500]
    assert build_speeds([JOB, read], {"mine": 10_000}, "reference") == [1000]


def test_each_embedding_has_a_speed_of_its_own_and_the_multilingual_one_takes_longer_at_first() -> None:
    every = replace(JOB, config={"embedding": "multilingual"}, seconds=48.0)
    assert build_speeds([JOB, every], {"mine": 10_000}) == [500]
    assert build_speeds([JOB, every], {"mine": 10_000}, embedding="multilingual") == [250]
    english, other = (of_corpus(config=IndexConfig(embedding=name)) for name in ("builtin", "multilingual"))
    assert other.calls.high == 0
    # 8 seconds to start; of the others .55 are embedding, which takes 2.4 times as long: 1 + .55 * 1.4
    assert other.seconds.high - 8 == pytest.approx(1.77 * (english.seconds.high - 8))


def test_a_tiny_corpus_is_no_measure_of_speed() -> None:
    assert build_speeds([JOB], {"mine": 900}) == []


def test_kept_chunks_take_the_time_of_the_hierarchy_alone() -> None:
    # half of the documents were cut into 16 chunks, of which 8 are kept
    forecast = of_corpus(looked=Looked(5_000, 16, 8))
    assert (forecast.chunks, forecast.sampled) == (32, 16)
    assert forecast.seconds.low == pytest.approx(0.5 * (8 + 10_000 / 2500) + 0.5 * (1 + 10_000 / 60_000))
    assert forecast.seconds.high == pytest.approx(0.5 * (8 + 10_000 / 250) + 0.5 * (3 + 10_000 / 20_000))
    assert forecast.basis is not None
    assert sentence(forecast.basis).endswith("About 16 chunks have been read before.")


def test_texts_of_clusters_take_the_multilingual_model_longer() -> None:
    english, every = (kept_seconds(10_000, embedding) for embedding in (BUILTIN, MULTILINGUAL))
    assert (every.low, every.high) == pytest.approx((2.4 * english.low, 2.4 * english.high))


@pytest.mark.parametrize("speeds", [(), (500.0,), (90_000.0,)])
def test_where_all_chunks_are_kept_the_speed_of_whole_builds_does_not_matter(speeds: tuple[float, ...]) -> None:
    forecast = of_corpus(looked=Looked(10_000, 30, 30), speeds=speeds)
    assert (forecast.seconds.low, forecast.seconds.high) == pytest.approx((1 + 10_000 / 60_000, 3 + 10_000 / 20_000))
    assert forecast.basis == message("forecast.all_kept")


def test_the_stages_share_the_time() -> None:
    forecast = of_corpus()
    seconds = {stage.stage: stage.seconds for stage in forecast.stages}
    assert [stage.name for stage in BUILD.stages] == list(seconds)
    assert sum(stage.seconds.high for stage in forecast.stages if stage.seconds) == pytest.approx(forecast.seconds.high)


def test_an_embedding_model_at_an_endpoint_is_called_and_paid() -> None:
    config = replace(CONFIG, embedding="openai:e")
    forecast = forecast_builtin_build(10, 10_000, config, Settings(prices={"e": Price(1.0, 0.0)}))
    assert [stage.stage for stage in forecast.calling] == ["embed"]
    # at least 4 entities of 1,000 tokens and 30 chunks: 64 texts a call, and one more
    assert forecast.calls.low > 1 + 70 / 64
    assert forecast.dollars.low > 0


def test_chunks_whose_vectors_alone_are_kept_are_still_to_be_read(tmp_path: Path) -> None:
    bench = Workbench.default(tmp_path)
    text = "Alan Stevenson built the Marram Point lighthouse in 1861. The Harbour Trust pays its keepers. " * 40
    corpus = bench.add_documents("Coast", [("Marram Point.md", text.encode()), ("Keepers.md", text.encode())]).corpus_id
    config = IndexConfig(chunk_tokens=128, overlap_tokens=16, cluster_size=4)
    documents = [bench.corpora.document(corpus, row.id) for row in bench.corpora.documents(corpus)]
    model = bench.models.make().embedding(config.embedding)
    titles = [document.title for document in documents]

    def looked() -> Looked:
        return look_at(documents, titles, config, model, bench.stages)

    n_chunks = looked().chunks
    assert looked().kept == 0
    task = embed_task(model)
    assert task is not None
    chunks = chunk_documents(documents, max_tokens=128, overlap_tokens=16)
    list(kept_vectors(task, model.dimension, map, bench.stages)(model.embed, [[chunk.text for chunk in chunks]]))
    assert looked().kept == 0  # as after a build from a reference graph
    assert bench.builds.forecast(corpus, config).sampled == 0
    bench.build(corpus, config)
    assert looked().kept == n_chunks == bench.indexes.all()[0].chunks
    forecast = bench.builds.forecast(corpus, replace(config, cluster_size=8))
    assert (forecast.chunks, forecast.sampled) == (n_chunks, n_chunks)
    assert forecast.basis == message("forecast.all_kept")


@pytest.mark.parametrize(
    ("entities", "relations", "model", "size", "built"),
    [
        (915, 3034, BUILTIN, 7, 195),
        (915, 3034, BUILTIN, 20, 133),
        (1187, 2876, BUILTIN, 20, 139),
        (1896, 5745, BUILTIN, 20, 297),
        (4268, 10281, BUILTIN, 20, 575),
        (352, 578, REFERENCE, 16, 31),
    ],
)
def test_summarised_relations_are_estimated_as_builds_made_them(
    entities: int, relations: int, model: str, size: int, built: int
) -> None:
    [effect] = effects_of_sizes(entities, relations / entities, IndexConfig(model=model), [size])
    assert effect.summarised == pytest.approx(built, rel=0.15)
