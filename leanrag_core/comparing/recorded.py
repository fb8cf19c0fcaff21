"""A comparison as a file: the runs of its columns and the way of the gold, shown again without index and model."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from leanrag_core.comparing.column_specs import LETTERS
from leanrag_core.comparing.gold_passages import Gold
from leanrag_core.comparing.lost_evidence import STAGES, Lane
from leanrag_core.errors import RecordDamaged
from leanrag_core.files.records import from_json, to_json, values_of
from leanrag_core.messages.message import Message, message
from leanrag_core.storage.history import (
    RunRecord,
    from_record,
    record_of,
    require_run_format,
    require_sentences,
    write_recorded,
)
from leanrag_core.types.trace import Parameter, RecordedRun

FORMAT, VERSION = "leanrag-comparison", 1
MAX_BYTES = 96_000_000


@dataclass(frozen=True)
class RecordedColumn:
    """A column as its file holds it. index: the title of its index. settings: the options that its head shows. lanes:
    how far each piece of the comparison's gold came. title: the name that a person gave it, "" for none."""

    letter: str
    index: str
    badge: str
    differs: Message
    settings: Mapping[str, Parameter]
    run: RecordedRun
    lanes: tuple[Lane, ...] = ()
    title: str = ""


@dataclass(frozen=True)
class RecordedComparison:
    """A question with what its columns retrieved and answered. gold: what should have been found. baseline: the letter
    of a column, or nothing."""

    question: str
    columns: tuple[RecordedColumn, ...]
    gold: tuple[Gold, ...] = ()
    baseline: str = ""


@dataclass(frozen=True)
class _ColumnRecord:
    letter: str
    index: str
    badge: str
    differs: Message
    settings: Mapping[str, Parameter]
    run: RunRecord
    lanes: tuple[Lane, ...]
    title: str = ""


@dataclass(frozen=True)
class _Record:
    format: str
    version: int
    question: str
    baseline: str
    gold: tuple[Gold, ...]
    columns: tuple[_ColumnRecord, ...]


def content_of(comparison: RecordedComparison) -> bytes:
    """Return the comparison as the content of its file, which comparison_of() reads."""
    columns = tuple(_ColumnRecord(**{**vars(column), "run": record_of(column.run)}) for column in comparison.columns)
    return to_json(_Record(FORMAT, VERSION, comparison.question, comparison.baseline, comparison.gold, columns))


def write_comparison(path: Path, comparison: RecordedComparison) -> None:
    """Write the comparison into the file, in one step. Raises StorageFailed."""
    write_recorded(path, content_of(comparison))


def comparison_of(content: bytes, *, name: str) -> RecordedComparison:
    """Read the comparison of a file's content, such as an upload. name: of the file, for errors.

    Raises RunNotFound for another kind of file, RunTooNew, RecordDamaged.
    """
    values = values_of(content, name=name, max_bytes=MAX_BYTES)
    require_run_format(values, FORMAT, VERSION, other="comparison.other_file", name=name)
    record = from_json(_Record, content, name=name, max_bytes=MAX_BYTES)
    _require_columns(record, name)
    require_sentences(_messages(record), name)
    columns = tuple(
        RecordedColumn(**{**vars(column), "run": from_record(column.run, name=name)}) for column in record.columns
    )
    return RecordedComparison(record.question, columns, record.gold, record.baseline)


def _require_columns(record: _Record, name: str) -> None:
    """Raise RecordDamaged unless the columns are two to four with letters of their own, and lanes for all gold."""
    letters = [column.letter for column in record.columns]
    sound = 2 <= len(letters) <= len(LETTERS) and len(set(letters)) == len(letters) and set(letters) <= set(LETTERS)
    for column in record.columns:
        sound = sound and len(column.lanes) == len(record.gold)
        sound = sound and all(lane.lost_at in ("", *STAGES) and len(lane.said) <= len(STAGES) for lane in column.lanes)
    if not sound:
        raise RecordDamaged("comparison.wrong_columns", file=name)


def _messages(record: _Record) -> Iterator[Message]:
    for column in record.columns:
        yield column.differs
        yield message(f"badge.{column.badge}")
        yield message(f"badge.{column.badge}.meaning")
        for lane in column.lanes:
            yield from lane.said
