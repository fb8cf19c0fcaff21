"""What follows from nothing else that is stored is found by its hash alone; missing files and hashes are named."""

import contextlib
import sqlite3
from typing import Any

import pytest

from tests.checking.damage import row_of
from tests.checking.stored import Remembered, Stored, named, results

pytestmark = pytest.mark.slow


@pytest.mark.parametrize(
    ("name", "column", "value"),
    [
        ("entities-0.arrow", "type", "mineral"),
        ("documents.arrow", "title", "Another title"),
        ("relations-0.arrow", "keywords", ["word"]),
        ("relations-1.arrow", "keywords", []),
        ("documents.arrow", "language", "xx"),
    ],
)
def test_a_changed_cell_that_nothing_depends_on_is_found_by_the_hash(
    stored: Stored, embedding: Remembered, name: str, column: str, value: Any
) -> None:
    stored.change(name, column, 0, value)
    assert named(results(stored, embedding)["file hashes"]) == [(name, None)]


def test_a_changed_summary_is_found_by_the_hash(stored: Stored, embedding: Remembered) -> None:
    stored.change("relations-1.arrow", "description", row_of(stored, "summarised"), "They never met.")
    stored.counted_again()
    assert ("relations-1.arrow", None) in named(results(stored, embedding)["file hashes"])


def test_a_changed_bit_of_the_search_indexes_rows_is_found(stored: Stored, embedding: Remembered) -> None:
    with contextlib.closing(sqlite3.connect(stored.search_folder / "chroma.sqlite3")) as database:
        database.execute("UPDATE embeddings_queue SET vector = zeroblob(1536) WHERE id = '3'")
        database.commit()
    assert named(results(stored, embedding)["search index"]) == [(stored.search_file("chroma.sqlite3"), None)]


def test_a_part_with_a_changed_file_is_found(stored: Stored, embedding: Remembered) -> None:
    path = stored.search_folder / "search.json"
    path.write_bytes(path.read_bytes().replace(b'"recall": 1.0', b'"recall": 0.9', 1))
    assert (stored.search_file("search.json"), None) in named(results(stored, embedding)["index parts"])


def test_a_part_that_was_made_of_other_vectors_is_found(stored: Stored, embedding: Remembered) -> None:
    other = {"vectors": "0" * 32}
    stored.record(stored.search_file("part.json"), lambda part: part.update(rests_on=other))
    assert named(results(stored, embedding)["index parts"]) == [(stored.search_file("part.json"), None)]


@pytest.mark.parametrize("name", ["entities-1.arrow", "report.json", "vectors-0.npy"])
def test_a_missing_file_is_named(stored: Stored, embedding: Remembered, name: str) -> None:
    (stored.folder / name).unlink()
    [result] = results(stored, embedding).values()
    assert (result.name, result.ok) == ("the index opens", False)
    assert named(result) == [(name, None)]


def test_an_index_without_hashes_passes_and_says_that_they_are_missing(stored: Stored, embedding: Remembered) -> None:
    def forget(manifest: dict[str, Any]) -> None:
        del manifest["files"]

    stored.record("manifest.json", forget)
    check_results = results(stored, embedding)
    assert all(result.ok for result in check_results.values())
    assert "hashes are missing" in check_results["file hashes"].detail
