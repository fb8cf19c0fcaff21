import json
from pathlib import Path

import numpy as np
import pytest

from leanrag_core.errors import IndexDamaged, IndexNotFound, IndexTooNew
from leanrag_core.storage import layout
from leanrag_core.types.index import Index


@pytest.fixture
def stored(tmp_path: Path, index: Index) -> Path:
    with layout.staged(tmp_path / "one") as staging:
        layout.write_index(staging, index)
    return tmp_path / "one"


def test_an_index_reads_back_as_it_was_written(stored: Path, index: Index) -> None:
    read = layout.read_index(stored)
    assert read.documents.equals(index.documents)
    assert read.chunks.equals(index.chunks)
    for left, right in zip(read.layers, index.layers, strict=True):
        assert left.entities.equals(right.entities)
        assert left.relations.equals(right.relations)
        assert np.array_equal(left.vectors, right.vectors)
        assert left.parent.tolist() == right.parent.tolist()
    assert read.report == index.report


def test_writing_twice_gives_the_same_bytes(tmp_path: Path, stored: Path, index: Index) -> None:
    with layout.staged(tmp_path / "two") as staging:
        layout.write_index(staging, index)
    names = sorted(path.name for path in stored.iterdir())
    assert names == sorted(path.name for path in (tmp_path / "two").iterdir())
    assert all((stored / name).read_bytes() == (tmp_path / "two" / name).read_bytes() for name in names)


def test_a_failed_build_leaves_the_old_index_and_nothing_else(tmp_path: Path, stored: Path) -> None:
    before = (stored / layout.MANIFEST).read_bytes()

    def fail() -> None:
        with layout.staged(stored) as staging:
            (staging / layout.MANIFEST).write_text("half")
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail()
    assert (stored / layout.MANIFEST).read_bytes() == before
    assert [path.name for path in tmp_path.iterdir()] == ["one"]


def test_what_a_killed_build_left_is_cleaned_up_by_the_next(tmp_path: Path) -> None:
    dead = tmp_path / ".building-one-999999999"
    dead.mkdir()
    with layout.staged(tmp_path / "one") as staging:
        (staging / "x").touch()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["one"]


def test_an_index_that_a_killed_build_had_set_aside_comes_back(tmp_path: Path) -> None:
    aside = tmp_path / ".retired-one-999999999"
    aside.mkdir()
    (aside / "kept").touch()
    layout.remove_stale_staging(tmp_path / "one")
    assert (tmp_path / "one" / "kept").exists()


def test_no_index_says_how_to_build_one(tmp_path: Path) -> None:
    with pytest.raises(IndexNotFound, match="build it on the Build page or with"):
        layout.read_index(tmp_path)


def test_a_newer_format_is_refused(stored: Path) -> None:
    manifest = json.loads((stored / layout.MANIFEST).read_text())
    (stored / layout.MANIFEST).write_text(json.dumps({**manifest, "format_version": 99}))
    with pytest.raises(IndexTooNew, match="update the program"):
        layout.read_index(stored)


@pytest.mark.parametrize("name", ["vectors-0.npy", "entities-1.parquet", "hierarchy.parquet", "report.json"])
def test_a_missing_file_is_a_damaged_index(stored: Path, name: str) -> None:
    (stored / name).unlink()
    with pytest.raises(IndexDamaged, match="build it again"):
        layout.read_index(stored)


def test_pickled_vectors_are_never_loaded(stored: Path) -> None:
    np.save(stored / "vectors-0.npy", np.array([{"a": 1}], dtype=object), allow_pickle=True)
    with pytest.raises(IndexDamaged):
        layout.read_index(stored)


def test_renaming_keeps_id_and_content(stored: Path) -> None:
    layout.rename_index(stored, "better name")
    assert layout.read_manifest(stored)["name"] == "better name"
    assert layout.read_manifest(stored)["id"] == "index-small"
