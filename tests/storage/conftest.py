"""Indexes that tests of the search index share."""

from pathlib import Path

import pytest

from leanrag_core.storage.chroma_server import ChromaServers
from leanrag_core.storage.layout import read_index, write_index
from leanrag_core.storage.search_store import SearchStore
from leanrag_core.storage.search_writer import write_search_index
from leanrag_core.types.index import Index
from tests.small_index import small_index
from tests.storage.searching import place_of, silent


@pytest.fixture
def servers() -> ChromaServers:
    return ChromaServers()


@pytest.fixture
def searches() -> SearchStore:
    return SearchStore()


@pytest.fixture
def stored(tmp_path: Path, index: Index) -> Path:
    """Return a folder with the small index, without a search index."""
    write_index(tmp_path, index)
    return tmp_path


@pytest.fixture
def searchable(tmp_path: Path) -> Index:
    """Return the small index with a search index in files."""
    write_index(tmp_path, small_index())
    write_search_index(place_of(tmp_path), small_index(), silent)
    return read_index(tmp_path)
