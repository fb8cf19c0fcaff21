"""Search indexes of the small index: where they lie, and what is nearest in them."""

from pathlib import Path

import numpy as np

from leanrag_core.storage.layout import CHROMA
from leanrag_core.storage.search_connection import SearchPlace
from leanrag_core.storage.search_store import SearchStore
from leanrag_core.types.index import Index
from tests.small_index import unit


def silent(done: int, total: int) -> None:
    """Report nothing."""


def place_of(directory: Path) -> SearchPlace:
    return SearchPlace(directory, directory / CHROMA)


def nearest_row(searches: SearchStore, index: Index, vector: list[float], layer: int = 0) -> int:
    assert index.path is not None
    searcher = searches.open(index.path)
    assert searcher is not None
    rows = searcher.candidates(index.layers[layer], unit([vector])[0], 1)
    return int(rows[np.argmax(index.layers[layer].vectors[rows] @ unit([vector])[0])])
