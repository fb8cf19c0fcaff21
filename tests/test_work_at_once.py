"""The same work wanted twice at a time is done, and paid, once."""

import threading
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from leanrag_core import IndexConfig, Workbench
from leanrag_core.errors import ReplyError
from leanrag_core.models.base import Completion
from leanrag_core.models.registry import Models
from leanrag_core.storage.calls import CallStore
from leanrag_core.types.job import Progress
from leanrag_core.types.settings import Settings
from tests.endpoint.coast import CONFIG, bench_in
from tests.endpoint.server import EndpointServer
from tests.waiting import ended

pytestmark = pytest.mark.slow

HELLO = [{"role": "user", "content": "Hello there"}]


@pytest.fixture
def server() -> Iterator[EndpointServer]:
    with EndpointServer(latency_seconds=0.1) as endpoint:
        yield endpoint


def models(server: EndpointServer, folder: Path) -> Models:
    return Models(Settings(base_url=server.url, timeout_seconds=5), CallStore(folder / "calls"))


def test_equal_questions_in_flight_are_asked_once(server: EndpointServer, tmp_path: Path) -> None:
    first, other = models(server, tmp_path), models(server, tmp_path)  # as two processes: they share the disk alone
    language = [first.language("openai:m"), other.language("openai:m")]
    with ThreadPoolExecutor(8) as pool:
        replies = list(pool.map(lambda n: language[n % 2].complete(HELLO).text, range(8)))
    assert len(set(replies)) == 1
    assert len(server.log) == 1
    assert first.meter.read().usage.calls + other.meter.read().usage.calls == 1
    assert first.meter.read().reused + other.meter.read().reused == 7


def test_who_waited_for_a_reply_that_was_refused_asks_itself(server: EndpointServer, tmp_path: Path) -> None:
    language = models(server, tmp_path).language("openai:m")
    assert language is not None
    refusing = threading.Event()

    def refuse(completion: Completion) -> None:
        refusing.set()
        raise ReplyError("not good enough")

    with ThreadPoolExecutor(2) as pool:
        first = pool.submit(language.complete, HELLO, accept=refuse)
        second = pool.submit(language.complete, HELLO)
        assert second.result(timeout=20).text
        with pytest.raises(ReplyError):
            first.result(timeout=20)
    assert refusing.is_set()
    assert len(server.log) <= 2


def test_a_streamed_answer_is_written_once_for_two_who_wait(server: EndpointServer, tmp_path: Path) -> None:
    language = models(server, tmp_path).language("openai:m")
    with ThreadPoolExecutor(2) as pool:
        received: list[list[str]] = [[], []]
        list(pool.map(lambda pieces: language.stream(HELLO, pieces.append), received))
    assert "".join(received[0]) == "".join(received[1]) != ""
    assert len(server.log) == 1


def test_equal_texts_are_embedded_once(server: EndpointServer, tmp_path: Path) -> None:
    texts = [f"text {n}" for n in range(150)]
    alone = models(server, tmp_path / "alone").embedding("openai:e").embed(texts)
    n_alone = len(server.log)
    server.clear()
    both = [models(server, tmp_path / "both").embedding("openai:e") for _ in range(2)]
    with ThreadPoolExecutor(2) as pool:
        first, second = pool.map(lambda model: model.embed(texts), both)
    assert np.array_equal(first, alone)
    assert np.array_equal(second, alone)
    assert len(server.log) == n_alone


def test_two_jobs_for_one_index_pay_once(server: EndpointServer, tmp_path: Path) -> None:
    server.latency_seconds = 0.02  # the builds have some hundred calls
    bench, corpus = bench_in(tmp_path / "alone", server)
    assert ended(bench, bench.builds.start(corpus, CONFIG)).status == "done"
    once = Counter(call.key for call in server.log)
    server.clear()
    bench, corpus = bench_in(tmp_path / "both", server)
    jobs = [bench.builds.start(corpus, CONFIG), bench.builds.start(corpus, CONFIG, "another name")]
    assert [ended(bench, job).status for job in jobs] == ["done", "done"]
    assert Counter(call.key for call in server.log) == once
    [index] = bench.indexes.all()
    assert [path.name for path in (bench.root / "indexes").iterdir()] == [index.id]
    assert {bench.jobs.job(job).result for job in jobs} == {index.id}


def test_an_equal_build_elsewhere_at_the_same_time_pays_nothing_more(server: EndpointServer, tmp_path: Path) -> None:
    """Build as a job of the app and from the command line: two places, one store of answers."""
    bench, corpus = bench_in(tmp_path, server)
    twin, same = Workbench.default(tmp_path), bench.corpora.create("twin")
    documents = [bench.corpora.document(corpus, row.id) for row in bench.corpora.documents(corpus)]
    bench.corpora.add(same, tuple(documents))
    with ThreadPoolExecutor(2) as pool:
        list(pool.map(lambda pair: pair[0].build(pair[1], CONFIG), [(bench, corpus), (twin, same)]))
    repeated = {key: n for key, n in Counter(call.key for call in server.log).items() if n > 1}
    assert repeated == {}
    assert len(bench.indexes.all()) == 2


def test_who_waited_for_another_build_of_the_index_takes_it(tmp_path: Path) -> None:
    bench = Workbench.default(tmp_path)
    corpus = bench.add_documents(
        "bees", [("bees.txt", b"Marie Curie studied bees in Paris. Bees feed Paris.")]
    ).corpus_id
    lines: dict[str, list[str]] = {"one": [], "other": []}
    began, waits = threading.Event(), threading.Event()

    def hold(progress: Progress) -> None:
        lines["one"].append(progress.stage)
        began.set()
        if progress.stage == "extract":
            assert waits.wait(60)

    def wait(progress: Progress) -> None:
        lines["other"].append("waits" if progress.waiting else progress.stage)
        waits.set()

    with ThreadPoolExecutor(2) as pool:
        first = pool.submit(bench.build, corpus, IndexConfig(), name="one", report=hold)
        assert began.wait(60)
        second = pool.submit(Workbench.default(tmp_path).build, corpus, IndexConfig(), name="other", report=wait)
        assert first.result(60).id == second.result(60).id
    assert "extract" in lines["one"]
    assert set(lines["other"]) == {"waits"}
    assert bench.indexes.all()[0].name == "other"
