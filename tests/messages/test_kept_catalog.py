"""What is kept of a catalog between processes is what its file says, whatever becomes of either."""

import json
import sys
from pathlib import Path

import pytest

from leanrag_core.messages import catalog

WRITTEN = """
msgid "a.b"
msgstr "{n:,} of “all”"

msgid "c"
msgid_plural "c"
msgstr[0] "one"
msgstr[1] "{n}"
"""
READ = {"a.b": ("{n:,} of “all”",), "c": ("one", "{n}")}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(catalog, "FOLDER", tmp_path)
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    (tmp_path / "en.po").write_text(WRITTEN, encoding="utf-8")
    return tmp_path


def read_again() -> dict[str, tuple[str, ...]]:
    return dict(catalog._templates.__wrapped__("en"))


def kept(folder: Path) -> list[Path]:
    return sorted((folder / "__pycache__").glob("*"))


def test_the_second_process_reads_what_the_first_one_kept(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert read_again() == READ
    assert len(kept(folder)) == 1
    monkeypatch.setattr(catalog, "read_catalog", None)  # is not needed again
    assert read_again() == READ


def test_a_changed_file_is_read_anew_and_what_was_kept_of_it_goes(folder: Path) -> None:
    read_again()
    (folder / "en.po").write_text(WRITTEN.replace("“all”", "each"), encoding="utf-8")
    assert read_again() == READ | {"a.b": ("{n:,} of each",)}
    assert len(kept(folder)) == 1


@pytest.mark.parametrize("damaged", ["", "{", "[]", '{"a.b": ["cut'])
def test_a_kept_file_that_is_not_whole_is_read_anew(folder: Path, damaged: str) -> None:
    read_again()
    [path] = kept(folder)
    path.write_text(damaged, encoding="utf-8")
    assert read_again() == READ
    assert json.loads(path.read_text(encoding="utf-8")).keys() == READ.keys()


def test_nothing_is_kept_where_python_keeps_nothing_or_nothing_can_be_written(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    assert read_again() == READ
    assert not (folder / "__pycache__").exists()
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    (folder / "__pycache__").write_text("no folder", encoding="utf-8")
    assert read_again() == READ
    assert sorted(path.name for path in folder.iterdir()) == ["__pycache__", "en.po"]
