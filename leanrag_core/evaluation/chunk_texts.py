"""Texts of an index's chunks for comparison with gold quotes."""

from leanrag_core.evaluation.gold import normalised
from leanrag_core.types.index import Index


class ChunkTexts:
    """Normalises each chunk of one index once: keep it for as long as questions to that index are measured."""

    def __init__(self, index: Index) -> None:
        self._index = index
        self._texts: dict[int, str] = {}

    def text(self, row: int) -> str:
        """Return the normalised text of the chunk in that row."""
        if row not in self._texts:
            self._texts[row] = normalised(self._index.chunk(row).text)
        return self._texts[row]

    def names(self, row: int) -> frozenset[str]:
        """Return the file name and the title of the chunk's document."""
        document, cells = self._index.chunk_cells["document"][row].as_py(), self._index.document_cells
        return frozenset((cells["name"][document].as_py(), cells["title"][document].as_py()))
