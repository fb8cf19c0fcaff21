"""A real `chroma run` on the loopback."""

import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import psutil
import pytest

from leanrag_core import Workbench
from leanrag_core.errors import SearchIndexFailed
from leanrag_core.storage.chroma_server import ChromaServers, look_at_server
from leanrag_core.storage.layout import CHROMA, read_index
from leanrag_core.storage.search_connection import connect_to_files, layer_searches
from leanrag_core.storage.search_store import SearchStore
from leanrag_core.storage.search_writer import write_search_index
from leanrag_core.types.index import Index
from leanrag_core.types.settings import Price, Settings
from tests import waiting
from tests.storage.searching import place_of

pytestmark = pytest.mark.slow


@dataclass(frozen=True)
class Server:
    url: str
    process: psutil.Process


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    folder = tmp_path_factory.mktemp("chroma")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [str(Path(sys.executable).with_name("chroma")), "run"]
    options = ["--path", str(folder), "--host", "127.0.0.1", "--port", str(port)]
    with (folder / "log").open("wb") as log, subprocess.Popen([*command, *options], stdout=log, stderr=log) as started:

        def answers() -> bool:
            assert started.poll() is None, (folder / "log").read_text(errors="replace")
            with socket.socket() as probe:
                return probe.connect_ex(("127.0.0.1", port)) == 0

        waiting.until(answers, otherwise=lambda: "the server did not start")
        yield Server(f"http://127.0.0.1:{port}", psutil.Process(started.pid))
        started.kill()


@pytest.fixture
def searches(servers: ChromaServers) -> SearchStore:
    return SearchStore(servers)


def test_a_layer_that_the_server_holds_is_searched_there(
    server: Server, stored: Path, index: Index, servers: ChromaServers, searches: SearchStore
) -> None:
    counted: list[tuple[int, int]] = []
    connect = servers.server(server.url)
    measured = write_search_index(
        place_of(stored), index, lambda done, total: counted.append((done, total)), connect=connect
    )
    assert counted[-1] == (9, 9)  # 6 + 2 + 1 nodes
    assert [(of_layer.layer, of_layer.rows, of_layer.recall) for of_layer in measured] == [
        (0, 6, 1.0),
        (1, 2, 1.0),
        (2, 1, 1.0),
    ]
    assert layer_searches(stored / CHROMA) == measured
    assert not list(stored.rglob("chroma.sqlite3"))
    searches.connect_with(connect)
    opened = searches.open(stored)
    assert opened is not None
    rows = opened.candidates(index.layers[0], np.array([0, 1, 0, 0], dtype=np.float32), 2)
    assert {1, 2} <= set(rows.tolist())  # "mite" lies there, "honey" is the next one


def test_writing_again_takes_the_place_of_what_was_there(
    server: Server, stored: Path, index: Index, servers: ChromaServers
) -> None:
    connect = servers.server(server.url)
    for _ in range(2):
        write_search_index(place_of(stored), index, lambda done, total: None, connect=connect)
    client = connect(place_of(stored)).client
    assert client.get_collection("index-small.entities-0", embedding_function=None).count() == 6


def test_a_copy_of_an_index_finds_the_same_collections(
    server: Server,
    stored: Path,
    index: Index,
    tmp_path_factory: pytest.TempPathFactory,
    servers: ChromaServers,
    searches: SearchStore,
) -> None:
    connect = servers.server(server.url)
    write_search_index(place_of(stored), index, lambda done, total: None, connect=connect)
    copy = tmp_path_factory.mktemp("copy") / "index"
    shutil.copytree(stored, copy)
    searches.connect_with(connect)
    opened = searches.open(copy)
    assert opened is not None
    assert 0 in opened.candidates(index.layers[0], np.array([1, 0, 0, 0], dtype=np.float32), 1)


def test_a_deleted_index_leaves_nothing_on_the_server(
    server: Server, stored: Path, index: Index, servers: ChromaServers
) -> None:
    connect = servers.server(server.url)
    write_search_index(place_of(stored), index, lambda done, total: None, connect=connect)
    connect(place_of(stored)).client.get_or_create_collection("index-smaller.entities-0", embedding_function=None)
    assert servers.remove_collections(server.url, "index-small") == 3
    assert [collection.name for collection in connect(place_of(stored)).client.list_collections()] == [
        "index-smaller.entities-0"
    ]
    assert servers.remove_collections(server.url, "index-smaller") == 1


def test_client_and_server_speak_with_nobody_but_each_other(
    server: Server, stored: Path, index: Index, monkeypatch: pytest.MonkeyPatch, servers: ChromaServers
) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://192.0.2.1:3128")  # an address that leads nowhere
    monkeypatch.setenv("NO_PROXY", "")
    write_search_index(place_of(stored), index, lambda done, total: None, connect=servers.server(server.url))
    for process in (server.process, psutil.Process()):
        for connection in process.net_connections("inet"):
            assert connection.laddr.ip.removeprefix("::ffff:") in ("127.0.0.1", "::1")
            assert not connection.raddr or connection.raddr.ip.removeprefix("::ffff:") in ("127.0.0.1", "::1")


def test_the_status_of_the_server_lists_what_it_stores(
    server: Server, stored: Path, index: Index, servers: ChromaServers
) -> None:
    before = look_at_server(server.url)
    write_search_index(place_of(stored), index, lambda done, total: None, connect=servers.server(server.url))
    seen = look_at_server(server.url)
    assert seen.version.startswith("1.")
    assert not seen.in_python
    assert seen.collections == 3  # entities-0 to entities-2 of one index
    assert before.collections in (0, 3)


def test_a_server_that_hangs_between_two_questions_is_given_up_and_found_again(
    server: Server, stored: Path, index: Index
) -> None:
    servers = ChromaServers()
    searches = SearchStore(servers)
    write_search_index(place_of(stored), index, lambda done, total: None, connect=servers.server(server.url))
    searches.use_server(server.url)

    def ask() -> list[int]:
        opened = searches.open(stored)
        assert opened is not None
        rows: list[int] = opened.candidates(index.layers[1], np.array([1, 0, 0, 0], dtype=np.float32), 1).tolist()
        return rows

    assert ask() == [0, 1]
    opened, seconds_of_servers = searches.open(stored), servers.timeout_seconds
    assert opened is not None
    server.process.suspend()
    while server.process.status() != psutil.STATUS_STOPPED:  # the signal takes its time
        time.sleep(0.01)
    opened.answer_seconds = servers.timeout_seconds = 0.3  # while no answer can come
    try:
        with pytest.raises(SearchIndexFailed, match="took a question and did not answer"):
            ask()
        with pytest.raises(SearchIndexFailed, match="no Chroma server answers"):
            ask()
    finally:
        server.process.resume()
    servers.timeout_seconds = seconds_of_servers
    servers.look_at(server.url)
    assert ask() == [0, 1]


def test_a_workbench_asks_where_its_settings_say_and_closes_nothing_for_others(
    tmp_path: Path, stored: Path, index: Index
) -> None:
    write_search_index(place_of(stored), index, lambda done, total: None)
    bench = Workbench.default(tmp_path / "home")

    def asked() -> object:
        bench.questions.choose_search_server()
        return bench.searches.connect

    assert asked() is connect_to_files
    bench.settings.save(Settings(chroma_url="http://127.0.0.1:1"))
    assert asked() == bench.searches.servers.files_or_server("http://127.0.0.1:1")
    assert bench.searches.open(stored) is not None
    bench.settings.save(Settings(chroma_url="http://127.0.0.1:1", prices={"a": Price(1.0, 2.0)}))
    assert asked() == bench.searches.servers.files_or_server("http://127.0.0.1:1")
    assert bench.searches.is_open(stored)
    bench.settings.save(Settings())
    assert asked() is connect_to_files  # without the server again
    assert not bench.searches.is_open(stored)


def test_two_workbenches_share_nothing(tmp_path: Path, stored: Path, index: Index) -> None:
    write_search_index(place_of(stored), index, lambda done, total: None)
    first, second = Workbench.default(tmp_path / "first"), Workbench.default(tmp_path / "second")
    first.searches.use_server("http://127.0.0.1:1")
    assert second.searches.connect is connect_to_files
    second.searches.open(stored)
    assert second.searches.is_open(stored)
    assert not first.searches.is_open(stored)


def test_a_workbench_reads_the_search_index_ahead_where_the_settings_say(
    stored: Path, index: Index, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_search_index(place_of(stored), index, lambda done, total: None)
    bench = Workbench.default(tmp_path / "home")
    monkeypatch.setattr("leanrag_core.retrieval.vector_search.EXACT_UP_TO", 2)
    bench.questions.read_ahead(read_index(stored))
    assert bench.searches.is_open(stored)


def test_a_workbench_builds_and_asks_at_the_server_of_its_settings(server: Server, tmp_path: Path) -> None:
    bench = Workbench.default(tmp_path)
    sentences = b"Marie Curie discovered radium in Paris. Pierre Curie taught physics in Paris."
    corpus_id = bench.add_documents("Curies", [("curies.md", sentences)]).corpus_id
    index = bench.build(corpus_id)
    assert index.path is not None
    record = bench.parts.build(index, "chroma")
    bench.settings.save(Settings(chroma_url=server.url))

    def seeds(search: str) -> list[str]:
        trace = bench.retrieve(index, "Who discovered radium?", search=search)
        return [seed.id for seed in trace.with_role("seed")]

    own = seeds("approximate")  # in files, as it was made
    bench.parts.delete(index, "chroma", record.fingerprint)
    bench.parts.build(index, "chroma")
    assert not list(index.path.rglob("chroma.sqlite3"))
    assert seeds("approximate") == seeds("exact") == own
    assert bench.searches.servers.remove_collections(server.url, index.id) == len(index.layers)
