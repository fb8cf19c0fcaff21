"""A page on a foreign name reads nothing of the app, and the server itself sends no request to another machine."""

import ast
import http.client
import json
import os
from collections.abc import Callable
from ipaddress import ip_address
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser

from tests.browser.conftest import ARGUMENTS, CHROMIUM, Server

pytestmark = pytest.mark.browser

PATHS = ("/", "/ask", "/_stcore/health", "/_stcore/host-config", "/media/0", "/static/index.js", "/component/x/y.js")
WEBSOCKET = {
    "Connection": "Upgrade",
    "Upgrade": "websocket",
    "Sec-WebSocket-Version": "13",
    "Sec-WebSocket-Key": "AAAAAAAAAAAAAAAAAAAAAA==",
    "Sec-WebSocket-Protocol": "streamlit",
}
# Runs in the server before anything else: notes every name that is looked up and every address that is written to.
WATCHER = """
import json, os, sys
_log = open(os.environ["WATCHED_SOCKETS"], "a", buffering=1)
def _watch(event, args):
    if event in ("socket.bind", "socket.connect", "socket.sendto"):
        _log.write(json.dumps([event, repr(args[1])]) + "\\n")
    elif event in ("socket.getaddrinfo", "socket.gethostbyname"):
        _log.write(json.dumps([event, repr(args[0])]) + "\\n")
sys.addaudithook(_watch)
"""


@pytest.fixture
def watched(server_in: Callable[..., Server], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Server, Path]:
    (tmp_path / "hook").mkdir()
    (tmp_path / "hook" / "sitecustomize.py").write_text(WATCHER)
    log = tmp_path / "sockets.jsonl"
    monkeypatch.setenv("WATCHED_SOCKETS", str(log))
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(tmp_path / "hook"), os.environ.get("PYTHONPATH", "")]))
    return server_in(tmp_path / "home", command=True), log  # the hook is read when Python starts


def status(server: Server, method: str, path: str, headers: dict[str, str]) -> int:
    port = urlsplit(server.url).port
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
    try:
        connection.putrequest(method, path, skip_host=True)
        for name, value in {"Host": f"127.0.0.1:{port}", **headers}.items():
            connection.putheader(name, value)
        connection.endheaders()
        return connection.getresponse().status
    finally:
        connection.close()


def is_on_this_machine(event: str, target: str) -> bool:
    """Return whether the request stays on this machine. target: the repr of a socket address or of a host name."""
    value = ast.literal_eval(target)
    name = value[0] if isinstance(value, tuple) else value
    if isinstance(value, (str, bytes)) and event == "socket.connect":
        return True  # a socket in the file system
    if name in (None, "", "localhost", b"localhost"):
        return True
    try:
        return ip_address(name.decode() if isinstance(name, bytes) else name).is_loopback
    except ValueError:
        return False


def test_foreign_hosts_and_origins_reach_nothing_and_nothing_leaves_the_machine(watched: tuple[Server, Path]) -> None:
    server, log = watched
    foreign = {"Host": f"evil.example:{urlsplit(server.url).port}"}
    for path in PATHS:
        assert status(server, "GET", path, foreign) == 403, path
        assert status(server, "GET", path, {"Origin": "http://evil.example"}) == 403, path
    upload = "/_stcore/upload_file/session/file"
    assert status(server, "PUT", upload, foreign) == 403
    assert status(server, "PUT", upload, {"Origin": "http://evil.example"}) == 403
    stream = "/_stcore/stream"
    assert status(server, "GET", stream, {**WEBSOCKET, **foreign, "Origin": f"http://{foreign['Host']}"}) == 403
    for origin in ("http://evil.example", "null", "http://localhost:1", "http://8.8.8.8"):
        assert status(server, "GET", stream, {**WEBSOCKET, "Origin": origin}) == 403, origin
    assert status(server, "GET", stream, {**WEBSOCKET, "Origin": server.url}) == 101
    assert status(server, "GET", "/", {}) == 200
    sockets = [json.loads(line) for line in log.read_text().splitlines()]
    assert any(event == "socket.bind" for event, _ in sockets), "the hook is not at work"
    assert [entry for entry in sockets if not is_on_this_machine(*entry)] == []


def test_a_rebound_name_shows_no_page_and_the_app_cannot_be_framed(
    server_in: Callable[[Path], Server], browser: Browser, tmp_path: Path
) -> None:
    server = server_in(tmp_path / "home")
    rules = f"--host-resolver-rules=MAP evil.example 127.0.0.1:{urlsplit(server.url).port}"
    rebound = browser.browser_type.launch(executable_path=CHROMIUM, args=[*ARGUMENTS, rules])
    try:
        page = rebound.new_page()
        answer = page.goto("http://evil.example/ask")
        assert answer is not None
        assert answer.status == 403
        assert "server.allowedHosts" in page.inner_text("body")
        own = page.goto(f"{server.url}/_stcore/health")
        assert own is not None
        assert own.headers["x-frame-options"] == "SAMEORIGIN"
        assert "frame-ancestors 'self'" in own.headers["content-security-policy"]
        assert own.headers["referrer-policy"] == "same-origin"
    finally:
        rebound.close()
