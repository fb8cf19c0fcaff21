"""Files that want to do harm, or are broken: refused with the file's name, or read without what is wrong."""

import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from leanrag_core.errors import ImportFailed
from leanrag_core.importing import base, graph, rows, working_folder
from leanrag_core.importing.base import preview_of, recognised
from leanrag_core.importing.confined import confined_preview
from leanrag_core.indexing.parsing.limits import ParseLimits
from tests.importing import folders
from tests.importing.test_plain import tables
from tests.reading import read_graph

GRAPH = "graph_chunk_entity_relation.graphml"
BOMB = '<?xml version="1.0"?><!DOCTYPE x [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;">]><graphml>&b;</graphml>'
OUTSIDE = '<?xml version="1.0"?><!DOCTYPE x [<!ENTITY a SYSTEM "file:///etc/passwd">]><graphml>&a;</graphml>'


@pytest.mark.parametrize(
    ("content", "expected_text"),
    [
        (BOMB, "document type or entities"),
        (OUTSIDE, "document type or entities"),
        ("<graphml><node", "cannot be read"),
        ("", "cannot be read"),
        ("<graphml></graphml>", "no row of the entities"),
    ],
)
def test_a_graph_that_cannot_be_read_is_refused(tmp_path: Path, content: str, expected_text: str) -> None:
    folder = folders.lightrag(tmp_path)
    (folder / GRAPH).write_text(content)
    with pytest.raises(ImportFailed, match=expected_text):
        read_graph(folder, "lightrag")


@pytest.mark.parametrize("content", ["[1, 2]", "{", "[" * 100_000, "1e999", '{"chunk-1": [], "chunk-2": null, "c": 3}'])
def test_a_store_that_is_not_as_it_should_be_is_refused_or_passed_over(tmp_path: Path, content: str) -> None:
    folder = folders.lightrag(tmp_path)
    (folder / "kv_store_text_chunks.json").write_text(content)
    if content.startswith("{") and len(content) > 1:
        assert next(note.code for note in read_graph(folder, "").notes) == "import.no_chunk_texts"
        return
    with pytest.raises(ImportFailed, match=r"kv_store_text_chunks\.json"):
        read_graph(folder, "lightrag")


def test_files_that_are_too_large_are_refused_before_they_are_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(working_folder, "MAX_GRAPHML_BYTES", 10)
    with pytest.raises(ImportFailed, match="larger than 10 bytes"):
        read_graph(folders.lightrag(tmp_path / "a"), "")
    monkeypatch.setattr(rows, "MAX_UNPACKED_BYTES", 10)
    with pytest.raises(ImportFailed, match="larger than 10 bytes"):
        read_graph(folders.graphrag(tmp_path / "b"), "")
    monkeypatch.setattr(rows, "MAX_ROWS", 0)
    with pytest.raises(ImportFailed, match="more than 0 rows"):
        read_graph(folders.graphrag(tmp_path / "c"), "")
    monkeypatch.setattr(rows, "MAX_STORE_BYTES", 10)
    with pytest.raises(ImportFailed, match="larger than 10 bytes"):
        read_graph(folders.hipporag(tmp_path / "d"), "")
    monkeypatch.setattr(rows, "MAX_FILE_BYTES", 10)
    with pytest.raises(ImportFailed, match="larger than 10 bytes"):
        read_graph(folders.leanrag(tmp_path / "e"), "")


def test_a_table_of_very_many_columns_or_rows_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    wide = tables(tmp_path / "wide", entities="name" + ",a" * 400_000 + "\nbee\n")
    with pytest.raises(ImportFailed, match=r"entities\.csv has more than 1,000 columns"):
        read_graph(wide, "plain")
    (tmp_path / "wide" / "entities.csv").unlink()
    pq.write_table(pa.table({f"c{n}": ["x"] for n in range(1001)}), tmp_path / "wide" / "entities.parquet")
    with pytest.raises(ImportFailed, match=r"entities\.parquet has more than 1,000 columns"):
        read_graph(wide, "plain")
    many = tables(tmp_path / "many", entities="name\nbee\nant\nwasp\n", relations="source,target\nbee,ant\nant,wasp\n")
    monkeypatch.setattr(graph, "MAX_RELATIONS", 1)
    with pytest.raises(ImportFailed, match="more than 1 rows of relations"):
        read_graph(many, "plain")
    monkeypatch.setattr(graph, "MAX_ENTITIES", 2)
    with pytest.raises(ImportFailed, match="more than 2 rows of entities"):
        read_graph(many, "plain")


def test_a_large_cell_of_a_parquet_file_is_refused_also_where_all_rows_share_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "cells").mkdir()
    table = pa.table({"name": [f"bee {n}" for n in range(1000)], "description": ["x" * 100_000] * 1000})
    pq.write_table(table, tmp_path / "cells" / "entities.parquet")
    assert (tmp_path / "cells" / "entities.parquet").stat().st_size < 200_000
    monkeypatch.setattr(rows, "_BATCH_BYTES", 1_000_000)  # ten of these cells
    monkeypatch.setattr(rows, "MAX_UNPACKED_BYTES", 50_000_000)
    with pytest.raises(ImportFailed, match="larger than 50,000,000 bytes"):
        read_graph(tmp_path / "cells", "plain")
    monkeypatch.setattr(rows, "_BATCH_BYTES", 90_000)
    with pytest.raises(ImportFailed, match="cells may be larger than 90,000 bytes"):
        read_graph(tmp_path / "cells", "plain")


def test_a_preview_is_made_in_a_process_with_limits(tmp_path: Path) -> None:
    folder = folders.graphrag(tmp_path / "graph")
    expected = preview_of(read_graph(folder, "graphrag"), "graphrag")
    assert confined_preview(folder, "", ParseLimits()) == expected
    with pytest.raises(ImportFailed, match="graph makes its reader crash, or needs more than 1 MB"):
        confined_preview(folder, "graphrag", ParseLimits(memory_mb=1))
    with pytest.raises(ImportFailed, match=r"graph took more than 0\.001 s"):
        confined_preview(folder, "graphrag", ParseLimits(archive_seconds=0.001))
    (folder / "entities.parquet").write_bytes(b"PAR1" + b"\0" * 100 + b"PAR1")
    with pytest.raises(ImportFailed, match=r"entities\.parquet cannot be read"):
        confined_preview(folder, "graphrag", ParseLimits())


def test_a_damaged_or_foreign_parquet_file_is_refused(tmp_path: Path) -> None:
    folder = folders.graphrag(tmp_path)
    (folder / "entities.parquet").write_bytes(b"PAR1" + b"\0" * 100 + b"PAR1")
    with pytest.raises(ImportFailed, match=r"entities\.parquet cannot be read"):
        read_graph(folder, "graphrag")
    pq.write_table(pa.table({"nothing": [1]}), folder / "entities.parquet")
    with pytest.raises(ImportFailed, match="has no column title or name"):
        read_graph(folder, "graphrag")


def test_clusters_levels_and_ratings_of_any_kind_end_no_import(tmp_path: Path) -> None:
    folder = folders.nano_graphrag(tmp_path)
    graph = (folder / GRAPH).read_text(encoding="utf-8")
    (folder / GRAPH).write_text(graph.replace("&quot;level&quot;: 1", "&quot;level&quot;: 1e9"), encoding="utf-8")
    written = {"rating": "high", "findings": ["x", 3, None]}
    reports = {"0": {"report_json": written}, "7": {"nodes": ["gone"], "level": []}}
    (folder / "kv_store_community_reports.json").write_text(json.dumps(reports), encoding="utf-8")
    extras = read_graph(folder, "").extras
    assert [community.id for community in extras.communities] == ["0"]
    report = extras.communities[0].report
    assert report is not None
    assert (report.rating, [finding.summary for finding in report.findings]) == (None, ["x", "3", "None"])


def test_a_format_that_fails_at_files_of_others_leaves_them_to_these(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class OfText:
        def recognises(self, path: Path) -> bool:
            return "nodes" in (path / "entities.csv").read_text(encoding="utf-8")

    known = base.importers()
    monkeypatch.setattr(base, "importers", lambda: (OfText(), *known))
    tables(tmp_path, entities="name\nHoney bee\n")
    (tmp_path / "entities.csv").write_bytes(b"name\nBi\xeane\n")
    found = recognised(tmp_path)
    assert found is not None
    assert found.name == "plain"


def test_links_and_files_of_no_format_are_not_followed(tmp_path: Path) -> None:
    folders.lightrag(tmp_path / "real")
    (tmp_path / "above").mkdir()
    (tmp_path / "above" / "link").symlink_to(tmp_path / "real")
    assert recognised(tmp_path / "above") is None
    with pytest.raises(ImportFailed, match="there is nothing at"):
        read_graph(tmp_path / "none", "")
