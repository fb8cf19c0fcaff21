"""The commands of the user guide run as they are written, in their order, in a folder that has the sample corpora.

Of the corpus that they build it has as many documents, and of its questions as many, as a test needs.
"""

import json
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from leanrag_core.__main__ import main
from tests.endpoint.server import EndpointServer

PROJECT = Path(__file__).resolve().parents[1]
GUIDE = PROJECT / "docs" / "guide"
ELSEWHERE = ("pip install .", "leanrag serve")  # run by tests/browser/test_wheel.py
DOCUMENTS = ("credit-agreement-excerpts.md", "guaranty.md")
QUESTIONS = ("legal-01", "legal-11", "legal-12", "legal-19", "legal-22", "legal-26")  # of every kind
CHAPTERS = re.findall(r"^\w+$", (GUIDE / "index.md").read_text(encoding="utf-8").split("```")[1], re.MULTILINE)


def commands(chapter: str) -> list[str]:
    """Return the lines of the chapter's shell blocks."""
    blocks = re.findall(r"^```sh\n(.*?)^```", (GUIDE / f"{chapter}.md").read_text(encoding="utf-8"), re.DOTALL | re.M)
    return [line for block in blocks for line in block.splitlines()]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Yield the folder in which the guide is followed; what an earlier chapter made is there for the next one."""
    made = tmp_path_factory.mktemp("guide")
    samples, legal = PROJECT / "sample_corpora", made / "sample_corpora" / "legal"
    (legal / "documents").mkdir(parents=True)
    for name in DOCUMENTS:
        shutil.copy(samples / "legal" / "documents" / name, legal / "documents" / name)
    lines = (samples / "legal" / "questions.jsonl").read_text(encoding="utf-8").splitlines()
    kept = [line for line in lines if json.loads(line)["id"] in QUESTIONS]
    (legal / "questions.jsonl").write_text("\n".join(kept) + "\n", encoding="utf-8")
    for other in (path for path in samples.iterdir() if path.name != "legal"):
        (made / "sample_corpora" / other.name).symlink_to(other)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(made)
        patch.setenv("LEANRAG_HOME", str(made / "home"))
        yield made


@pytest.mark.slow
@pytest.mark.parametrize("chapter", CHAPTERS)
def test_the_commands_of_a_chapter_run(
    folder: Path, chapter: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with EndpointServer(models=("qwen3:8b",)) as endpoint:
        for line in commands(chapter):
            program, *arguments = shlex.split(line)
            if program == "export":
                name, _, value = arguments[0].partition("=")
                monkeypatch.setenv(name, endpoint.url if name == "OPENAI_BASE_URL" else value)
            elif line not in ELSEWHERE:
                assert program == "leanrag", line
                code = main(arguments)
                printed = capsys.readouterr()
                assert code == 0, f"{line}\n{printed.err}"
                assert printed.out.strip(), line


def test_every_picture_and_page_that_the_guide_names_is_there() -> None:
    assert {f"{chapter}.md" for chapter in [*CHAPTERS, "index"]} == {path.name for path in GUIDE.glob("*.md")}
    for path in [*GUIDE.glob("*.md"), PROJECT / "README.md"]:
        for link in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", path.read_text(encoding="utf-8")):
            assert (path.parent / link).exists(), f"{path.name}: {link}"


@pytest.mark.slow
def test_the_manual_builds_without_a_warning(tmp_path: Path) -> None:
    build = [sys.executable, "-m", "sphinx", "-q", "-W", "--keep-going", str(PROJECT / "docs"), str(tmp_path / "site")]
    made = subprocess.run(build, capture_output=True, text=True)
    assert made.returncode == 0, made.stderr
    assert (tmp_path / "site" / "guide" / "first_index.html").is_file()
