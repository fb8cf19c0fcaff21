"""Addresses of Chroma servers: what is refused, and what is said of whatever else answers there."""

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from leanrag_core.errors import InvalidConfig, SearchIndexFailed
from leanrag_core.storage import chroma_server
from leanrag_core.storage.chroma_server import ChromaSeen, ChromaServers, look_at_server
from leanrag_core.storage.search_writer import write_search_index
from leanrag_core.types.index import Index
from tests.storage.searching import place_of


@contextmanager
def scripted(pages: dict[str, str], name: str) -> Iterator[str]:
    """Run a server of that name with those pages, and 404 for others."""

    class Handler(BaseHTTPRequestHandler):
        server_version, sys_version = name, ""

        def do_GET(self) -> None:
            body = pages.get(self.path)
            self.send_response(404 if body is None else 200)
            self.end_headers()
            self.wfile.write((body or "").encode())

        def log_message(self, *arguments: object) -> None:
            """Print nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


def test_a_server_that_does_not_answer_is_reported_with_what_to_do(
    stored: Path, index: Index, servers: ChromaServers
) -> None:
    with pytest.raises(SearchIndexFailed, match=r"no Chroma server answers at http://127\.0\.0\.1:1: start one with"):
        write_search_index(
            place_of(stored), index, lambda done, total: None, connect=servers.server("http://127.0.0.1:1")
        )


def test_a_look_finds_no_server_where_none_is() -> None:
    with pytest.raises(SearchIndexFailed, match=r"no Chroma server answers at http://127\.0\.0\.1:1: start one with"):
        look_at_server("http://127.0.0.1:1")


@pytest.mark.parametrize(
    "pages",
    [
        {},
        {"/api/v2/heartbeat": "<html>"},
        {"/api/v2/heartbeat": '{"nanosecond heartbeat": null}'},
        {"/api/v2/heartbeat": "[1]"},
        {"/api/v2/heartbeat": '{"nanosecond heartbeat": 1}', "/api/v2/version": '"1.0.0"'},
    ],
)
def test_another_kind_of_server_is_not_taken_for_chroma(pages: dict[str, str]) -> None:
    with scripted(pages, "other") as url, pytest.raises(SearchIndexFailed, match="is no Chroma server"):
        look_at_server(url)


def test_the_server_in_python_is_known_by_its_name() -> None:
    pages = {
        "/api/v2/heartbeat": '{"nanosecond heartbeat": 1}',
        "/api/v2/version": '"1.0.0"',
        "/api/v2/tenants/default_tenant/databases/default_database/collections_count": "7",
    }
    with scripted(pages, "uvicorn") as url:
        seen = look_at_server(url)
    assert (seen.version, seen.collections, seen.in_python) == ("1.0.0", 7, True)


@pytest.mark.parametrize("url", ["", "127.0.0.1:8000", "http://host:port", "http://me:secret@host", "http://host/api"])
def test_an_address_that_is_none_is_refused_before_anything_is_sent(url: str, servers: ChromaServers) -> None:
    with pytest.raises(InvalidConfig, match="chroma_url is"):
        servers.server(url)


@pytest.mark.parametrize(
    "url",
    [
        "http://me:hunter2@host",
        "http://:hunter2@h:8000",
        "http://h:8000#hunter2",
        "http://h:8000?hunter2",
        "http://[@h",
    ],
)
def test_a_password_in_an_address_is_not_repeated(url: str, servers: ChromaServers) -> None:
    for ask in (servers.server, servers.files_or_server, look_at_server):
        with pytest.raises(InvalidConfig, match="take out name, password") as refused:
            ask(url)
        assert "hunter2" not in str(refused.value)


def test_an_address_that_no_server_can_have_is_reported() -> None:
    with pytest.raises(SearchIndexFailed, match=r"no server can be at http://256\.1\.1\.1:1"):
        look_at_server("http://256.1.1.1:1")


@contextmanager
def holding(drops: bytes) -> Iterator[str]:
    """Run a server that takes connections and never ends its answer: it sends those bytes over and over, or nothing."""
    ended = threading.Event()
    with socket.create_server(("127.0.0.1", 0)) as server:

        def drip(connection: socket.socket) -> None:
            with connection, suppress(OSError):  # the client has closed the connection
                while not ended.wait(0.02):
                    connection.sendall(drops)

        def answer() -> None:
            with suppress(OSError):  # closed
                while True:
                    threading.Thread(target=drip, args=(server.accept()[0],), daemon=True).start()

        threading.Thread(target=answer, daemon=True).start()
        yield f"http://127.0.0.1:{server.getsockname()[1]}"
        ended.set()


@pytest.mark.parametrize("drops", [b"", b"HTTP/1.1 200 OK\r\nX: "])
def test_a_server_that_never_ends_its_answer_is_given_up(drops: bytes, stored: Path, index: Index) -> None:
    servers = ChromaServers(timeout_seconds=0.3)
    with holding(drops) as url:
        with pytest.raises(SearchIndexFailed, match=f"no Chroma server answers at {url}"):
            servers.look_at(url)
        with pytest.raises(SearchIndexFailed, match=f"no Chroma server answers at {url}"):
            write_search_index(place_of(stored), index, lambda done, total: None, connect=servers.server(url))


def test_questions_that_wait_for_a_silent_server_fail_with_the_first(
    stored: Path, monkeypatch: pytest.MonkeyPatch, servers: ChromaServers
) -> None:
    looks: list[str] = []

    def silent(url: str, *, timeout_seconds: float) -> ChromaSeen:
        looks.append(url)
        raise SearchIndexFailed("nobody there")

    monkeypatch.setattr(chroma_server, "look_at_server", silent)
    for _ in range(3):
        with pytest.raises(SearchIndexFailed, match="nobody there"):
            servers.server("http://127.0.0.1:1")(place_of(stored))
    assert looks == ["http://127.0.0.1:1"]
