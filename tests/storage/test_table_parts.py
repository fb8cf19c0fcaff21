"""Tables in parts: the same index as in one file, and files that an update takes over instead of writing them."""

import errno
import json
import os
import shutil
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from leanrag_core.checking.check import CheckResult, check_directory
from leanrag_core.errors import IndexDamaged, ModelUnavailable
from leanrag_core.exporting.base import export_index
from leanrag_core.files.records import plain
from leanrag_core.models.base import EmbeddingModel
from leanrag_core.retrieval.base import Query, strategy
from leanrag_core.retrieval.tools import Tools
from leanrag_core.storage import layout, table_parts, taking_over
from leanrag_core.storage.archives import restore_archive, write_archive
from leanrag_core.storage.counted_columns import relations_with_tokens
from leanrag_core.storage.digests import damaged, digests_of, sealed
from leanrag_core.storage.earlier_states import earlier_states, keep_copy, state_folder
from leanrag_core.storage.ownership import is_archive_name
from leanrag_core.storage.search_store import SearchStore
from leanrag_core.storage.staging import delete_index, put_back, staged
from leanrag_core.storage.tables import read_table, write_table
from leanrag_core.storage.taking_over import NO_EARLIER
from leanrag_core.types.index import DOCUMENT_SCHEMA, Index
from leanrag_core.types.snapshots import StateChange
from leanrag_core.types.trace import Trace
from tests.contract.indexes import INDEXES
from tests.killing import killed_copies
from tests.large_index import large_index

ROWS = 7


def made() -> Index:
    """Return an index of 60 entities, 6 chunks: nine parts of entities in layer 0, the last one of four rows."""
    return large_index(60, dimension=8)


@pytest.fixture
def one_file(tmp_path: Path) -> Path:
    (tmp_path / "whole").mkdir()
    layout.write_index(tmp_path / "whole", made())
    return tmp_path / "whole"


@pytest.fixture
def stored(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the same index, in parts of seven rows."""
    monkeypatch.setattr(table_parts, "PART_ROWS", ROWS)
    with staged(tmp_path / "index") as staging:
        layout.write_index(staging, made())
    return tmp_path / "index"


def inodes(folder: Path) -> dict[str, int]:
    return {path.name: path.stat().st_ino for path in folder.iterdir() if path.is_file()}


def no_texts(texts: Any) -> np.ndarray:
    raise AssertionError("no text is embedded")


def no_model(name: str, fingerprint: str) -> EmbeddingModel:
    raise ModelUnavailable("plain", text="none")


def failed(folder: Path) -> list[CheckResult]:
    """Return the failed checks of what is stored; the invented graph breaks rules of the method."""
    results = [result for result in check_directory(folder, no_model) if not result.ok]
    return [
        result for result in results if result.name not in ("weights", "kind and tau", "relation texts", "chunk spans")
    ]


def edited(index: Index, row: int, text: str) -> Index:
    """Return the index with another description of that entity."""
    base = index.layers[0]
    texts = base.entities["description"].to_pylist()
    texts[row] = text
    place = base.entities.schema.get_field_index("description")
    entities = base.entities.set_column(place, "description", pa.array(texts))
    return replace(index, layers=(replace(base, entities=entities), *index.layers[1:]))


def replace_index(folder: Path, index: Index, *, keeps: bool = True) -> None:
    with staged(folder, keeps=StateChange("edit", edits=1) if keeps else None) as staging:
        layout.write_index(staging, index, replaced=folder)


def test_an_index_below_the_size_has_no_parts_and_the_former_format(one_file: Path) -> None:
    manifest = layout.read_manifest(one_file)
    assert manifest.format_version == 2
    assert set(manifest.files) == set(layout.file_names(2, manifest.counts.layers))


def test_each_part_is_recorded_and_read_without_being_copied(stored: Path, one_file: Path) -> None:
    manifest = layout.read_manifest(stored)
    assert manifest.format_version == layout.PARTS_FORMAT
    parts = [f"entities-0-{number:05}.arrow" for number in range(9)]
    assert [name for name in manifest.files if name.startswith("entities-0")] == parts
    assert set(manifest.files) | {"manifest.json"} == {path.name for path in stored.iterdir()}
    assert "hierarchy.arrow" in manifest.files
    assert [read_table(stored / name).num_rows for name in parts] == [7] * 8 + [4]
    before = pa.total_allocated_bytes()
    index = layout.read_index(stored)
    assert pa.total_allocated_bytes() - before < 4096
    whole = layout.read_index(one_file)
    assert index.documents.equals(whole.documents)
    assert index.chunks.equals(whole.chunks)
    for left, right in zip(index.layers, whole.layers, strict=True):
        assert left.entities.equals(right.entities)
        assert left.relations.equals(right.relations)
        assert np.array_equal(left.vectors, right.vectors)
        assert left.parent.tolist() == right.parent.tolist()
        assert left.mention_lists[1].tolist() == right.mention_lists[1].tolist()


def untimed(trace: Trace) -> object:
    return plain(replace(trace, steps=tuple(replace(step, milliseconds=0.0) for step in trace.steps)))


@pytest.mark.parametrize("kind", [kind for kind in INDEXES if kind != "one chunk"])  # where no table has two rows
def test_traces_and_exports_are_those_of_the_index_in_one_file(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folders = [tmp_path / "a" / "index", tmp_path / "b" / "index"]
    for folder, rows in zip(folders, (table_parts.PART_ROWS, 1), strict=True):
        monkeypatch.setattr(table_parts, "PART_ROWS", rows)
        folder.mkdir(parents=True)
        layout.write_index(folder, INDEXES[kind]())
    whole, parts = map(layout.read_index, folders)
    assert parts.manifest.format_version == layout.PARTS_FORMAT
    tools = Tools(embed=no_texts, searches=SearchStore())
    for name in ("leanrag", "vector"):
        for vector in whole.layers[0].vectors:
            traces = [strategy(name, {}).retrieve(Query("bees", vector), each, tools) for each in (whole, parts)]
            assert untimed(traces[0]) == untimed(traces[1])
    for form in ("json", "csv", "graphml", "parquet"):
        for index in (whole, parts):
            export_index(index, form, index.path.parent / f"x.{form}")  # type: ignore[union-attr]
        written = [folder.parent / f"x.{form}" for folder in folders]
        assert written[0].read_bytes() == written[1].read_bytes(), form


def write_one(folder: Path, number: int) -> str:
    rows = made().layers[0].relations.slice(number * ROWS, ROWS)
    path = folder / table_parts.part_file("relations-0", number)
    return table_parts.write_part(path, rows, relations_with_tokens, NO_EARLIER).sha256


def test_bytes_are_the_same_by_any_number_of_threads_or_processes(stored: Path, tmp_path: Path) -> None:
    for writers in (1, 3):
        folder = tmp_path / str(writers)
        folder.mkdir()
        index = made()
        pieces = [index.layers[0].entities.slice(start, 5) for start in range(0, 60, 5)]
        base = replace(index.layers[0], entities=pa.concat_tables(pieces))  # cut otherwise
        layout.write_index(folder, replace(index, layers=(base, *index.layers[1:])), writers=writers)
        assert digests_of(folder, inodes(folder)) == digests_of(stored, inodes(stored))
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool:
        hashes = list(pool.map(partial(write_one, tmp_path), range(4)))
    recorded = layout.read_manifest(stored).files
    assert hashes == [recorded[table_parts.part_file("relations-0", number)].sha256 for number in range(4)]


def test_an_update_shares_the_files_that_it_does_not_change(stored: Path, tmp_path: Path) -> None:
    opened, before = layout.read_index(stored), inodes(stored)
    changed = edited(opened, 16, "Changed by hand.")  # in the third part
    replace_index(stored, changed)
    after = inodes(stored)
    assert {name for name in after if after[name] != before[name]} == {
        "entities-0-00002.arrow",
        "manifest.json",
        "report.json",
    }
    assert inodes(state_folder(stored, 1)) | {"report.json": 0} == before | {"report.json": 0}
    assert failed(stored) == []
    assert failed(state_folder(stored, 1)) == []
    assert opened.layers[0].entity(16).description != "Changed by hand."  # who has it open keeps what it was
    (tmp_path / "fresh").mkdir()
    layout.write_index(tmp_path / "fresh", changed)
    assert digests_of(stored, after) == digests_of(tmp_path / "fresh", after)


def test_a_document_at_the_end_leaves_the_parts_before_it(stored: Path) -> None:
    index, before = layout.read_index(stored), inodes(stored)
    last = {
        name: [] if name in ("pages", "headings", "boilerplate", "notes") else name for name in DOCUMENT_SCHEMA.names
    }
    documents = pa.concat_tables([index.documents, *[pa.Table.from_pylist([last], DOCUMENT_SCHEMA)] * ROWS])
    counts = replace(index.manifest.counts, documents=documents.num_rows)
    replace_index(stored, replace(index, documents=documents, manifest=replace(index.manifest, counts=counts)))
    after = inodes(stored)
    assert sorted(set(after) - set(before)) == ["documents-00000.arrow", "documents-00001.arrow"]
    shared = [name for name in before if name.startswith(("chunks", "entities", "relations", "vectors", "hierarchy"))]
    assert [name for name in shared if after[name] != before[name]] == []
    assert layout.read_index(stored).documents.num_rows == ROWS + 1


def test_only_rows_with_another_text_are_counted_again(stored: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    counted: list[str] = []

    def count(texts: list[str]) -> np.ndarray:
        counted.extend(texts)
        return np.full(len(texts), 3, dtype=np.int32)

    monkeypatch.setattr("leanrag_core.storage.counted_columns.count_many", count)
    changed = edited(layout.read_index(stored), 16, "Changed by hand.")
    replace_index(stored, changed)
    assert counted == [" Changed by hand.\n"]
    stored_counts = layout.read_index(stored).layers[0].token_counts["description_tokens"]
    assert stored_counts[16] == 3
    assert np.delete(stored_counts, 16).min() > 3


def test_whole_files_are_shared_as_well(one_file: Path) -> None:
    before = inodes(one_file)
    replace_index(one_file, edited(layout.read_index(one_file), 0, "Changed by hand."))
    after = inodes(one_file)
    assert {name for name in after if after[name] != before[name]} == {
        "entities-0.arrow",
        "manifest.json",
        "report.json",
    }


def test_a_changed_vector_or_a_damaged_file_is_written(one_file: Path) -> None:
    index, before = made(), inodes(one_file)
    layer = index.layers[1]
    vectors = layer.vectors.copy()
    vectors[0, 0] += 1
    path = one_file / "relations-0.arrow"
    content = bytearray(path.read_bytes())
    content[-20] ^= 1
    path.write_bytes(content)
    layers = (index.layers[0], replace(layer, vectors=vectors), *index.layers[2:])
    replace_index(one_file, replace(index, layers=layers), keeps=False)
    after = inodes(one_file)
    assert {"vectors-1.npy", "relations-0.arrow"} <= {name for name in after if after[name] != before[name]}
    assert after["vectors-0.npy"] == before["vectors-0.npy"]
    assert [result.name for result in failed(one_file)] == ["unit vectors"]


def test_a_disk_without_links_gets_copies(stored: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*names: object) -> None:
        raise OSError(errno.EPERM, os.strerror(errno.EPERM))

    before, files = inodes(stored), layout.read_manifest(stored).files
    monkeypatch.setattr(taking_over.os, "link", refused)
    replace_index(stored, layout.read_index(stored), keeps=False)
    assert layout.read_manifest(stored).files == files
    assert not set(inodes(stored).values()) & set(before.values())
    assert failed(stored) == []


def work(folder: Path) -> None:
    """Replace the index in folder/index by an edited one, in parts."""
    table_parts.PART_ROWS = ROWS  # of a process that ends with this
    replace_index(folder / "index", edited(layout.read_index(folder / "index"), 16, "Changed by hand."))


def test_a_kill_while_parts_are_taken_over_leaves_one_of_the_two_states(stored: Path, tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    shutil.move(stored, home / "index")
    killed = killed_copies(f"{__name__}:work", home, tmp_path / "copies", 6)
    old = digests_of(home / "index", inodes(home / "index"))
    new = digests_of(tmp_path / "copies" / "whole" / "index", inodes(home / "index"))
    assert old != new
    assert len(killed) >= 6
    for copy in killed:
        layout_of = copy / "index"
        if not layout_of.exists():  # between two renames: the next opening of the store puts it back
            work_again(copy)
        present = digests_of(layout_of, inodes(layout_of))
        assert present in (old, new), copy
        layout.read_index(layout_of)
        work_again(copy)
        assert digests_of(layout_of, inodes(layout_of)) == new


def work_again(copy: Path) -> None:
    from leanrag_core.storage.staging import remove_stale_staging

    remove_stale_staging(copy / "index")
    work(copy)


@pytest.mark.parametrize("kind", ["changed", "missing", "surplus"])
def test_check_names_the_part_that_is_damaged_missing_or_too_many(stored: Path, kind: str) -> None:
    name = "relations-0-00003.arrow"
    if kind == "changed":
        content = bytearray((stored / name).read_bytes())
        content[-20] ^= 1  # in the footer's padding or magic
        (stored / name).write_bytes(content)
    elif kind == "missing":
        (stored / name).unlink()
        with pytest.raises(IndexDamaged, match=name):
            layout.read_index(stored)
    else:
        name = "entities-0-00009.arrow"
        shutil.copy(stored / "entities-0-00008.arrow", stored / name)
    problems = [problem for result in failed(stored) for problem in result.problems]
    assert name in {problem.file for problem in problems}


def test_check_names_part_and_row_of_a_cell(stored: Path) -> None:
    def put(name: str, column: str, row: int, value: float) -> None:
        table = read_table(stored / name)
        cells = table[column].to_pylist()
        cells[row] = value
        field = table.schema.field(column)
        place = table.schema.get_field_index(column)
        write_table(stored / name, table.set_column(place, field, pa.array(cells, field.type)))

    put("entities-0-00001.arrow", "name_tokens", 2, 77)
    named = [(problem.file, problem.row) for result in failed(stored) for problem in result.problems]
    assert ("entities-0-00001.arrow", 2) in named
    put("relations-0-00001.arrow", "weight", 2, float("inf"))
    with pytest.raises(IndexDamaged, match=r"relations-0-00001\.arrow.*weight"):
        layout.read_index(stored, hashes=False)


def test_a_part_of_other_columns_and_one_that_is_not_recorded_are_refused(stored: Path) -> None:
    path = stored / "entities-0-00004.arrow"
    whole = path.read_bytes()
    write_table(path, read_table(path).drop_columns(["name_tokens"]))
    with pytest.raises(IndexDamaged, match=r"entities-0-00004\.arrow.*other columns than entities-0-00000\.arrow"):
        layout.read_index(stored, hashes=False)
    path.write_bytes(whole)
    values = json.loads((stored / "manifest.json").read_text())
    del values["files"]["entities-0-00004.arrow"]
    (stored / "manifest.json").write_text(json.dumps(sealed(values)))
    with pytest.raises(IndexDamaged, match=r"does not record entities-0-00004\.arrow"):
        layout.read_index(stored)


def test_archives_copies_and_earlier_states_hold_the_parts(stored: Path, tmp_path: Path) -> None:
    own = digests_of(stored, inodes(stored))
    write_archive(stored, tmp_path / "x.zip")
    restore_archive(tmp_path / "x.zip", tmp_path / "restored")
    assert digests_of(tmp_path / "restored", inodes(tmp_path / "restored")) == own
    keep_copy(stored, "before")
    replace_index(stored, edited(layout.read_index(stored), 3, "Another text."))
    assert inodes(state_folder(stored, 1))["entities-0-00001.arrow"] == inodes(stored)["entities-0-00001.arrow"]
    put_back(stored, earlier_states(stored)[0])
    assert digests_of(stored, inodes(stored)) == own
    delete_index(stored)
    assert not stored.exists()


def test_names_of_parts_lead_nowhere_else() -> None:
    assert is_archive_name("entities-0-00001.arrow")
    for name in ("hierarchy-00000.arrow", "entities-0-1.arrow", "entities-0-00001.parquet", "x/entities-0-00001.arrow"):
        assert not is_archive_name(name)
    assert table_parts.files_of("entities-1", ["entities-1-00001.arrow", "entities-11-00005.arrow"]) == (
        "entities-1-00000.arrow",
        "entities-1-00001.arrow",
    )
    assert isinstance(damaged(Path("x"), layout.message("damage.surplus")), IndexDamaged)
