"""A search index whose files are damaged: what is said of it, and before Chroma reads them."""

import contextlib
import sqlite3
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from leanrag_core.errors import SearchIndexFailed
from leanrag_core.storage.layout import CHROMA, write_index
from leanrag_core.storage.search_connection import Connection, SearchIndex, changed_file, connect_to_files, recorded
from leanrag_core.storage.search_store import SearchStore
from leanrag_core.storage.search_writer import write_search_index
from leanrag_core.types.index import Index
from tests.small_index import small_index, unit
from tests.storage.searching import nearest_row, place_of, silent

pytestmark = pytest.mark.slow


def test_a_damaged_one_says_how_to_write_it_again(searches: SearchStore, searchable: Index) -> None:
    assert searchable.path is not None
    for path in (searchable.path / CHROMA).iterdir():
        if path.name == "chroma.sqlite3":
            path.unlink()
    (searchable.path / CHROMA / "search.json").touch()  # another one, as it were
    with pytest.raises(SearchIndexFailed, match="make it again with"):
        nearest_row(searches, searchable, [0, 0, 0, 1])


def test_files_that_do_not_read_say_so(searches: SearchStore, searchable: Index) -> None:
    assert searchable.path is not None
    searches.close(searchable.path)
    for path in (searchable.path / CHROMA).glob("chroma.sqlite3*"):
        path.write_bytes(b"no database" * 1000)
    with pytest.raises(SearchIndexFailed, match="make it again with"):
        nearest_row(searches, searchable, [0, 0, 0, 1])


class Panicking:
    """A client whose Rust code panics, which is a BaseException."""

    def get_collection(self, name: str, embedding_function: None) -> None:
        raise type("PanicException", (BaseException,), {})("called `Result::unwrap()` on an `Err` value")

    def close(self) -> None:
        """Close nothing: nothing is open."""


def test_a_panic_of_chromas_own_code_is_an_error_with_a_remedy(searches: SearchStore, searchable: Index) -> None:
    searches.connect_with(lambda place: Connection(Panicking()))
    with pytest.raises(SearchIndexFailed, match=r"does not answer .* search exactly, or make it again"):
        nearest_row(searches, searchable, [0, 0, 0, 1])


def thousand(tmp_path: Path) -> Path:
    """Write an index whose base layer is large enough for Chroma to write its graph to the end."""
    vectors = np.random.default_rng(2).normal(size=(1000, 8)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    small = small_index()
    index = replace(small, layers=(replace(small.layers[0], vectors=vectors),))
    write_index(tmp_path, small_index())
    write_search_index(place_of(tmp_path), index, silent)
    return tmp_path


def ask_layer_0(directory: Path) -> list[int]:
    searcher = SearchIndex(place_of(directory), connect_to_files)
    layer = replace(small_index().layers[0], entities=pa.table({"id": [str(row) for row in range(1000)]}))
    rows = searcher.candidates(layer, unit([[1.0] * 8])[0], 1).tolist()
    searcher.close()
    return rows


def test_what_is_recorded_of_the_files_lasts_however_often_chroma_opens_them(tmp_path: Path) -> None:
    folder = thousand(tmp_path)
    assert {Path(name).name for name in recorded(folder / CHROMA).files} >= {"data_level0.bin", "link_lists.bin"}
    before = (folder / CHROMA / "chroma.sqlite3").read_bytes()
    assert ask_layer_0(folder) == ask_layer_0(folder)
    assert (folder / CHROMA / "chroma.sqlite3").read_bytes() != before, "Chroma wrote into it"
    assert changed_file(folder / CHROMA, recorded(folder / CHROMA)) == ""


@pytest.mark.parametrize("name", ["*/data_level0.bin", "*/header.bin", "*/index_metadata.pickle"])
def test_a_changed_bit_of_a_graph_is_reported_before_chroma_reads_it(tmp_path: Path, name: str) -> None:
    [path] = (thousand(tmp_path) / CHROMA).glob(name)
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 16
    path.write_bytes(content)
    with pytest.raises(SearchIndexFailed, match=rf"{path.name} was changed .* make it again"):
        ask_layer_0(tmp_path)


def test_a_changed_row_of_the_database_is_reported_before_chroma_reads_it(
    searches: SearchStore, searchable: Index
) -> None:
    assert searchable.path is not None
    with contextlib.closing(sqlite3.connect(searchable.path / CHROMA / "chroma.sqlite3")) as database:
        database.execute("UPDATE embeddings_queue SET vector = zeroblob(16) WHERE id = '3'")
        database.commit()
    with pytest.raises(SearchIndexFailed, match=r"chroma\.sqlite3 was changed"):
        nearest_row(searches, searchable, [0, 0, 0, 1])
