"""Question sets as files: JSONL, a JSON list, CSV. They may be anything: sizes are bounded, and every cell is text."""

import csv
import io
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path, PurePath
from typing import Any

from leanrag_core.errors import InvalidConfig, UnreadableDocument
from leanrag_core.evaluation.gold import Evidence, GoldQuestion, is_named, normalised
from leanrag_core.indexing.parsing.blocks import delimiter_of
from leanrag_core.indexing.parsing.encoding import decode
from leanrag_core.retrieval.base import MAX_QUESTION
from leanrag_core.text.plain_words import in_words, whole_characters
from leanrag_core.types.question_set import UNANSWERABLE, WHOLE_CORPUS

MAX_TEXT = 20_000  # characters of an answer or a quote
_MAX_NAME = 200  # characters of an id or a kind
_MAX_PARTS = 200  # answers, or pieces of evidence
_SHORT_WORDS = 8  # of an answer that a right answer contains as it is
_KINDS = ("type", "kind", "question_type")


class BadCells(ValueError):
    """The cells make no question. field: the cell at fault. characters, most: where it is too long, else 0."""

    def __init__(self, field: str, characters: int = 0, most: int = 0) -> None:
        super().__init__(field)
        self.field, self.characters, self.most = field, characters, most


def question_of(cells: Mapping[str, Any], place: int) -> GoldQuestion:
    """Make a question of the cells. Raises BadCells, naming the cell.

    question: needed. id: the place by default. type, kind or question_type. answers: short strings, or texts apart by
    "|". answer: in a sentence; a short one counts among the answers where there are none. evidence: objects with
    document and quote, or quotes of the document that `source` names; or the cells document and quote; or `gold`, a
    list of documents of which any passage counts. entities: of the answer, lists of names. Other cells are ignored.
    """
    question = _text(cells, "question", MAX_QUESTION)
    if not question:
        raise BadCells("question")
    kind = next((text for name in _KINDS if (text := _text(cells, name, _MAX_NAME))), "")
    answer = "" if isinstance(cells.get("answer"), list) else _text(cells, "answer", MAX_TEXT)
    listed = cells["answer"] if isinstance(cells.get("answer"), list) else cells.get("answers")
    answers = _texts(listed, "answers")
    if listed in (None, "") and kind != UNANSWERABLE and 0 < len(answer.split()) <= _SHORT_WORDS:
        answers = (answer,)
    return GoldQuestion(
        _text(cells, "id", _MAX_NAME) or str(place), question, answers, _evidence(cells), kind, _entities(cells), answer
    )


def cells_of(question: GoldQuestion) -> dict[str, Any]:
    """Return the cells that question_of() reads; those without content are left out."""
    cells: dict[str, Any] = {
        "id": question.id,
        "question": question.question,
        "type": question.kind,
        "answer": question.answer,
        "evidence": [{"document": each.document, "quote": each.quote} for each in question.evidence],
        "entities": [list(names) for names in question.entities],
    }
    # An empty list says that there are none, where an answer of a few words would count as one.
    return {name: value for name, value in cells.items() if value} | {"answers": list(question.answers)}


def _evidence(cells: Mapping[str, Any]) -> tuple[Evidence, ...]:
    listed = _parsed(cells.get("evidence"), "evidence")
    source = _text(cells, "document", MAX_TEXT) or _text(cells, "source", MAX_TEXT)
    if listed in (None, "", []):
        documents = _texts(_parsed(cells.get("gold"), "gold"), "gold")
        quote = _text(cells, "quote", MAX_TEXT)
        return tuple(Evidence(document, "") for document in documents) + ((Evidence(source, quote),) if quote else ())
    if not isinstance(listed, list) or len(listed) > _MAX_PARTS:
        raise BadCells("evidence")
    evidence = []
    for part in listed:
        if isinstance(part, str):
            part = {"document": source, "quote": part}
        if not isinstance(part, dict) or "document" not in part or "quote" not in part:
            raise BadCells("evidence")
        evidence.append(Evidence(_text(part, "document", MAX_TEXT), _text(part, "quote", MAX_TEXT)))
    return tuple(evidence)


def _entities(cells: Mapping[str, Any]) -> tuple[tuple[str, ...], ...]:
    listed = _parsed(cells.get("entities"), "entities") or []
    if not isinstance(listed, list) or len(listed) > _MAX_PARTS:
        raise BadCells("entities")
    named = (tuple(sorted({*map(normalised, _texts(names, "entities"))} - {""})) for names in listed)
    return tuple(filter(None, named))


def _parsed(value: Any, field: str) -> Any:
    """Parse JSON where a cell of a table holds a list as text."""
    if not isinstance(value, str) or not value.lstrip().startswith("["):
        return value
    try:
        return json.loads(value)
    except (ValueError, RecursionError):
        raise BadCells(field) from None


def _texts(value: Any, field: str) -> tuple[str, ...]:
    value = _parsed(value, field)
    if value is None:
        return ()
    parts: Sequence[Any] = value.split("|") if isinstance(value, str) else value
    if not isinstance(parts, list) or len(parts) > _MAX_PARTS:
        raise BadCells(field)
    texts = (_text({field: part}, field, MAX_TEXT) for part in parts)
    return tuple(filter(None, texts))


def _text(cells: Mapping[str, Any], name: str, max_characters: int) -> str:
    """Return the cell as text without white space around it; numbers and truth values as they are written."""
    value = cells.get(name)
    if value is None:
        return ""
    if not isinstance(value, str | int | float):
        raise BadCells(name)
    text = whole_characters(str(value)).replace("\x00", "").strip()
    if len(text) > max_characters:
        raise BadCells(name, len(text), max_characters)
    return text


def with_entities(questions: Sequence[GoldQuestion], folder: Path) -> tuple[GoldQuestion, ...]:
    """Add the entities of their answers to whole-corpus questions that do not list them, where the folder holds a
    reference graph. Raises RecordDamaged, ReferenceDamaged."""
    from leanrag_core.indexing.reference.records import is_reference, read_reference

    if not is_reference(folder):
        return tuple(questions)
    entities = read_reference(folder).entities
    known = [tuple(sorted({*map(normalised, (each.name, *each.aliases))} - {""})) for each in entities]
    return tuple(
        replace(question, entities=_only_in_answer(known, question))
        if question.kind == WHOLE_CORPUS and not question.entities
        else question
        for question in questions
    )


def _only_in_answer(known: Sequence[tuple[str, ...]], question: GoldQuestion) -> tuple[tuple[str, ...], ...]:
    """Return the entities that the answer names and the question does not: a context that repeats the question shows
    nothing."""
    answer, asked = normalised(" | ".join((question.answer, *question.answers))), normalised(question.question)
    return tuple(names for names in known if is_named(names, answer) and not is_named(names, asked))


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
            if error.most:
                raise InvalidConfig(
                    "questions.long_cell",
                    file=name,
                    line=line,
                    field=error.field,
                    n=error.characters,
                    most=error.most,
                ) from error
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
    return with_entities(read_set(read_question_file(path), path.name), path.parent / "reference")


def read_question_file(path: Path) -> bytes:
    """Return the content of the file, of one that is too long so much that read_set() refuses it. Raises InvalidConfig
    for a file that cannot be read."""
    try:
        with path.open("rb") as file:
            return file.read(MAX_BYTES + 1)
    except OSError as error:
        raise InvalidConfig("questions.unreadable", file=path.name, reason=in_words(error)) from error


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
