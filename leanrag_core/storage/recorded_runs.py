"""Recorded runs as files: JSON of a bounded size, read strictly, since such files are passed from person to person."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from leanrag_core.errors import RecordDamaged, RunNotFound, RunTooNew
from leanrag_core.files.atomic import write_bytes, writing
from leanrag_core.files.records import from_json, to_json, values_of
from leanrag_core.messages.catalog import sentence
from leanrag_core.messages.message import Message, message
from leanrag_core.types.calls import Usage
from leanrag_core.types.trace import RUN_FORMAT, RUN_VERSION, Answer, AnswerPart, RecordedRun, Trace

MAX_BYTES = 32_000_000


@dataclass(frozen=True)
class _AnswerRecord:
    """An answer without its trace, which the file holds once."""

    text: str
    parts: tuple[AnswerPart, ...]
    citations: tuple[str, ...]
    grounded: bool
    extractive: bool
    model: str
    usage: Usage
    nearest: str = ""
    nearest_parts: tuple[AnswerPart, ...] = ()
    because: Message | None = None


@dataclass(frozen=True)
class RunRecord:
    """A recorded run as its file, or a file of several runs, holds it."""

    format: str
    version: int
    trace: Trace
    answer: _AnswerRecord | None


def content_of(run: RecordedRun) -> bytes:
    """Return the run as the content of its file, which run_of() reads."""
    return to_json(record_of(run))


def record_of(run: RecordedRun) -> RunRecord:
    """Return the run as a record, which from_record() reads."""
    answer = run.answer
    stored = answer and _AnswerRecord(
        text=answer.text,
        parts=answer.parts,
        citations=answer.citations,
        grounded=answer.grounded,
        extractive=answer.extractive,
        model=answer.model,
        usage=answer.usage,
        nearest=answer.nearest,
        nearest_parts=answer.nearest_parts,
        because=answer.because,
    )
    return RunRecord(run.format, run.version, run.trace, stored or None)


def write_run(path: Path, run: RecordedRun) -> None:
    """The file holds the run, in one step. Raises StorageFailed."""
    content = content_of(run)
    with writing(message("what.recorded_run", file=str(path))):
        write_bytes(path, content)


def read_run(path: Path) -> RecordedRun:
    """Return the run in the file. Raises RunNotFound, RunTooNew, RecordDamaged."""
    if not path.is_file():
        raise RunNotFound("run.not_found", file=str(path))
    with path.open("rb") as file:
        return run_of(file.read(MAX_BYTES + 1), name=path.name)


def run_of(content: bytes, *, name: str) -> RecordedRun:
    """Return the run of a file's content, such as an upload. name: of the file, for errors. Raises as read_run()
    does."""
    values = values_of(content, name=name, max_bytes=MAX_BYTES)
    if not isinstance(values, dict) or values.get("format") != RUN_FORMAT:
        raise RunNotFound("run.other_file", file=name)
    version = values.get("version")
    if isinstance(version, int) and version > RUN_VERSION:
        raise RunTooNew("run.too_new", file=name, version=version, known=RUN_VERSION)
    return from_record(from_json(RunRecord, content, name=name, max_bytes=MAX_BYTES), name=name)


def from_record(record: RunRecord, *, name: str) -> RecordedRun:
    """Return the run of a record. name: of its file, for errors. Raises RecordDamaged for a message that has no
    sentence."""
    require_sentences(_messages(record.trace), name)
    if record.answer and record.answer.because:
        require_sentences((record.answer.because,), name)
    answer = record.answer and Answer(
        text=record.answer.text,
        parts=record.answer.parts,
        citations=record.answer.citations,
        grounded=record.answer.grounded,
        extractive=record.answer.extractive,
        model=record.answer.model,
        trace=record.trace,
        usage=record.answer.usage,
        nearest=record.answer.nearest,
        nearest_parts=record.answer.nearest_parts,
        because=record.answer.because,
    )
    return RecordedRun(record.trace, answer or None, record.format, record.version)


def require_sentences(messages: Iterable[Message], name: str) -> None:
    """Nothing where the catalog can say every message, else RecordDamaged: a file may hold any code."""
    for text in messages:
        try:
            sentence(text)
        except (LookupError, ValueError, TypeError, AttributeError, RecursionError):
            raise RecordDamaged("run.unknown_message", file=name, told=text.code) from None


def _messages(trace: Trace) -> Iterator[Message]:
    yield trace.title
    yield from trace.notes
    for step in trace.steps:
        yield from (step.title, step.caption)
    yield from (style.title for style in trace.styles)
    yield from (item.reason for item in trace.items if item.reason is not None)
    yield from (relation.reason for relation in trace.relations if relation.reason is not None)
    for section in trace.context.sections:
        yield from (text for text in (section.title, section.phrase, section.noun) if text is not None)
        yield from (message(lost.noun, n=lost.offered) for lost in section.lost if lost.noun)
