"""Tables and JSON stores of other programs, row by row, in any encoding of text."""

import csv
import io
import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

import pyarrow as pa

from leanrag_core.errors import ImportFailed, UnreadableDocument
from leanrag_core.indexing.parsing.blocks import one_line, shown_name
from leanrag_core.indexing.parsing.encoding import decode
from leanrag_core.messages.catalog import sentence
from leanrag_core.messages.message import message
from leanrag_core.text.plain_words import in_words
from leanrag_core.types.extraction import Drop

MAX_ROWS = 10_000_000
MAX_UNPACKED_BYTES = 4_000_000_000  # of the columns that are read, as the file says
MAX_COLUMNS = 1000
_BATCH_ROWS = 512
_BATCH_BYTES = 500_000_000  # that the cells of a batch may have, were each as large as all that its column holds
_VECTORS = ("embedding", "vector")  # ends of names of columns that nothing here uses


def parquet_cells(path: Path) -> Iterator[dict[str, Any]]:
    """Yield each row's cells, columns in lower case, without columns of vectors.

    Raises ImportFailed for a file that is no Parquet, damaged, or too large.
    """
    import pyarrow.parquet as pq

    name = shown_name(path.name)
    try:
        with pq.ParquetFile(path, thrift_string_size_limit=100_000_000) as file:
            columns = [column for column in file.schema_arrow.names if not column.lower().endswith(_VECTORS)]
            batch_rows = _batch_rows(file.metadata, name)
            lowered = [column.strip().lower() for column in columns]
            if len(set(lowered)) < len(lowered):
                twice = next(column for column in lowered if lowered.count(column) > 1)
                raise ImportFailed("import.column_twice", file=name, column=twice)
            unpacked = 0
            for batch in file.iter_batches(batch_size=batch_rows, columns=columns, use_threads=False):
                unpacked += batch.nbytes  # a cell that all rows share is one on the disk
                if unpacked > MAX_UNPACKED_BYTES:
                    raise ImportFailed("import.too_large", file=name, limit=MAX_UNPACKED_BYTES)
                for cells in batch.to_pylist():
                    yield dict(zip(lowered, cells.values(), strict=True))
    except (OSError, pa.ArrowException, ValueError) as error:
        raise ImportFailed("import.unreadable", file=name, reason=in_words(error)[:300]) from error


def _batch_rows(metadata: Any, name: str) -> int:
    """Return how many rows are read at a time: few where a single cell may be large. Raises ImportFailed for a file
    that is too large, and for a single cell that is."""
    if metadata.num_columns > MAX_COLUMNS:
        raise ImportFailed("import.too_many_columns", file=name, limit=MAX_COLUMNS)
    if metadata.num_rows > MAX_ROWS:
        raise ImportFailed("import.too_many_rows", file=name, limit=MAX_ROWS)
    groups = [metadata.row_group(group) for group in range(metadata.num_row_groups)]
    chunks = [group.column(place) for group in groups for place in range(metadata.num_columns)]
    sizes = [chunk.total_uncompressed_size for chunk in chunks if not _is_vector(chunk)]
    if sum(sizes) > MAX_UNPACKED_BYTES:
        raise ImportFailed("import.too_large", file=name, limit=MAX_UNPACKED_BYTES)
    largest = max(sizes, default=0)
    if largest > _BATCH_BYTES:
        raise ImportFailed("import.column_too_large", file=name, limit=_BATCH_BYTES)
    return max(1, min(_BATCH_ROWS, _BATCH_BYTES // max(1, largest)))


def _is_vector(chunk: Any) -> bool:
    return bool(chunk.path_in_schema.split(".")[0].lower().endswith(_VECTORS))


SUFFIXES = (".csv", ".tsv", ".jsonl", ".parquet")
MAX_FILE_BYTES = 2_000_000_000
_MAX_HEADER = 1_000_000  # characters of the line with the columns' names
LEFT_OUT, MERGED, UNDESCRIBED = "import", "duplicates", "empty descriptions"  # stages of the build report
_REMARKS = {"import.name_again": MERGED, "import.pair_again": MERGED, "import.no_description": UNDESCRIBED}
_ROWS_LOOKED_AT = 100  # for the names of columns; a row of JSON may lack some
_LIST_MARKS = ("|", ";", "\n")  # between the parts of a list in one cell, the first that occurs


@dataclass(frozen=True)
class Row:
    """One row of a file. place: file and number of the row, for drops. cells: texts, numbers and lists by column."""

    place: str
    cells: Mapping[str, Any]

    def text(self, *columns: str) -> str:
        """Return the first of the columns that is not empty, as text."""
        for column in columns:
            value = self.cells.get(column)
            if value is not None and not isinstance(value, list | dict):
                is_whole = isinstance(value, float) and value.is_integer()  # pandas makes 3.0 of an id with gaps
                text = str(int(value) if is_whole else value)
                if text.strip():
                    return text
        return ""

    def parts(self, *columns: str) -> tuple[str, ...]:
        """Return the first of the columns that is not empty, as a list: a JSON list, or parts with | or ; between."""
        for column in columns:
            value = self.cells.get(column)
            if isinstance(value, str) and value.lstrip().startswith("["):
                value = _json_value(value)
            if isinstance(value, list):
                return tuple(str(part).strip() for part in value if part is not None and str(part).strip())
        text = self.text(*columns)
        mark = next((mark for mark in _LIST_MARKS if mark in text), None)
        return tuple(part.strip() for part in (text.split(mark) if mark else [text]) if part.strip())


@dataclass
class Drops:
    """Collects what is left out of an import, and remarks on rows that are kept. Every row is counted, by code."""

    drops: list[Drop] = field(default_factory=list)
    remarks: list[Drop] = field(default_factory=list)
    counted: Counter[str] = field(default_factory=Counter)

    def add(self, place: str, code: str, **values: Any) -> None:
        """Record that something at that place was left out or changed, and the reason."""
        self._append(self.drops, LEFT_OUT, place, code, values)

    def remark(self, place: str, code: str, **values: Any) -> None:
        """Record that the row at that place is merged into another one, or has no description."""
        self._append(self.remarks, _REMARKS[code], place, code, values)

    def _append(self, listed: list[Drop], stage: str, place: str, code: str, values: Mapping[str, Any]) -> None:
        self.counted[code] += 1
        shown = {name: one_line(value) if isinstance(value, str) else value for name, value in values.items()}
        listed.append(Drop(stage, one_line(place), sentence(message(code, **shown))))


def table_file(folder: Path, name: str) -> Path | None:
    """Return the file of that table in the folder, whatever its format. Raises ImportFailed when there are several."""
    files = [folder / f"{name}{suffix}" for suffix in SUFFIXES if (folder / f"{name}{suffix}").is_file()]
    if len(files) > 1:
        raise ImportFailed("import.several_files", name=name, first=files[0].name, second=files[1].name)
    return files[0] if files else None


def single_file(path: Path, suffix: str) -> Path | None:
    """Return the file with that suffix: the path itself, or the only one of the folder, since an upload of one file is
    a folder too. None where there is none, or several."""
    if path.is_dir():
        files = [each for each in path.iterdir() if each.suffix == suffix and not each.is_symlink() and each.is_file()]
        return files[0] if len(files) == 1 else None
    return path if path.suffix == suffix and path.is_file() else None


def read_rows(path: Path, required: Sequence[tuple[str, ...]], drops: Drops) -> Iterator[Row]:
    """Yield the rows of the file, its columns' names in lower case. required: for each column that must be there,
    its names.

    A file that ends in .json or .jsonl may hold a line for each row, or one list of all rows. Raises ImportFailed for a
    file that is too large, no text, empty, or lacks a column.
    """
    if path.suffix == ".parquet":
        name = shown_name(path.name)
        cells_of = enumerate(parquet_cells(path), 1)
        rows: Iterator[Row] = (Row(f"{name} row {number}", cells) for number, cells in cells_of)
    elif path.suffix in (".jsonl", ".json"):
        rows = _json_rows(path, file_text(path), drops)
    else:
        rows = _table_rows(path, file_text(path), drops)
    first = list(islice(rows, _ROWS_LOOKED_AT))
    if not first:
        raise ImportFailed("import.no_rows", file=shown_name(path.name))
    _require_columns(path, first, required)
    yield from first
    yield from rows


def file_text(path: Path) -> str:
    """Read the text of the file, whatever its encoding. Raises ImportFailed for one that is too large or no text."""
    try:
        if path.stat().st_size > MAX_FILE_BYTES:
            raise ImportFailed("import.too_large", file=shown_name(path.name), limit=MAX_FILE_BYTES)
        return decode(path.read_bytes()).text
    except (OSError, UnreadableDocument) as error:
        raise ImportFailed("import.unreadable", file=shown_name(path.name), reason=str(error)) from error


def _require_columns(path: Path, rows: Sequence[Row], required: Sequence[tuple[str, ...]]) -> None:
    columns = list(dict.fromkeys(name for row in rows for name in row.cells))
    for names in required:
        if not any(name in columns for name in names):
            present_columns = ", ".join(one_line(name[:60]) for name in columns[:20])
            raise ImportFailed(
                "import.no_column", file=shown_name(path.name), column=" or ".join(names), there=present_columns
            )


def _table_rows(path: Path, text: str, drops: Drops) -> Iterator[Row]:
    delimiter = "\t" if path.suffix == ".tsv" else ","
    header = _header(path, text, delimiter)

    def skip(row: Any) -> str:
        place = f"{shown_name(path.name)} row {row.number or '?'}"
        drops.add(place, "import.other_width", n=row.actual_columns, wanted=len(header))
        return "skip"

    table = _parsed(path, text, delimiter, header, skip)
    batches = table.to_batches(max_chunksize=4096)
    for number, cells in enumerate((cells for batch in batches for cells in batch.to_pylist()), 2):
        yield Row(f"{shown_name(path.name)} row {number}", cells)


def _header(path: Path, text: str, delimiter: str) -> list[str]:
    """Return the names of the columns, in lower case."""
    try:
        head = next(csv.reader(io.StringIO(text[:_MAX_HEADER]), delimiter=delimiter), [])
    except csv.Error as error:
        raise ImportFailed("import.unreadable", file=shown_name(path.name), reason=str(error)) from error
    if len(head) > MAX_COLUMNS:
        raise ImportFailed("import.too_many_columns", file=shown_name(path.name), limit=MAX_COLUMNS)
    names = [name.strip().lower() for name in head]
    twice = next((name for name in names if name and names.count(name) > 1), None)
    if twice is not None:
        raise ImportFailed("import.column_twice", file=shown_name(path.name), column=twice)
    return names


def _parsed(path: Path, text: str, delimiter: str, header: list[str], skip: Any) -> pa.Table:
    from pyarrow import csv as arrow_csv

    content = text.encode("utf-8", "replace")
    names = [name or f"column {place}" for place, name in enumerate(header, 1)]
    if not names:
        raise ImportFailed("import.no_rows", file=shown_name(path.name))
    try:
        return arrow_csv.read_csv(
            pa.BufferReader(content),
            read_options=arrow_csv.ReadOptions(
                column_names=names,
                skip_rows_after_names=1,
                block_size=max(1 << 20, min(len(content) + 1, 1 << 30)),
                use_threads=False,
            ),
            parse_options=arrow_csv.ParseOptions(
                delimiter=delimiter, newlines_in_values=True, invalid_row_handler=skip
            ),
            convert_options=arrow_csv.ConvertOptions(
                column_types={name: pa.string() for name in names}, strings_can_be_null=False
            ),
        )
    except pa.ArrowException as error:
        raise ImportFailed(
            "import.unreadable", file=shown_name(path.name), reason=" ".join(str(error).split())[:300]
        ) from error


def _json_rows(path: Path, text: str, drops: Drops) -> Iterator[Row]:
    for place, cells in _json_values(path, text):
        if isinstance(cells, dict):
            yield Row(place, {str(name).strip().lower(): value for name, value in cells.items()})
        else:
            drops.add(place, "import.no_object")


def _json_values(path: Path, text: str) -> Iterator[tuple[str, Any]]:
    """Yield each row's place and value; None for a line that is no JSON."""
    name = shown_name(path.name)
    if text.lstrip("\ufeff \t\r\n").startswith("["):
        value_of_file = _json_value(text)
        if isinstance(value_of_file, list):
            yield from ((f"{name} row {number}", value) for number, value in enumerate(value_of_file, 1))
            return
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip():
            yield f"{name} line {number}", _json_value(line)


def _json_value(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


MAX_STORE_BYTES = 1_000_000_000
_MAX_LEVEL = 1000


def json_file(path: Path) -> Any:
    """Read the value of the file. Raises ImportFailed for one that is too large or no JSON."""
    try:
        if path.stat().st_size > MAX_STORE_BYTES:
            raise ImportFailed("import.too_large", file=shown_name(path.name), limit=MAX_STORE_BYTES)
        return json.loads(file_text(path))
    except (OSError, ValueError, RecursionError) as error:
        raise ImportFailed("import.unreadable", file=shown_name(path.name), reason=in_words(error)[:300]) from error


def store_rows(path: Path) -> dict[str, Mapping[str, Any]]:
    """Read the objects of the store by id, none for a file that is absent; values that are no objects are left out."""
    if not path.is_file():
        return {}
    values = json_file(path)
    if not isinstance(values, dict):
        raise ImportFailed("import.no_store", file=shown_name(path.name))
    return {str(id_): row for id_, row in values.items() if isinstance(row, dict)}


def text_of(row: Mapping[str, Any], *names: str) -> str:
    """Return the first of the values that is a text or a number and not empty."""
    for name in names:
        value = row.get(name)
        if isinstance(value, str | int | float) and str(value).strip():
            return str(value)
    return ""


def number_of(value: Any) -> float | None:
    """Return the number; None for no value, NaN for a value that is not a number."""
    if value is None or value == "":
        return None
    try:
        return float(value)
    except (TypeError, ValueError, OverflowError):
        return float("nan")


def level_of(value: Any) -> int:
    """Return the level that the value names; 0 for anything that is no level."""
    number = number_of(value)
    return int(number) if number is not None and 0 <= number < _MAX_LEVEL else 0
