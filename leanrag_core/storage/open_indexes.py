"""Opened indexes that are kept between questions, as many as fit into the memory given to them."""

import threading
from collections.abc import Callable

from leanrag_core.types.index import Index


class OpenIndexes:
    """The indexes last used, as many as max_bytes holds; the last one always."""

    def __init__(self, max_bytes: int) -> None:
        self._max_bytes = max_bytes
        self._opened: dict[tuple[str, str], Index] = {}
        self._lock = threading.Lock()

    def get(self, key: tuple[str, str], open_it: Callable[[], Index]) -> Index:
        """The index of that key (id, time of its build), opened if it is not; two sessions never open the same index
        twice, and a rebuilt index replaces the one of before."""
        with self._lock:
            index = self._opened.pop(key, None) or open_it()
            for old in [key_open for key_open in self._opened if key_open[0] == key[0]]:
                del self._opened[old]
            while self._opened and sum(map(table_bytes, (index, *self._opened.values()))) > self._max_bytes:
                del self._opened[next(iter(self._opened))]
            self._opened[key] = index  # the one used last comes last
            return index


def table_bytes(index: Index) -> int:
    """Bytes of an opened index's tables; its vectors are mapped from their files."""
    tables = [index.documents, index.chunks]
    tables += [table for layer in index.layers for table in (layer.entities, layer.relations)]
    return sum(table.nbytes for table in tables)
