import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from leanrag_core.errors import IndexDamaged, IndexNotFound, IndexTooNew
from leanrag_core.files.records import plain
from leanrag_core.storage import layout, staging
from leanrag_core.text.tokens import count_tokens
from leanrag_core.types.graph import ENTITY_SCHEMA, RELATION_SCHEMA
from leanrag_core.types.index import CHUNK_SCHEMA, Index


@pytest.fixture
def stored(tmp_path: Path, index: Index) -> Path:
    with staging.staged(tmp_path / "one") as beside:
        layout.write_index(beside, index)
    return tmp_path / "one"


def test_an_index_reads_back_as_it_was_written(stored: Path, index: Index) -> None:
    read = layout.read_index(stored)
    assert read.documents.equals(index.documents)
    assert read.chunks.select(CHUNK_SCHEMA.names).equals(index.chunks)
    for left, right in zip(read.layers, index.layers, strict=True):
        assert left.entities.select(ENTITY_SCHEMA.names).equals(right.entities)
        assert left.relations.select(RELATION_SCHEMA.names).equals(right.relations)
        assert np.array_equal(left.vectors, right.vectors)
        assert left.parent.tolist() == right.parent.tolist()
    assert read.report == index.report


def test_writing_twice_gives_the_same_bytes(tmp_path: Path, stored: Path, index: Index) -> None:
    with staging.staged(tmp_path / "two") as beside:
        layout.write_index(beside, index)
    names = sorted(path.name for path in stored.iterdir())
    assert names == sorted(path.name for path in (tmp_path / "two").iterdir())
    assert all((stored / name).read_bytes() == (tmp_path / "two" / name).read_bytes() for name in names)


def test_a_failed_build_leaves_the_old_index_and_nothing_else(tmp_path: Path, stored: Path) -> None:
    before = (stored / layout.MANIFEST).read_bytes()

    def fail() -> None:
        with staging.staged(stored) as beside:
            (beside / layout.MANIFEST).write_text("half")
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail()
    assert (stored / layout.MANIFEST).read_bytes() == before
    assert [path.name for path in tmp_path.iterdir()] == ["one"]


def test_what_a_killed_build_left_is_cleaned_up_by_the_next(tmp_path: Path) -> None:
    dead = tmp_path / ".building-one-999999999"
    dead.mkdir()
    with staging.staged(tmp_path / "one") as beside:
        (beside / "x").touch()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["one"]


def test_an_index_that_a_killed_build_had_set_aside_comes_back(tmp_path: Path) -> None:
    aside = tmp_path / ".retired-one-999999999"
    aside.mkdir()
    (aside / "kept").touch()
    staging.remove_stale_staging(tmp_path / "one")
    assert (tmp_path / "one" / "kept").exists()


def test_no_index_says_how_to_build_one(tmp_path: Path) -> None:
    with pytest.raises(IndexNotFound, match="build it on the Build page or with"):
        layout.read_index(tmp_path)


def test_a_newer_format_is_refused(stored: Path) -> None:
    manifest = json.loads((stored / layout.MANIFEST).read_text())
    (stored / layout.MANIFEST).write_text(json.dumps({**manifest, "format_version": 99}))
    with pytest.raises(IndexTooNew, match="update the program"):
        layout.read_index(stored)


@pytest.mark.parametrize("name", ["vectors-0.npy", "entities-1.arrow", "hierarchy.arrow", "report.json"])
def test_a_missing_file_is_a_damaged_index(stored: Path, name: str) -> None:
    (stored / name).unlink()
    with pytest.raises(IndexDamaged, match="build it again"):
        layout.read_index(stored)


@pytest.mark.parametrize("name", ["entities-1.arrow", "chunks.arrow", "hierarchy.arrow"])
def test_a_file_that_was_cut_is_a_damaged_index(stored: Path, name: str) -> None:
    (stored / name).write_bytes((stored / name).read_bytes()[:-100])
    with pytest.raises(IndexDamaged, match="build it again"):
        layout.read_index(stored)


def test_an_index_written_into_its_own_place_stays_readable_where_it_is_open(stored: Path) -> None:
    read = layout.read_index(stored)
    layout.write_index(stored, read)
    assert read.chunk(3).text == "The seed coat keeps beetles away."
    assert layout.read_index(stored).chunk(3) == read.chunk(3)
    assert not list(stored.glob("*.new"))


def test_tokens_of_stored_texts_are_counted_as_they_are_written_in_a_line(stored: Path) -> None:
    base = layout.read_index(stored).layers[0]
    assert base.token_counts["name_tokens"][5] == count_tokens(" seed coat")
    assert base.token_counts["description_tokens"][5] == count_tokens(" About seed coat.\n")
    assert base.token_counts["relation_tokens"][3] == count_tokens(" 3 meets 4.\n")
    assert base.token_counts["findings_tokens"].tolist() == [0] * 6


def write_format_1(directory: Path, index: Index) -> None:
    """Write the index as the first released program did."""
    import pyarrow.parquet as pq

    names = {"documents": index.documents, "chunks": index.chunks}
    tree: dict[str, list[int]] = {"layer": [], "row": [], "parent": []}
    for layer in index.layers:
        names[f"entities-{layer.number}"], names[f"relations-{layer.number}"] = layer.entities, layer.relations
        np.save(directory / f"vectors-{layer.number}.npy", layer.vectors)
        for row, parent in enumerate(layer.parent.tolist()):
            for name, value in (("layer", layer.number), ("row", row), ("parent", parent)):
                tree[name].append(value)
    names["hierarchy"] = pa.table({name: pa.array(values, pa.int32()) for name, values in tree.items()})
    for name, table in names.items():
        pq.write_table(table, directory / f"{name}.parquet", compression="zstd")
    np.save(directory / "vectors-chunks.npy", index.chunk_vectors)
    (directory / "report.json").write_text(json.dumps(plain(index.report)))
    (directory / "manifest.json").write_text(json.dumps({**index.manifest.values(), "format_version": 1}))


def test_an_index_of_format_1_still_opens_and_becomes_one_of_format_2(tmp_path: Path, index: Index) -> None:
    (tmp_path / "old").mkdir()
    (tmp_path / "new").mkdir()
    write_format_1(tmp_path / "old", index)
    old = layout.read_index(tmp_path / "old")
    assert old.manifest.format_version == 1
    assert old.layers[0].token_counts == {}
    assert [old.chunk(row) for row in range(4)] == [index.chunk(row) for row in range(4)]
    layout.write_index(tmp_path / "new", old)
    new = layout.read_index(tmp_path / "new")
    assert new.manifest.format_version == 2
    for left, right in zip(old.layers, new.layers, strict=True):
        assert [left.entity(row) for row in range(len(left))] == [right.entity(row) for row in range(len(right))]
        assert left.parent.tolist() == right.parent.tolist()


def test_pickled_vectors_are_never_loaded(stored: Path) -> None:
    np.save(stored / "vectors-0.npy", np.array([{"a": 1}], dtype=object), allow_pickle=True)
    with pytest.raises(IndexDamaged):
        layout.read_index(stored)


def test_renaming_keeps_id_and_content(stored: Path) -> None:
    layout.rename_index(stored, "better name")
    assert layout.read_manifest(stored).name == "better name"
    assert layout.read_manifest(stored).id == "index-small"
