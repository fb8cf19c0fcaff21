"""`serve --api`, alone and beside the app, as processes: the token that they print, what answers, how they end."""

import os
import re
import signal
import socket
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from leanrag_core import Workbench
from leanrag_core.__main__ import main
from leanrag_core.serving import running
from leanrag_core.serving.start import VARIABLE
from leanrag_core.system.environment import PROGRAM
from tests import waiting
from tests.serving.served import INDEX, QUESTION, TOKEN, client_of

pytestmark = pytest.mark.slow
ANNOUNCED = re.compile(r"API for programs: (http://127\.0\.0\.1:\d+) .*, token: (.+)")


@contextmanager
def program(log: Path, *arguments: str, **variables: str) -> Iterator[subprocess.Popen[bytes]]:
    environment = {name: value for name, value in os.environ.items() if name != VARIABLE} | variables
    command = [sys.executable, "-m", "leanrag_core", "serve", *arguments]
    with (
        log.open("wb") as out,
        subprocess.Popen(command, cwd=PROGRAM, env=environment, stdout=out, stderr=subprocess.STDOUT) as process,
    ):
        try:
            yield process
        finally:
            process.terminate()


def announced(log: Path) -> tuple[str, str]:
    """Return the address and what is said of the token."""
    line = waiting.until(lambda: ANNOUNCED.search(log.read_text()), otherwise=log.read_text, seconds=150)
    assert line is not None
    return line[1], line[2]


def test_the_api_alone_prints_the_token_that_it_made_and_ends_on_a_signal(bench: Workbench, tmp_path: Path) -> None:
    log = tmp_path / "log"
    with program(log, "--api", "--port", "0", "--home", str(bench.root)) as process:
        url, told = announced(log)
        token = told.partition(" ")[0]
        with client_of(url, token) as client:
            assert client.get("/api/indexes").json()[0]["id"] == INDEX
            assert client.get("/_stcore/health").status_code == 404, "it is not the app"
        process.send_signal(signal.SIGTERM)
        assert process.wait(20) == 128 + signal.SIGTERM
    assert log.read_text().splitlines()[-1] == "leanrag: stopped"
    assert not [path for path in bench.root.rglob("*") if path.is_file() and token.encode() in path.read_bytes()]


def test_beside_the_app_one_process_serves_both_and_a_token_of_the_environment_is_not_printed(
    bench: Workbench, tmp_path: Path
) -> None:
    log = tmp_path / "log"
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    settings = ("--port", str(port), "--api", "0", "--home", str(bench.root))
    with program(log, *settings, **{VARIABLE: TOKEN}):
        url, told = announced(log)
        assert told == f"that of {VARIABLE}"
        with client_of(url) as client:
            asked = client.post(f"/api/indexes/{INDEX}/ask", json={"question": QUESTION})
            assert asked.json()["answer"]["grounded"], asked.text
        direct = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        with direct.open(f"http://127.0.0.1:{port}/_stcore/health", timeout=20) as health:
            assert health.status == 200
    assert TOKEN not in log.read_text()
    assert "Traceback" not in log.read_text()
    assert "Warning" not in log.read_text()


def test_a_port_that_is_taken_is_named(capsys: pytest.CaptureFixture[str], bench: Workbench) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = str(taken.getsockname()[1])
        for given in (["--api", "--port", port], ["--api", port, "--port", "0"], ["--port", port]):
            assert main(["serve", *given, "--home", str(bench.root)]) == 2
            assert f"Port {port}" in capsys.readouterr().err
    assert main(["serve", "--port", "99999", "--home", str(bench.root)]) == 2
    assert "Port 99999 of 127.0.0.1 cannot be used" in capsys.readouterr().err


@pytest.mark.parametrize("command", [("serve",), ("serve", "--api"), ("serve", "--api", "0"), ("mcp",)])
def test_a_home_that_cannot_be_made_starts_nothing(
    command: tuple[str, ...], capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def started(*given: object) -> None:
        pytest.fail("it would have started")

    monkeypatch.setattr(os, "execve", started)
    monkeypatch.setattr(running, "served_in", started)
    (tmp_path / "file").write_text("", encoding="utf-8")
    home = tmp_path / "file" / "home"
    assert main([*command, "--home", str(home)]) == 1
    said = capsys.readouterr().err
    assert f"leanrag: {home} cannot hold corpora and indexes: Not a directory." in said
    assert "Name another folder with --home or LEANRAG_HOME" in said


def test_a_token_that_is_easily_guessed_starts_nothing(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, bench: Workbench
) -> None:
    monkeypatch.setenv(VARIABLE, "guessed")
    for given in (["--api", "--port", "0"], ["--api", "0"]):
        assert main(["serve", *given, "--home", str(bench.root)]) == 2
        said = capsys.readouterr().err
        assert VARIABLE in said
        assert "guessed" not in said
