"""What a check reports: a problem with its file and row, or a note on what could not be checked."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from leanrag_core.models.base import EmbeddingModel
from leanrag_core.storage.layout import located, table_path, vectors_path
from leanrag_core.types.index import Index
from leanrag_core.types.rows import numbers

_ROWS_NAMED = 20  # of one problem


@dataclass(frozen=True)
class Problem:
    """Something that does not hold. file: below the index's folder. row: of the table in it, None for all of it."""

    file: str
    row: int | None
    text: str

    def __str__(self) -> str:
        return f"{self.file}{'' if self.row is None else f' row {self.row}'}: {self.text}"


@dataclass(frozen=True)
class Note:
    """Why something was not checked; no failure."""

    text: str


@dataclass(frozen=True, eq=False)
class Subject:
    """What is checked. embedding: the model that the index was made with, None when it is not available. reason: why it
    is not.
    """

    index: Index
    embedding: EmbeddingModel | None = None
    reason: str = "no embedding model was given"

    def table(self, name: str) -> str:
        """Return the file name of a table: documents, chunks, hierarchy, entities-L, relations-L; of one in parts with
        a star for their numbers."""
        return table_path(self.index, name).name

    def in_its_file(self, problem: Problem) -> Problem:
        """Return the problem with the part of the table that holds its row, and the row in that part."""
        if problem.row is None:
            return problem
        file, row = located(self.index, problem.file, problem.row)
        return replace(problem, file=file, row=row)

    def vectors(self, part: int | str) -> str:
        """Return the file name of a layer's vectors (part: its number) or of the chunks'."""
        return vectors_path(self.index, part).name

    @property
    def folder(self) -> Path | None:
        """The directory of the index; None for an index in memory alone."""
        return self.index.path

    @property
    def is_build(self) -> bool:
        """Whether a build of this program made the index from documents, so that its ids follow from its content."""
        return bool(self.index.manifest.extractor)


Check = Callable[[Subject], Iterator[Problem | Note]]


def at_rows(file: str, rows: Iterable[int] | np.ndarray, text: str) -> Iterator[Problem]:
    """Yield the problem once for each of those rows; beyond 20 one more problem counts the rest. rows: (k,) int."""
    every = [int(row) for row in rows]
    for row in every[:_ROWS_NAMED]:
        yield Problem(file, row, text)
    if len(every) > _ROWS_NAMED:
        yield Problem(file, None, f"{text}, in {len(every) - _ROWS_NAMED:,} more rows")


def where_not(stored: np.ndarray, expected: np.ndarray) -> np.ndarray:
    """Return the rows in which two columns differ; every row from the end of the shorter one on.

    stored, expected: (n,) and (m,). Returns (k,) int64.
    """
    short, long = sorted((len(stored), len(expected)))
    return np.concatenate([np.flatnonzero(stored[:short] != expected[:short]), np.arange(short, long)])


def texts_differ(stored: Iterable[Any], expected: Iterable[Any]) -> list[int]:
    """Return the rows in which two columns of equal length differ."""
    return [row for row, (left, right) in enumerate(zip(stored, expected, strict=True)) if left != right]


def flat(column: pa.ChunkedArray) -> tuple[np.ndarray, np.ndarray]:
    """Return owner row and value of every cell of a column of lists of numbers, (k,) int64 each."""
    lists = pa.concat_arrays(column.chunks) if column.num_chunks else pa.array([], column.type)
    lengths = numbers(lists.value_lengths().fill_null(0))
    return np.repeat(np.arange(len(lengths)), lengths), numbers(lists.flatten()).astype(np.int64)
