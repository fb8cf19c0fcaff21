"""Files of an index that were changed: each is an error that names the file."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from leanrag_core.checking.check import check_index
from leanrag_core.errors import CorpusDamaged, IndexDamaged, InvalidConfig, SearchIndexFailed
from leanrag_core.files.records import plain
from leanrag_core.jobs.events import EventReader, JobEvent
from leanrag_core.storage import layout
from leanrag_core.storage.corpora import CorpusStore
from leanrag_core.storage.digests import damage_named, digests_of, sealed, wrong_sizes
from leanrag_core.storage.indexes import IndexStore
from leanrag_core.storage.search_connection import recorded
from leanrag_core.storage.settings import read_settings
from leanrag_core.storage.staging import staged
from leanrag_core.types.index import Index


@pytest.fixture
def stored(tmp_path: Path, index: Index) -> Path:
    with staged(tmp_path / "one") as staging:
        layout.write_index(staging, index)
    return tmp_path / "one"


def values_of(folder: Path) -> dict[str, Any]:
    return dict(json.loads((folder / layout.MANIFEST).read_text(encoding="utf-8")))


def put_values(folder: Path, values: dict[str, Any]) -> None:
    """Write those JSON values into the manifest, sealed."""
    (folder / layout.MANIFEST).write_text(json.dumps(sealed(values)), encoding="utf-8")


def hashes_fit_again(folder: Path) -> None:
    values = values_of(folder)
    files = {name: plain(file) for name, file in digests_of(folder, values["files"]).items()}
    put_values(folder, {**values, "files": files})


def flip(path: Path, place: int, bit: int = 0) -> None:
    content = bytearray(path.read_bytes())
    content[place] ^= 1 << bit
    path.write_bytes(content)


def test_the_manifest_holds_size_and_hash_of_every_file_but_the_search_indexes(stored: Path) -> None:
    manifest = layout.read_manifest(stored)
    assert sorted([*manifest.files, layout.MANIFEST]) == sorted(path.name for path in stored.iterdir())
    assert manifest.files == digests_of(stored, manifest.files)


def test_a_changed_bit_of_any_file_is_an_error_that_names_it(stored: Path) -> None:
    for path in sorted(stored.iterdir()):
        before = path.read_bytes()
        flip(path, len(before) // 2)
        with pytest.raises(IndexDamaged, match=rf"{path.name} .*build it again"):
            layout.read_index(stored)
        path.write_bytes(before)
    layout.read_index(stored)


def test_renaming_keeps_hashes_right(stored: Path) -> None:
    layout.rename_index(stored, "better")
    assert layout.read_index(stored).manifest.name == "better"


def test_an_index_of_before_hashes_still_opens(stored: Path) -> None:
    manifest = json.loads((stored / layout.MANIFEST).read_text(encoding="utf-8"))
    del manifest["files"], manifest["sha256"]
    (stored / layout.MANIFEST).write_text(json.dumps(manifest), encoding="utf-8")
    assert layout.read_index(stored).manifest.id == "index-small"


def offsets_of(path: Path, column: str) -> int:
    """Return where in the file the offsets of that column's first piece begin."""
    with pa.memory_map(str(path)) as source:
        whole = source.read_buffer()
        table = pa.ipc.open_file(pa.BufferReader(whole)).read_all()
        return int(table[column].chunk(0).buffers()[1].address - whole.address)


@pytest.mark.parametrize(
    ("name", "column"),
    [
        ("entities-0.arrow", "name"),
        ("entities-0.arrow", "description"),
        ("entities-0.arrow", "findings"),
        ("entities-0.arrow", "chunks"),
        ("relations-0.arrow", "id"),
        ("relations-1.arrow", "members"),
        ("documents.arrow", "text"),
        ("documents.arrow", "headings"),
    ],
)
@pytest.mark.parametrize("byte", [2, 3])
def test_an_offset_that_leads_outside_is_found_without_hashes(stored: Path, name: str, column: str, byte: int) -> None:
    """Check that the offset is refused: Arrow would follow it, and the process would end."""
    flip(stored / name, offsets_of(stored / name, column) + 4 + byte, 6)
    hashes_fit_again(stored)
    with pytest.raises(IndexDamaged, match=rf"{name} .*(column '{column}', row|cannot be read)"):
        layout.read_index(stored)


def value(name: str, column: str, row: int, new: object) -> Callable[[Path], str]:
    def change(folder: Path) -> str:
        with pa.memory_map(str(folder / name)) as source:
            table = pa.ipc.open_file(source).read_all()
        cells = table[column].to_pylist()
        cells[row] = new
        place = table.schema.get_field_index(column)
        changed = table.set_column(place, table.schema.field(place), pa.array(cells, table.schema.field(place).type))
        layout.tables.write_table(folder / name, changed)
        return name

    return change


@pytest.mark.parametrize(
    "change",
    [
        value("chunks.arrow", "document", 1, 7),
        value("chunks.arrow", "document", 1, -1),
        value("chunks.arrow", "end_byte", 1, 70_000),
        value("chunks.arrow", "start_byte", 1, 95),
        value("chunks.arrow", "start", 1, -3),
        value("entities-0.arrow", "chunks", 2, [4]),
        value("entities-0.arrow", "chunks", 2, [None]),
        value("entities-0.arrow", "name", 2, None),
        value("relations-0.arrow", "source", 2, 6),
        value("relations-0.arrow", "target", 2, -1),
        value("relations-0.arrow", "weight", 2, float("nan")),
        value("relations-1.arrow", "members", 0, [5]),
        value("hierarchy.arrow", "parent", 2, 9),
        value("hierarchy.arrow", "row", 2, 3),
        value("hierarchy.arrow", "layer", 2, 1),
    ],
)
def test_a_row_that_is_not_there_is_found_without_hashes(stored: Path, change: Callable[[Path], str]) -> None:
    name = change(stored)
    hashes_fit_again(stored)
    with pytest.raises(IndexDamaged, match=name):
        layout.read_index(stored)


@pytest.mark.parametrize(
    "content",
    [b"", b"\x93NUMPY", b"\x93NUMPY\x01\x00\x05\x00{'a':", b"x" * 1000, b"\x93NUMPY\x01\x00\x46\x00" + b"(" * 70],
)
def test_vectors_that_do_not_read_are_named(stored: Path, content: bytes) -> None:
    (stored / "vectors-0.npy").write_bytes(content)
    hashes_fit_again(stored)
    with pytest.raises(IndexDamaged, match=r"vectors-0\.npy cannot be read"):
        layout.read_index(stored)


@pytest.mark.parametrize(
    "vectors",
    [
        np.zeros((6, 3), np.float32),
        np.zeros((5, 4), np.float32),
        np.zeros((6, 4), np.float64),
        np.asfortranarray(np.zeros((6, 4), np.float32)),
        np.zeros(24, np.float32),
    ],
)
def test_vectors_of_another_shape_or_type_are_named(stored: Path, vectors: np.ndarray) -> None:
    np.save(stored / "vectors-0.npy", vectors)
    hashes_fit_again(stored)
    with pytest.raises(IndexDamaged, match=r"vectors-0\.npy"):
        layout.read_index(stored)


def deep(levels: int) -> str:
    return '{"a":' * levels + "1" + "}" * levels


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "null",
        "{not json",
        deep(100_000),
        '{"format_version": Infinity}',
        '{"format_version": -NaN}',
        '{"format_version": 1e999}',
        '{"format_version": ' + "9" * 5000 + "}",
        '{"name": "\\ud800"}',
        '{"format_version": 2.0}',
    ],
)
def test_a_manifest_that_is_none_is_named_and_hides_no_other_index(stored: Path, text: str) -> None:
    broken = stored.parent / "broken"
    broken.mkdir()
    (broken / layout.MANIFEST).write_text(text, encoding="utf-8")
    store = IndexStore(stored.parent)
    assert [summary.id for summary in store.index_list().indexes] == ["one"]
    [damaged] = store.index_list().damaged
    assert damaged.id == "broken"
    assert "manifest.json" in damaged.reason
    assert "delete the index in the app" in damaged.reason
    store.delete("broken")
    assert not broken.exists()


def at(place: str, wrong: Any) -> Callable[[dict[str, Any]], None]:
    def change(manifest: dict[str, Any]) -> None:
        *way, last = place.split(".")
        for step in way:
            manifest = manifest[step] if not step.isdigit() else manifest[int(step)]
        manifest[last] = wrong

    return change


@pytest.mark.parametrize(
    "change",
    [
        at("name", None),
        at("name", "n" * 100_000),
        at("kind", ["heuristic graph"]),
        at("corpus", "c"),
        at("corpus.name", 3),
        at("config", []),
        at("config.cluster_size", "20"),
        at("config.cluster_size", 20.0),
        at("config.entity_types", "person"),
        at("config.prompts", [["only a task"]]),
        at("config.tau", {}),
        at("embedding", {}),
        at("embedding.dimension", -4),
        at("embedding.dimension", True),
        at("counts.layers", 2),
        at("counts.layers", 10**30),
        at("counts.entities", [6, 2, "1"]),
        at("counts.documents", -1),
        at("layers", []),
        at("layers", [{}] * 3),
        at("layers.0.entities", None),
        at("layers.0.more", 1),
        at("files", {"../../secret": {"size": 1, "sha256": "0" * 64}}),
        at("files", {"chunks.arrow": {"size": 1, "sha256": "0"}}),
        at("format_version", "2"),
        at("format_version", True),
    ],
)
def test_a_manifest_with_a_wrong_type_is_named_with_the_place(
    stored: Path, change: Callable[[dict[str, Any]], None]
) -> None:
    values = values_of(stored)
    change(values)
    put_values(stored, values)
    with pytest.raises(IndexDamaged, match=r"manifest\.json (is not what|counts|does not record)"):
        layout.read_index(stored)
    assert [damaged.id for damaged in IndexStore(stored.parent).index_list().damaged] == ["one"]


def test_a_manifest_larger_than_any_is_not_read(stored: Path) -> None:
    with (stored / layout.MANIFEST).open("r+b") as file:
        file.truncate(10**10)  # takes no space on the disk
    with pytest.raises(IndexDamaged, match=r"manifest\.json has 10,000,000,000 bytes"):
        layout.read_index(stored)


@pytest.mark.parametrize(
    "report",
    [
        {},
        {"drops": []},
        {"drops": {"parse": "1"}, "empty_chunks": [], "usage": {}},
        {"usage": [1]},
        {"drops": {}, "empty_chunks": [], "usage": {}, "clustering": [{"median": "x"}]},
        {"drops": {}, "empty_chunks": [], "usage": {}, "clustering": [{"relations_below": {}}]},
        {"drops": {}, "empty_chunks": [], "usage": {}, "dropped": {"parse": [{"item": "a"}]}},
    ],
)
def test_a_report_with_a_wrong_type_is_named(stored: Path, report: dict[str, Any]) -> None:
    (stored / layout.REPORT).write_text(json.dumps(report), encoding="utf-8")
    hashes_fit_again(stored)
    with pytest.raises(IndexDamaged, match=r"report\.json is not what an index has there"):
        layout.read_index(stored)


def test_what_is_known_of_the_search_index_does_not_keep_the_index_from_opening(stored: Path) -> None:
    (stored / layout.CHROMA).mkdir()
    (stored / layout.CHROMA / "search.json").write_text(deep(100_000), encoding="utf-8")
    assert len(layout.read_index(stored).layers) == 3
    with pytest.raises(SearchIndexFailed) as refused:
        recorded(stored / layout.CHROMA)
    assert refused.value.message.code == "search.record_damaged"


def test_a_manifest_that_is_damaged_later_is_seen_by_a_store_that_had_read_it(stored: Path) -> None:
    store = IndexStore(stored.parent)
    assert [summary.name for summary in store.index_list().indexes] == ["small"]
    store.rename("one", "renamed")
    assert [summary.name for summary in store.index_list().indexes] == ["renamed"]
    (stored / layout.MANIFEST).write_text("{}", encoding="utf-8")
    assert store.index_list().indexes == ()
    assert [damaged.id for damaged in store.index_list().damaged] == ["one"]


@pytest.mark.parametrize("text", ["{not json", "[]", "{}", deep(100_000), '{"pages": [1]}'])
def test_a_document_of_a_corpus_that_does_not_read_is_named(tmp_path: Path, text: str) -> None:
    store = CorpusStore(tmp_path)
    corpus = store.create("Mine")
    (tmp_path / corpus / "doc-1.json").write_text(text, encoding="utf-8")
    with pytest.raises(CorpusDamaged, match=r"doc-1\.json cannot be read .* add it again"):
        store.document(corpus, "doc-1")


def test_settings_that_are_nested_too_deeply_are_reported(tmp_path: Path) -> None:
    (tmp_path / "settings.json").write_text(deep(100_000), encoding="utf-8")
    with pytest.raises(InvalidConfig, match=r"settings\.json is not valid JSON"):
        read_settings(tmp_path / "settings.json")


def test_a_line_of_a_jobs_events_that_does_not_read_hides_no_other(tmp_path: Path) -> None:
    lines = [deep(100_000).encode(), b'{"a": "\xff"', b'{"at": 1.5, "event": "begun"}']
    (tmp_path / "events.jsonl").write_bytes(b"\n".join([*lines, b""]))
    assert EventReader(tmp_path).read() == (JobEvent(1.5, "begun"),)


def test_bytes_that_are_no_text_are_reported_in_an_index_without_hashes_too(stored: Path) -> None:
    manifest = json.loads((stored / layout.MANIFEST).read_text(encoding="utf-8"))
    del manifest["files"], manifest["sha256"]
    (stored / layout.MANIFEST).write_text(json.dumps(manifest), encoding="utf-8")
    path = stored / "entities-0.arrow"
    path.write_bytes(path.read_bytes().replace(b"About mite.", b"About \xff\xff\xff\xff."))
    index = layout.read_index(stored)
    with pytest.raises(IndexDamaged, match="holds a text that is none"), damage_named(index.path, {}):
        index.layers[0].entity(2)
    [tables] = [result for result in check_index(index) if result.name == "tables"]
    assert [(problem.file, problem.row) for problem in tables.problems] == [("entities-0.arrow", 2)]


@pytest.mark.parametrize("change", [lambda content: content + b"\0", lambda content: content[:-1]])
def test_a_file_of_another_size_is_found_without_being_read(stored: Path, change: Callable[[bytes], bytes]) -> None:
    recorded_files = digests_of(stored, ["hierarchy.arrow", "vectors-0.npy"])
    path = stored / "vectors-0.npy"
    path.write_bytes(change(path.read_bytes()))
    [(name, problem)] = wrong_sizes(stored, recorded_files)
    assert (name, problem.code) == ("vectors-0.npy", "damage.size")
