"""present: a presentation is made of a folder's index, listed and exported by the command line."""

import json
from pathlib import Path

import pytest

from leanrag_core.__main__ import main

pytestmark = pytest.mark.slow

TEXT = b"Varroa destructor weakens honey bee colonies. Beekeepers treat Varroa destructor with oxalic acid in winter.\n"


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("command")
    (folder / "bees.md").write_bytes(TEXT)
    assert main(["build", str(folder / "bees.md"), "--out", str(folder / "index"), "--cluster-size", "4"]) == 0
    return folder / "index"


def test_made_listed_and_exported(
    built: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("LEANRAG_HOME", str(tmp_path / "home"))
    notes = tmp_path / "notes.json"
    notes.write_text('{"cost": "Thank them."}')
    make = ["present", "make", str(built), "--title", "Bees", "--question", "What weakens a colony?"]
    assert main([*make, "--beside", "vector,top_c=3", "--notes", str(notes), "--made", "2026-11-22", "--json"]) == 0
    id_ = json.loads(capsys.readouterr().out)["presentation"]
    assert main(["present", "list", "--json"]) == 0
    listed = json.loads(capsys.readouterr().out)["presentations"]
    assert [(each["id"], each["made"], each["strategies"]) for each in listed[:1]] == [
        (id_, "2026-11-22", ["leanrag", "vector"])
    ]
    out = tmp_path / "story.html"
    assert main(["present", "export", id_, "--out", str(out), "--language", "zh", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["bytes"] == out.stat().st_size
    page = out.read_text(encoding="utf-8")
    assert "Thank them." in page
    assert "演示文稿" in page


def test_a_file_is_written_and_exported_without_the_store(built: Path, tmp_path: Path) -> None:
    file = tmp_path / "bees.json"
    make = ["present", "make", str(built), "--title", "Bees", "--question", "What weakens a colony?"]
    assert main([*make, "--made", "2026-11-22", "--out", str(file)]) == 0
    first = file.read_bytes()
    assert main([*make, "--made", "2026-11-22", "--out", str(file)]) == 0
    assert file.read_bytes() == first
    assert main(["present", "export", str(file), "--out", str(tmp_path / "bees.html")]) == 0


@pytest.mark.parametrize(
    ("more", "reason"),
    [
        ([], "between 1 and 6 questions"),
        (["--question", "Why?", "--beside", "nobody"], "nobody"),
        (["--question", "Why?", "--beside", "vector,top_c"], "top_c"),
        (["--question", "Why?", "--made", "yesterday"], "is not a day"),
    ],
)
def test_what_cannot_be_made_is_wrong_usage_with_the_remedy(
    more: list[str], reason: str, built: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["present", "make", str(built), "--title", "Bees", *more]) == 2
    assert reason in capsys.readouterr().err


def test_a_presentation_that_is_not_there_is_a_failure(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("LEANRAG_HOME", str(tmp_path))
    assert main(["present", "export", "absent", "--out", str(tmp_path / "x.html")]) == 1
    assert "present list" in capsys.readouterr().err
