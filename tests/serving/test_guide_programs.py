"""The programs of the guide's chapter run as they are written, against a server at another port."""

import re
from pathlib import Path

import pytest

from leanrag_core.serving.start import VARIABLE
from tests.serving.served import TOKEN

CHAPTER = Path(__file__).resolve().parents[2] / "docs" / "guide" / "programs.md"
PROGRAMS = re.findall(r"^```python\n(.*?)^```", CHAPTER.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)


@pytest.mark.slow
@pytest.mark.parametrize("source", PROGRAMS, ids=["http", "chat"])
def test_a_program_of_the_guide_prints_an_answer_with_its_sources(
    source: str, url: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert "http://127.0.0.1:8601" in source
    monkeypatch.setenv(VARIABLE, TOKEN)
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    exec(compile(source.replace("http://127.0.0.1:8601", url), str(CHAPTER), "exec"), {})
    assert "honey-bee-colony.md" in capsys.readouterr().out
