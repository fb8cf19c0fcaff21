"""Question sets as files: JSONL, a JSON list, CSV. They come from strangers: bounded, every cell is text."""

import csv
import io
import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path, PurePath
from typing import Any

from leanrag_core.errors import InvalidConfig, UnreadableDocument
from leanrag_core.evaluation.gold import GoldQuestion
from leanrag_core.evaluation.question_sets.answer_entities import with_entities
from leanrag_core.evaluation.question_sets.cells import BadCells, cells_of, question_of
from leanrag_core.indexing.parsing.encoding import decode
from leanrag_core.indexing.parsing.rows import delimiter_of
from leanrag_core.text.plain_words import in_words

MAX_BYTES = 50_000_000
MAX_QUESTIONS = 100_000
MAX_VALUES = 5_000_000  # of JSON, or cells; twenty million empty lists in 50 MB would take a gigabyte
_MAX_CELL = 10_000_000
_TABLES = (".csv", ".tsv")


def read_set(content: bytes, name: str) -> tuple[GoldQuestion, ...]:
    """Read the questions of an uploaded file. name: its ending says the format, and errors name it.

    Raises InvalidConfig, naming the line and what to do; also for no question, too many, and two of one id.
    """
    if len(content) > MAX_BYTES:
        raise InvalidConfig("questions.too_large", file=name, megabytes=MAX_BYTES // 1_000_000)
    if any(content.count(mark) > MAX_VALUES for mark in (b",", b";", b"\t")):
        raise InvalidConfig("questions.too_many_values", file=name, limit=MAX_VALUES)
    try:
        text = decode(content).text
    except UnreadableDocument as error:
        raise InvalidConfig("questions.not_text", file=name) from error
    is_table = PurePath(name).suffix.lower() in _TABLES
    questions: list[GoldQuestion] = []
    line_of: dict[str, int] = {}
    for line, cells in _table(text, name) if is_table else _objects(text, name):
        if len(questions) == MAX_QUESTIONS:
            raise InvalidConfig("questions.too_many", file=name, limit=MAX_QUESTIONS)
        try:
            question = question_of(cells, line)
        except BadCells as error:
            raise InvalidConfig("questions.bad_cell", file=name, line=line, field=error.field) from error
        if question.id in line_of:
            raise InvalidConfig("questions.same_id", file=name, line=line, first=line_of[question.id], id=question.id)
        line_of[question.id] = line
        questions.append(question)
    if not questions:
        raise InvalidConfig("questions.no_question", file=name)
    return tuple(questions)


def read_questions(path: Path) -> tuple[GoldQuestion, ...]:
    """Read the questions of a file as read_set() does.

    A reference graph in the folder `reference` beside the file says which entities the answers of whole-corpus
    questions name, where the file does not; RecordDamaged or ReferenceDamaged where it does not read.
    """
    try:
        with path.open("rb") as file:
            questions = read_set(file.read(MAX_BYTES + 1), path.name)
    except OSError as error:
        raise InvalidConfig("questions.unreadable", file=path.name, reason=in_words(error)) from error
    return with_entities(questions, path.parent / "reference")


def to_jsonl(questions: Sequence[GoldQuestion]) -> bytes:
    """Write the questions as a JSONL file, which read_set() reads without loss."""
    lines = (json.dumps(cells_of(question), ensure_ascii=False, sort_keys=True) for question in questions)
    return "".join(f"{line}\n" for line in lines).encode()


def _objects(text: str, name: str) -> Iterator[tuple[int, Mapping[str, Any]]]:
    """Yield the objects of a JSON list with their number, or of lines with that of the line."""
    if text.lstrip().startswith("["):
        rows: Iterator[tuple[int, Any]] = enumerate(_json(text, name, 1), 1)
    else:
        lines = enumerate(text.split("\n"), 1)
        rows = ((line, _json(content, name, line)) for line, content in lines if content.strip())
    for place, cells in rows:
        if not isinstance(cells, dict):
            raise InvalidConfig("questions.bad_line", file=name, line=place)
        yield place, cells


def _json(text: str, name: str, line: int) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InvalidConfig("questions.bad_line", file=name, line=getattr(error, "lineno", 1) + line - 1) from error


def _table(text: str, name: str) -> Iterator[tuple[int, Mapping[str, Any]]]:
    csv.field_size_limit(_MAX_CELL)
    delimiter = delimiter_of(text.split("\n", 1)[0], ",;\t")
    rows = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, skipinitialspace=True)
    try:
        head = [column.strip().lower() for column in next(rows, [])]
        if "question" not in head:
            raise InvalidConfig("questions.no_column", file=name, columns=", ".join(head)[:200] or "–")
        for row in rows:
            if any(cell.strip() for cell in row):
                yield rows.line_num, dict(zip(head, row, strict=False))
    except csv.Error as error:
        raise InvalidConfig("questions.bad_table", file=name, line=rows.line_num, reason=str(error)) from error
