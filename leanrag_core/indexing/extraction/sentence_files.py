"""Sentences between reading and settling of names: in memory where they are few, else document by document on the disk.

Names are settled over all documents, so every sentence is needed twice: to count its names, and then to make mentions
and relations of it. As Python objects sentences take ten times the memory of their text.
"""

import json
import tempfile
from array import array
from collections.abc import Iterator, Sequence
from typing import IO, TypeVar, overload

from leanrag_core.indexing.extraction.english_reading import cells_of, sentence_of
from leanrag_core.indexing.extraction.sentences import ReadSentence

MOST_IN_MEMORY = 4_000_000  # characters of sentences


T = TypeVar("T")


class ReadInOrder(Sequence[T]):
    """A sequence that is read from its beginning: a single item costs as much as all of them."""

    @overload
    def __getitem__(self, place: int) -> T: ...

    @overload
    def __getitem__(self, place: slice) -> list[T]: ...

    def __getitem__(self, place: int | slice) -> T | list[T]:
        return list(self)[place]


class SentenceFiles(ReadInOrder[ReadSentence]):
    """All sentences, in the order of the documents' rows, to be read any number of times.

    The system deletes the file when this object is gone. Sentences come back equal in every bit.
    """

    def __init__(self, n_documents: int, most_in_memory: int | None = None) -> None:
        self._most = MOST_IN_MEMORY if most_in_memory is None else most_in_memory
        self._rows: list[list[ReadSentence]] = [[] for _ in range(n_documents)]
        self._starts = array("q", [0]) * n_documents
        self._lengths = array("q", [0]) * n_documents
        self._n, self._characters = 0, 0
        self._file: IO[bytes] | None = None

    @property
    def on_disk(self) -> bool:
        """Whether there were too many for the memory."""
        return self._file is not None

    def put(self, row: int, sentences: list[ReadSentence]) -> None:
        """Keep the sentences of the document of that row, which has none yet."""
        self._n += len(sentences)
        self._characters += sum(len(sentence.text) for sentence in sentences)
        if self._file is not None:
            self._write(row, sentences)
            return
        self._rows[row] = sentences
        if self._characters > self._most:
            self._file = tempfile.TemporaryFile(prefix="leanrag-sentences-")  # noqa: SIM115 - as long as this
            for place, kept in enumerate(self._rows):
                self._write(place, kept)
            self._rows = []

    def of(self, row: int) -> list[ReadSentence]:
        """Return the sentences of that document."""
        if self._file is None:
            return self._rows[row]
        self._file.seek(self._starts[row])
        lines = self._file.read(self._lengths[row]).decode("utf-8", "surrogatepass")
        return [sentence_of(json.loads(line)) for line in lines.split("\n")] if lines else []

    def __len__(self) -> int:
        return self._n

    def __iter__(self) -> Iterator[ReadSentence]:
        for row in range(len(self._starts)):
            yield from self.of(row)

    def _write(self, row: int, sentences: list[ReadSentence]) -> None:
        assert self._file is not None
        lines = "\n".join(json.dumps(cells_of(sentence), ensure_ascii=False) for sentence in sentences)
        content = lines.encode("utf-8", "surrogatepass")
        self._file.seek(0, 2)
        self._starts[row], self._lengths[row] = self._file.tell(), len(content)
        self._file.write(content)
