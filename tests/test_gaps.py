"""A build in which three of four chunks gave nothing says so on the command line, too."""

from pathlib import Path

import pytest

from leanrag_core.__main__ import main
from tests.endpoint.coast import story
from tests.endpoint.server import EndpointServer


def test_the_command_line_and_show_name_the_gaps(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    good = [f"story {n}: {story(n).decode()}" for n in range(4)]
    for n, text in enumerate(good):
        (tmp_path / f"s{n}.txt").write_text(text if n == 0 else text.replace("In year", "In no year"), encoding="utf-8")
    refuses = {"In no year": (400, "content_filter", "This passage is not read.")}
    with EndpointServer(num_ctx=32768, refuses=refuses) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        monkeypatch.setenv("LEANRAG_HOME", str(tmp_path / "home"))
        files = [str(tmp_path / f"s{n}.txt") for n in range(4)]
        out = str(tmp_path / "index")
        assert main(["build", *files, "--out", out, "--model", "openai:m"]) == 0
        assert "built with gaps: only 1 of 4 chunks gave entities" in capsys.readouterr().out
        assert main(["show", out]) == 0
        assert "built with gaps: only 1 of 4 chunks gave entities" in capsys.readouterr().out
