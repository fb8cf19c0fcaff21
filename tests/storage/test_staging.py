"""What may be replaced or deleted, and what stays."""

import errno
import json
import os
import shutil
from pathlib import Path

import pytest

from leanrag_core.__main__ import main
from leanrag_core.errors import FolderRefused, StorageFailed
from leanrag_core.storage import layout, staging
from leanrag_core.storage.indexes import IndexStore
from leanrag_core.storage.ownership import require_replaceable, require_sources_outside
from leanrag_core.types.index import Index
from tests.workbench.test_workbench import BEES

DEAD = 999999999  # no process has this number


@pytest.fixture
def stored(tmp_path: Path, index: Index) -> Path:
    with staging.staged(tmp_path / "store" / "one") as beside:
        layout.write_index(beside, index)
    return tmp_path / "store" / "one"


def everything(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def ordinary_folder(path: Path) -> None:
    (path / "photos").mkdir(parents=True)
    (path / "photos" / "holiday.jpg").write_bytes(b"once only")


def project_with_a_manifest(path: Path) -> None:
    path.mkdir()
    (path / "manifest.json").write_text(json.dumps({"manifest_version": 3, "name": "my extension"}))


def manifest_that_is_none(path: Path) -> None:
    path.mkdir()
    (path / "manifest.json").write_text('{"format_version": "2", "id": "index-1", "counts": {}}')


def deep_manifest(path: Path) -> None:
    path.mkdir()
    (path / "manifest.json").write_text("[" * 100_000)


def file(path: Path) -> None:
    path.write_text("a thesis")


def link_to_a_folder(path: Path) -> None:
    ordinary_folder(path.parent / "elsewhere")
    path.symlink_to(path.parent / "elsewhere", target_is_directory=True)


def link_to_nothing(path: Path) -> None:
    path.symlink_to(path.parent / "nothing")


MAKERS = [
    ordinary_folder,
    project_with_a_manifest,
    manifest_that_is_none,
    deep_manifest,
    file,
    link_to_a_folder,
    link_to_nothing,
]


@pytest.mark.parametrize("make", MAKERS, ids=lambda make: make.__name__)
def test_what_is_no_index_of_ours_is_refused_as_output_and_stays(
    tmp_path: Path, make: object, capsys: pytest.CaptureFixture[str]
) -> None:
    make(tmp_path / "out")
    (tmp_path / "notes.txt").write_bytes(BEES)
    before, was_link = everything(tmp_path), (tmp_path / "out").is_symlink()
    assert main(["build", str(tmp_path / "notes.txt"), "--out", str(tmp_path / "out")]) == 2
    stderr = capsys.readouterr().err
    assert "choose a folder that is new, empty, or an index of this program" in stderr
    assert str(tmp_path / "out") in stderr
    assert everything(tmp_path) == before
    assert (tmp_path / "out").is_symlink() == was_link


def test_a_file_among_those_of_an_index_is_not_replaced_with_it(stored: Path) -> None:
    (stored / "my notes.txt").write_text("mine")
    with pytest.raises(FolderRefused, match=r"'my notes\.txt'"):
        require_replaceable(stored)
    (stored / "plan.txt").write_text("mine")
    with pytest.raises(FolderRefused) as refused:
        require_replaceable(stored)
    assert (refused.value.message.code, refused.value.message.values["others"]) == ("folder.holds_files", 1)
    (stored / "plan.txt").unlink()
    (stored / "my notes.txt").unlink()
    (stored / "old").mkdir()
    with pytest.raises(FolderRefused, match="'old'"):
        require_replaceable(stored, in_store=True)


def test_an_index_an_empty_folder_and_nothing_may_be_replaced(tmp_path: Path, stored: Path, index: Index) -> None:
    (tmp_path / "empty").mkdir()
    (stored / ".DS_Store").touch()
    (stored / f".manifest.json.{DEAD}.1").touch()
    for target in (stored, tmp_path / "empty", tmp_path / "a" / "new"):
        with staging.staged(target) as beside:
            layout.write_index(beside, index)
        assert layout.read_manifest(target).id == "index-small"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a", "empty", "store"]
    assert [path.name for path in stored.parent.iterdir()] == ["one"]


def test_files_that_came_while_the_index_was_built_stay(tmp_path: Path) -> None:
    def build() -> None:
        with staging.staged(tmp_path / "out") as beside:
            (beside / "manifest.json").touch()
            (tmp_path / "out").mkdir()
            (tmp_path / "out" / "mine.txt").write_text("mine")

    with pytest.raises(FolderRefused, match="mine"):
        build()
    assert everything(tmp_path) == {"out/mine.txt": b"mine"}


def test_a_fault_between_the_renames_brings_the_old_index_back(
    stored: Path, index: Index, monkeypatch: pytest.MonkeyPatch
) -> None:
    before, rename = everything(stored), os.replace

    def fail(source: Path, target: Path) -> None:
        if Path(source).name.startswith(".building"):
            raise KeyboardInterrupt
        rename(source, target)

    monkeypatch.setattr(os, "replace", fail)
    with pytest.raises(KeyboardInterrupt), staging.staged(stored) as beside:
        (beside / "manifest.json").touch()
    assert everything(stored) == before
    assert [path.name for path in stored.parent.iterdir()] == ["one"]


@pytest.mark.parametrize("name", [f".building-one-two-{DEAD}", ".building-one-notes", f".retired-one-two-{DEAD}"])
def test_leftovers_of_other_targets_and_folders_of_other_kinds_stay(tmp_path: Path, name: str) -> None:
    (tmp_path / name).mkdir()
    (tmp_path / name / "kept").touch()
    staging.remove_stale_staging(tmp_path / "one")
    assert (tmp_path / name / "kept").exists()
    assert not (tmp_path / "one").exists()


def test_a_name_with_signs_of_a_pattern_matches_itself_alone(tmp_path: Path) -> None:
    (tmp_path / f".building-other-{DEAD}").mkdir()
    staging.remove_stale_staging(tmp_path / "*")
    assert (tmp_path / f".building-other-{DEAD}").exists()


def test_a_source_inside_the_output_is_refused(stored: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (stored / "documents.arrow").read_bytes()
    before = everything(stored)
    for source in (stored, stored / "documents.arrow"):
        assert main(["build", str(source), "--out", str(stored)]) == 2
        assert "lies inside the output folder" in capsys.readouterr().err
    assert everything(stored) == before


def test_an_index_inside_its_sources_is_not_read_as_documents(tmp_path: Path, stored: Path) -> None:
    require_sources_outside([stored.parent], stored.parent / "new")
    with pytest.raises(FolderRefused, match="would be read as documents"):
        require_sources_outside([stored.parent], stored)
    require_sources_outside([tmp_path / "notes.txt"], stored)


def test_a_damaged_index_of_the_store_can_be_deleted_and_built_over(stored: Path, index: Index) -> None:
    (stored / "manifest.json").write_text("[" * 100_000)
    with pytest.raises(FolderRefused, match="no manifest of an index that reads"):
        require_replaceable(stored)
    with staging.staged(stored, in_store=True) as beside:
        layout.write_index(beside, index)
    (stored / "manifest.json").write_bytes(b"\xff")
    (stored / "hierarchy.arrow").unlink()
    IndexStore(stored.parent).delete("one")
    assert list(stored.parent.iterdir()) == []


def test_deleting_in_the_store_spares_what_is_not_ours(tmp_path: Path, stored: Path) -> None:
    store = IndexStore(stored.parent)
    project_with_a_manifest(stored.parent / "project")
    (stored.parent / "project" / "main.js").touch()
    shutil.copytree(stored, tmp_path / "real")
    (stored.parent / "link").symlink_to(tmp_path / "real", target_is_directory=True)
    before = everything(tmp_path)
    for name in ("project", "link"):
        with pytest.raises(FolderRefused):
            store.delete(name)
    assert everything(tmp_path) == before


def test_what_a_killed_deletion_left_goes_with_the_next(stored: Path) -> None:
    (stored.parent / f".deleted-other-{DEAD}").mkdir()
    IndexStore(stored.parent).delete("one")
    assert list(stored.parent.iterdir()) == []


def test_an_index_that_was_set_aside_by_a_killed_process_is_listed_again(stored: Path) -> None:
    before = everything(stored)
    stored.rename(stored.parent / f".retired-one-{DEAD}")
    (stored.parent / f".deleted-two-{DEAD}").mkdir()
    (stored.parent / f".retired-three-{os.getpid()}").mkdir()
    [index] = IndexStore(stored.parent).index_list().indexes
    assert index.id == "one"
    assert everything(stored) == before
    assert not (stored.parent / "two").exists(), "what was deleted does not come back"
    assert not (stored.parent / "three").exists(), "what is being replaced is left to who does that"


@pytest.mark.parametrize("name", [".", "inner/.."])
def test_an_empty_folder_may_be_named_from_within(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    with staging.build_lock(Path(name), waiting=lambda: None), staging.staged(Path(name)) as beside:
        assert beside.parent == tmp_path
        (beside / "manifest.json").touch()
    assert everything(tmp_path) == {"here/manifest.json": b""}


@pytest.mark.parametrize("code", [errno.ENOENT, errno.EROFS, errno.EACCES])
def test_a_place_that_takes_no_files_is_an_error_and_no_wait(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: int
) -> None:
    monkeypatch.setattr(staging, "refused_by_the_disk", lambda folder: OSError(code, os.strerror(code)))

    def waiting() -> None:
        raise AssertionError("it waits")

    with pytest.raises(StorageFailed), staging.build_lock(tmp_path / "x", waiting=waiting):
        pass
